"""An application that uses chancy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from chancy import Chancy, Job, Queue, Worker

from tests.libraries.programs.application import Application
from tests.libraries.programs.current import CURRENT, run


def install(url: str) -> None:
    """Create its tables."""

    async def create() -> None:
        async with Chancy(url) as app:
            await app.migrate()

    asyncio.run(create())


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Push jobs; return their payloads."""
    due = datetime.now(UTC) + timedelta(seconds=due_in_s)
    with Chancy(url) as app:
        for payload in payloads:
            kwargs = {"queue": queue, "payload": payload, "fails": fails}
            job = Job.from_func(run, queue=queue, kwargs=kwargs, max_attempts=attempts)
            app.sync_push(job.with_scheduled_at(due) if due_in_s else job)
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one job of each queue at a time until SIGTERM, which the library handles itself."""
    CURRENT.append(application)

    async def run_worker() -> None:
        async with Chancy(url) as app:
            for queue in queues:
                declared = Queue(queue, concurrency=1, polling_interval=1, executor=Chancy.Executor.Threaded)
                await app.declare(declared, upsert=True)
            async with Worker(app) as worker:
                await worker.wait_for_shutdown()

    asyncio.run(run_worker())
