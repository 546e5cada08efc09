"""Pushes and pops of installed designs, by one session or by several at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pyodbc

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout
from tests.facts import connected, query, wait_until
from tests.queues import BYTES, Row, call, routine, run

SKIPPING = ("batch_fast", "fifo", "flag", "naive", "pending", "status")
ANY_ORDER = ("heap", "lifo")
COMPLETING = ("batch_fast", "batch_single", "batch_split", "status")
ARCHIVING = ("batch_fast", "batch_single", "batch_split")
WAITING = ("batch_single", "batch_split", "strict_fifo")


def push(connection: Connection, layout: Layout, *messages: str) -> list[object]:
    return [call(connection, layout, "push", f"'{message}'")[0][0] for message in messages]


def many(design: str, count: int) -> str:
    """Return the argument of push_batch for messages 1, 2, 3 …"""
    numbers = f"ARRAY(SELECT CAST(n AS text) FROM generate_series(1, {count}) AS n)"
    return numbers + ("::text::bytea[]" if design in BYTES else "")


def pop(connection: Connection, layout: Layout) -> list[tuple[object, str]]:
    return [plain(row) for row in call(connection, layout, "pop")]


def plain(row: Row) -> tuple[object, str]:
    payload = row[1]
    return row[0], payload.decode() if isinstance(payload, bytes) else str(payload)


def says_empty(url: str, layout: Layout, *, cycles: int, push: str = "'m'", pop: str = "") -> bool:
    """Run eight sessions that push before each pop, so there is always a message; return whether one got "no row".

    ``push``, ``pop``: the arguments of each, in SQL.
    """
    empty = threading.Event()

    def popped(raw: pyodbc.Connection) -> object:
        while True:
            try:
                return raw.execute(f"SELECT payload FROM {routine(layout, 'pop')}({pop})").fetchone()
            except pyodbc.Error as problem:  # these two sometimes deadlock: see their pop_batch
                if problem.args[0] != "40P01" or layout.design not in ("batch_single", "batch_split"):
                    raise

    def cycle() -> None:
        with connected(url) as raw:
            for _ in range(cycles):
                raw.execute(f"SELECT {routine(layout, 'push')}({push})")
                if popped(raw) is None:
                    empty.set()
                if empty.is_set():
                    return

    threads = [threading.Thread(target=cycle) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return empty.is_set()


def waits_for_a_lock(url: str, connection: Connection) -> bool:
    asked = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = CAST(? AS int)"
    return query(url, asked, str(connection.session_id)) == [("Lock",)]


def meanwhile(url: str, consumer: Connection, layout: Layout, then: Callable[[], None]) -> list[tuple[object, str]]:
    """Pop on another thread; run ``then`` once the pop waits for a lock. Return the popped messages."""
    found: list[tuple[object, str]] = []
    thread = threading.Thread(target=lambda: found.extend(pop(consumer, layout)))
    thread.start()
    wait_until(lambda: waits_for_a_lock(url, consumer), what="the second consumer waits")
    then()
    thread.join()
    return found


def draw(connection: Connection, sequence: str) -> object:
    """Take a number and do nothing with it, like a process that stalls or dies at the worst moment."""
    return run(connection, f"SELECT nextval('orders_{sequence}')")[0][0]


def end(url: str, connection: Connection) -> None:
    """End a session as if its process had been killed."""
    with contextlib.suppress(Exception):
        query(url, "SELECT pg_terminate_backend(CAST(? AS int))", str(connection.session_id))
    wait_until(
        lambda: (
            query(url, "SELECT 1 FROM pg_stat_activity WHERE pid = CAST(? AS int)", str(connection.session_id)) == []
        ),
        what="the session is gone",
    )
