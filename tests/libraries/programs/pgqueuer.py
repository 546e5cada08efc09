"""An application that uses PgQueuer."""

from __future__ import annotations

import asyncio
import functools
import json
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.core.executors import DatabaseRetryEntrypointExecutor
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from tests.libraries.programs.application import Application


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


def install(url: str) -> None:
    """Create its tables."""

    async def run() -> None:
        async with _connected(url) as connection:
            await Queries(AsyncpgDriver(connection)).install()

    asyncio.run(run())


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Enqueue jobs; return their ids. The worker sets the number of attempts."""
    del attempts
    bodies = [json.dumps({"payload": each, "fails": fails}).encode() for each in payloads]
    due = timedelta(seconds=due_in_s) if due_in_s else None

    async def run() -> list[str]:
        count = len(bodies)
        async with _connected(url) as connection:
            queries = Queries(AsyncpgDriver(connection))
            return [str(each) for each in await queries.enqueue([queue] * count, bodies, [0] * count, [due] * count)]

    return asyncio.run(run())


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run up to two jobs at a time, its minimum, until SIGTERM. Failed jobs are held."""

    async def run() -> None:
        async with _connected(url) as connection:
            pgq = PgQueuer.from_asyncpg_connection(connection)

            async def job(row: Job) -> None:
                fails = json.loads(row.payload)["fails"]
                worker = pgq.qm.queue_manager_id
                await application.work_async(row.entrypoint, row.id, row.attempts + 1, fails, worker)

            # Its max_attempts counts retries, without the first attempt.
            retry = functools.partial(
                DatabaseRetryEntrypointExecutor, max_attempts=application.attempts - 1, initial_delay=timedelta(0)
            )
            for queue in queues:
                pgq.entrypoint(queue, on_failure="hold", executor_factory=retry)(job)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, pgq.shutdown.set)
            await pgq.run(dequeue_timeout=timedelta(seconds=1), batch_size=1, max_concurrent_tasks=2)

    asyncio.run(run())


def check(url: str) -> None:
    """Run the checks the library makes at its start."""

    async def run() -> None:
        async with _connected(url) as connection:
            await PgQueuer.from_asyncpg_connection(connection).qm.verify_structure()

    asyncio.run(run())
