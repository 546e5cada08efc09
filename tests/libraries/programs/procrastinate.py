"""An application that uses procrastinate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import procrastinate

from tests.libraries.programs.application import Application


def install(url: str) -> None:
    """Create its tables."""
    with _client(url) as app:
        app.schema_manager.apply_schema()


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Defer jobs of the task ``job``; return their ids. The worker's task retries them."""
    del attempts
    schedule = {"schedule_in": {"seconds": due_in_s}} if due_in_s else {}
    with _client(url) as app:
        job = app.configure_task("job", queue=queue, **schedule)
        return [str(id_) for id_ in job.batch_defer(*({"payload": each, "fails": fails} for each in payloads))]


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run jobs until SIGTERM, which the library handles itself."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    async def job(context: procrastinate.JobContext, payload: str, fails: int) -> None:
        del payload
        row = context.job
        await application.work_async(row.queue, row.id, row.attempts + 1, fails, row.worker_id)

    # Its max_attempts counts retries, without the first attempt.
    app.task(name="job", pass_context=True, retry=procrastinate.RetryStrategy(max_attempts=application.attempts - 1))(
        job
    )

    async def run() -> None:
        async with app.open_async():
            # Retried jobs send no notification. They wait for the next poll.
            await app.run_worker_async(queues=queues, concurrency=1, fetch_job_polling_interval=0.1)

    asyncio.run(run())


def check(url: str) -> None:
    """Run the checks of its healthchecks command."""
    with _client(url) as app:
        assert app.check_connection()


def prune(url: str) -> None:
    """Do the same as its task ``remove_old_jobs``, for jobs of any age."""

    async def run() -> None:
        async with procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url)).open_async() as app:
            await app.job_manager.delete_old_jobs(nb_hours=0)

    asyncio.run(run())


def _client(url: str) -> procrastinate.App:
    return procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=url)).open()
