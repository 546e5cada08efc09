"""An application that uses Oban."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence

from psycopg_pool import AsyncConnectionPool

from tests.libraries.programs.application import Application
from tests.libraries.programs.old_python import oban_importable

with oban_importable():
    import oban
    from oban.schema import install as install_schema

# How often due jobs are made available, those to be retried among them.
TIMES = {"interval": 0.1}


class Work:
    """The job's class, as its row names it."""

    application: Application

    async def process(self, job: oban.Job) -> None:
        """Do the job; its owner in ``attempted_by`` is the producer of its queue, after the node."""
        producer = job.attempted_by[1]
        await self.application.work_async(job.queue, job.id, job.attempt, job.args["fails"], producer)

    def backoff(self, job: oban.Job) -> int:
        """Retried at once."""
        del job
        return 0


oban.worker()(Work)


def install(url: str) -> None:
    """Make its tables."""

    async def run() -> None:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            await install_schema(pool)

    asyncio.run(run())


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Insert jobs; returns their ids."""
    options = {"queue": queue, "max_attempts": attempts} | ({"scheduled_in": due_in_s} if due_in_s else {})
    jobs = [Work.new({"payload": each, "fails": fails}, **options) for each in payloads]  # type: ignore[attr-defined]

    async def run() -> list[str]:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            return [str(each.id) for each in await oban.Oban(pool=pool).enqueue_many(jobs)]

    return asyncio.run(run())


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Work on one job of each queue at a time until SIGTERM."""
    Work.application = application

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        async with (
            AsyncConnectionPool(url, min_size=1, open=False) as pool,
            oban.Oban(pool=pool, queues=dict.fromkeys(queues, 1), stager=TIMES),
        ):
            await stop.wait()

    asyncio.run(run())


def check(url: str) -> None:
    """What it looks at when it starts."""

    async def run() -> None:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            await oban.Oban(pool=pool)._verify_structure()

    asyncio.run(run())


def prune(url: str) -> None:
    """What its pruner does, of any age."""

    async def run() -> None:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            await oban.Oban(pool=pool)._query.prune_jobs(0, 1000)

    asyncio.run(run())
