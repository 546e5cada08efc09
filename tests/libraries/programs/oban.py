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

# How often due jobs become available, including those to be retried.
TIMES = {"interval": 0.1}


class Work:
    """The job's class, as its row spells it."""

    application: Application

    async def process(self, job: oban.Job) -> None:
        """Run the job. Its owner in ``attempted_by`` is the producer of its queue, after the node."""
        producer = job.attempted_by[1]
        await self.application.work_async(job.queue, job.id, job.attempt, job.args["fails"], producer)

    def backoff(self, job: oban.Job) -> int:
        """Retry at once."""
        del job
        return 0


oban.worker()(Work)


def install(url: str) -> None:
    """Create its tables."""

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
    """Run one job of each queue at a time until SIGTERM."""
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
    """Run the checks the library makes at its start."""

    async def run() -> None:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            await oban.Oban(pool=pool)._verify_structure()

    asyncio.run(run())


def prune(url: str) -> None:
    """Do the same as its pruner, for jobs of any age."""

    async def run() -> None:
        async with AsyncConnectionPool(url, min_size=1, open=False) as pool:
            await oban.Oban(pool=pool)._query.prune_jobs(0, 1000)

    asyncio.run(run())
