"""An application that uses dramatiq with dramatiq-pg."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dramatiq
import dramatiq_pg
import psycopg2
from dramatiq.middleware import default_middleware

from tests.libraries.programs.application import Application, when_told
from tests.libraries.programs.current import CURRENT, run


def install(url: str) -> None:
    """Create its tables with the library's SQL, without its psql commands."""
    text = (Path(dramatiq_pg.__file__).parent / "schema.sql").read_text(encoding="utf-8")
    for name in ("schema", "state", "queue"):
        text = text.replace(f':"{name}"', {"schema": "dramatiq"}.get(name, name))
    statements = "\n".join(line for line in text.splitlines() if not line.startswith("\\"))
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(statements)


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Send messages; return their payloads."""
    del attempts
    actor = _actor(_broker(url), queue)
    for payload in payloads:
        actor.send_with_options(args=(queue, payload, fails), delay=round(due_in_s * 1000) or None)
    return list(payloads)


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Run one job at a time until SIGTERM."""
    CURRENT.append(application)
    stop = threading.Event()
    when_told(stop)
    broker = _broker(url)
    for queue in queues:
        _actor(broker, queue)
    worker = dramatiq.Worker(broker, worker_threads=1)
    worker.start()
    stop.wait()
    worker.stop()


def _broker(url: str) -> dramatiq_pg.PostgresBroker:
    # Its metrics need dramatiq's own command to start the worker.
    wanted = [each() for each in default_middleware if each.__name__ != "Prometheus"]
    broker = dramatiq_pg.PostgresBroker(url=url, results=False, middleware=wanted)
    dramatiq.set_broker(broker)
    return broker


def _actor(broker: dramatiq_pg.PostgresBroker, queue: str) -> Any:
    name = f"run_{queue}"
    found = broker.actors.get(name)
    return found or dramatiq.actor(run, actor_name=name, queue_name=queue, broker=broker, max_retries=0)
