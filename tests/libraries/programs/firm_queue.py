"""An application that uses firm-queue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import firm.queue
from firm.queue import maintenance, schema
from firm.queue.supervisor import DispatcherConfig, ForkSupervisor, SupervisorConfig, WorkerConfig
from sqlalchemy import select

from tests.libraries.programs.application import Application

APPLICATION: list[Application] = []


def run(payload: str, fails: int) -> None:
    """The job. The library does not pass its id, but this process has claimed no other job."""
    del payload
    jobs, claimed, processes = schema.jobs, schema.claimed_executions, schema.processes
    mine = select(jobs.c.id, jobs.c.queue_name, jobs.c.attempts, processes.c.name)
    mine = mine.join_from(claimed, jobs).join(processes, processes.c.id == claimed.c.process_id)
    with firm.queue.current_runtime().engine.connect() as connection:
        row = connection.execute(mine.where(processes.c.pid == os.getpid(), processes.c.kind == "Worker")).one()
    APPLICATION[0].work(row.queue_name, row.id, row.attempts + 1, fails, row.name)


def install(url: str) -> None:
    """Create its tables."""
    with _configured(url) as runtime:
        schema.create_all(runtime.engine)


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Enqueue jobs; returns their ids."""
    job = firm.queue.job(queue=queue, attempts=attempts, backoff=0.0)(run)
    due = timedelta(seconds=due_in_s)
    with _configured(url):
        return [str(job.enqueue_in(due, each, fails) if due else job.enqueue(each, fails)) for each in payloads]


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one job at a time until SIGTERM, in a child process, with a dispatcher and a supervisor."""
    APPLICATION.append(application)
    for queue in queues:
        firm.queue.job(queue=queue, attempts=application.attempts, backoff=0.0)(run)
    worker = WorkerConfig(queues=tuple(queues), threads=1, poll_interval=0.05)
    with _configured(url) as runtime:
        config = SupervisorConfig(workers=[worker], dispatchers=[DispatcherConfig(poll_interval=0.1)])
        ForkSupervisor(runtime, config).start()


def check(url: str) -> None:
    """The library has no checks."""


def prune(url: str) -> None:
    """Delete finished jobs, of any age."""
    with _configured(url) as runtime:
        maintenance.clear_finished(runtime)


@contextmanager
def _configured(url: str) -> Iterator[Any]:
    runtime = firm.queue.configure(url)
    try:
        yield runtime
    finally:
        runtime.reset()
