"""An application that uses huey with its SQL storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from huey.contrib.sql_huey import SqlHuey
from peewee import PostgresqlDatabase

from tests.libraries.programs.application import Application
from tests.libraries.programs.current import CURRENT, run


def install(url: str) -> None:
    """Create its tables."""
    _huey(url, "mails")


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Enqueue tasks; return their payloads. A task that is due later waits in another table once a worker has it."""
    del attempts
    _, task = _huey(url, queue)
    for payload in payloads:
        if due_in_s:
            task.schedule((queue, payload, fails), delay=due_in_s)
        else:
            task(queue, payload, fails)
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one consumer until SIGTERM, which the library handles itself."""
    CURRENT.append(application)
    (queue,) = queues
    huey, _ = _huey(url, queue)
    huey.create_consumer(workers=1, worker_type="thread", initial_delay=0.02, max_delay=0.1, periodic=False).run()


def _huey(url: str, queue: str) -> tuple[SqlHuey, Any]:
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    database = PostgresqlDatabase(
        parts.path.lstrip("/"),
        user=parts.username,
        host=parts.hostname or query["host"][0],
        port=parts.port or int(query["port"][0]),
    )
    huey = SqlHuey(queue, database=database, results=False)
    return huey, huey.task(name="job")(run)
