"""An application that uses Celery with the SQLAlchemy transport of kombu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from celery import Celery
from kombu import Connection

from tests.libraries.programs.application import Application
from tests.libraries.programs.current import CURRENT, run

# The names that the library gives its tables.
USUAL: Final[Mapping[str, str]] = MappingProxyType({})


def install(url: str, tables: Mapping[str, str] = USUAL) -> None:
    """Declare a queue, which creates the tables."""
    with Connection(_broker(url), transport_options=dict(tables)) as connection:
        connection.SimpleQueue("mails").close()


def push(
    url: str,
    queue: str,
    payloads: Sequence[str],
    due_in_s: float,
    fails: int,
    attempts: int,
    tables: Mapping[str, str] = USUAL,
) -> list[str]:
    """Send tasks; return their payloads. Only a worker knows that a task is due later: it holds the task."""
    del attempts
    task = _app(url, tables).tasks["job"]
    eta = datetime.now(UTC) + timedelta(seconds=due_in_s) if due_in_s else None
    for payload in payloads:
        task.apply_async((queue, payload, fails), queue=queue, eta=eta)
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application, tables: Mapping[str, str] = USUAL) -> None:
    """Run one worker until SIGTERM, which the library handles itself."""
    CURRENT.append(application)
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR")
    _app(url, tables).worker_main(["worker", "--pool=solo", f"--queues={','.join(queues)}", *quiet])


def _broker(url: str) -> str:
    return f"sqla+{url.replace('postgresql://', 'postgresql+psycopg://')}"


def _app(url: str, tables: Mapping[str, str]) -> Any:
    app = Celery("shop", broker=_broker(url))
    app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1, broker_connection_retry_on_startup=True)
    app.conf.broker_transport_options = dict(tables)
    app.task(run, name="job")
    return app
