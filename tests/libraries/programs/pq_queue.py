"""An application that uses pq."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from datetime import timedelta

import psycopg2
from pq import PQ

from tests.libraries.programs.application import Application, when_told


def install(url: str) -> None:
    """Create its table."""
    _connect(url).create()


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Put items; return their ids. The library knows neither failures nor attempts."""
    del fails, attempts
    found = _connect(url)[queue]
    due = timedelta(seconds=due_in_s) if due_in_s else None
    return [str(found.put({"payload": each}, schedule_at=due)) for each in payloads]


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Take items of all queues in turn until SIGTERM."""
    connected, stop = _connect(url), threading.Event()
    when_told(stop)
    signal.siginterrupt(signal.SIGTERM, False)
    while not stop.is_set():
        items = [(queue, connected[queue].get(block=False)) for queue in queues]
        for queue, item in items:
            if item is not None:
                application.work(queue, item.id, 1, 0)
        if not any(item for _, item in items):
            stop.wait(0.02)


def _connect(url: str) -> PQ:
    connection = psycopg2.connect(url)
    connection.autocommit = True
    return PQ(connection)
