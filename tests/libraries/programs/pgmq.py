"""An application that uses pgmq: its functions on the server, and our own consumers."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import psycopg

from tests.libraries.programs.application import Application, Failed, when_told

LEASE_S = 300
QUEUES = ("mails", "invoices")


def folder() -> Path:
    """Return the package's folder of SQL. Importing the package takes two seconds, for clients that we do not use."""
    spec = find_spec("pgmq")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("sql")


def install(url: str) -> None:
    """Create its functions with its documented SQL, and the queues."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((folder() / "pgmq.sql").read_text())
        for queue in QUEUES:
            connection.execute("SELECT pgmq.create(%s)", [queue])


def push(url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int) -> list[str]:
    """Send messages; return ``queue/msg_id``, because each queue has its own ids."""
    del attempts
    bodies = [json.dumps({"payload": each, "fails": fails}) for each in payloads]
    with psycopg.connect(url, autocommit=True) as connection:
        sql = "SELECT send_batch FROM pgmq.send_batch(%s, %s::jsonb[], %s::int)"
        return [f"{queue}/{row[0]}" for row in connection.execute(sql, [queue, bodies, round(due_in_s)])]


def work(url: str, queues: Sequence[str], application: Application) -> None:
    """Process one message at a time until SIGTERM: delete done messages, archive those that failed in every attempt."""
    stop = threading.Event()
    when_told(stop)
    with psycopg.connect(url, autocommit=True) as connection:
        while not stop.is_set():
            done = [_one(connection, queue, application) for queue in queues]
            if not any(done):
                stop.wait(0.05)


def _one(connection: psycopg.Connection, queue: str, application: Application) -> bool:
    read = "SELECT msg_id, read_ct, message FROM pgmq.read(%s, %s, 1)"
    row = connection.execute(read, [queue, LEASE_S]).fetchone()
    if row is None:
        return False
    id_, attempt, body = row
    try:
        application.work(queue, f"{queue}/{id_}", attempt, body["fails"])
    except Failed:
        last = attempt >= application.attempts
        connection.execute("SELECT pgmq.archive(%s, %s)" if last else "SELECT pgmq.set_vt(%s, %s, 0)", [queue, id_])
    else:
        connection.execute("SELECT pgmq.delete(%s, %s)", [queue, id_])
    return True


def check(url: str) -> None:
    """Check that its own figures can be read for every queue."""
    with psycopg.connect(url, autocommit=True) as connection:
        assert {row[0] for row in connection.execute("SELECT queue_name FROM pgmq.metrics_all()")} == set(QUEUES)
