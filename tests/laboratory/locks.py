"""Faults by locks: a session that keeps the head, or everything, from everybody; two that wait for each other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import pyodbc

from qmon.model.layout.layout import Layout
from qmon.model.waits.locked import HELD_S
from tests.contract.sessions import open_sessions
from tests.facts import connected, query, wait_until
from tests.laboratory.case import LATELY_S, Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE


@contextlib.contextmanager
def table_locked(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session that sleeps in a transaction has the whole table."""
    with open_sessions(lab.url) as sessions:
        pid = sessions.open("sleeper", f"LOCK TABLE {ENGINE.quote(layout.table.parts)} IN EXCLUSIVE MODE")
        yield (f"session {pid} ",)


@contextlib.contextmanager
def all_rows_held(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session that sleeps in a transaction has locked every message; what is pushed waits behind a lock, too."""
    with open_sessions(lab.url) as sessions:
        table = ENGINE.quote(layout.table.parts)
        lab.load.change(layout.queue, "popper", rate=0.0)
        lab.load.change(layout.queue, "pusher", rate=0.0)
        sessions.open("filler", f"INSERT INTO {table} (payload) SELECT 'x' FROM generate_series(1, 300)")
        sessions.connections["filler"].commit()
        pid = sessions.open("sleeper", f"SELECT 1 FROM {table} FOR UPDATE")
        lab.load.change(layout.queue, "popper", rate=60.0)
        yield (f"session {pid} ",)
    lab.load.change(layout.queue, "pusher", rate=15.0)


@contextlib.contextmanager
def head_locked(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session that sleeps in a transaction has the first message of a strict queue: everybody waits for it."""
    with open_sessions(lab.url) as sessions:
        table = ENGINE.quote(layout.table.parts)
        lab.load.change(layout.queue, "popper", rate=0.0)
        wait_until(lambda: query(lab.url, f"SELECT 1 FROM {table} LIMIT 1"), what="a message is there")
        pid = sessions.open("sleeper", f"SELECT 1 FROM {table} ORDER BY id LIMIT 1 FOR UPDATE")
        lab.load.change(layout.queue, "popper", rate=60.0)
        yield (f"session {pid} ",)


@contextlib.contextmanager
def deadlocks(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Two sessions lock two messages in opposite order, again and again; the server ends one of them each time."""
    table, over = ENGINE.quote(layout.table.parts), threading.Event()
    lab.load.change(layout.queue, "popper", rate=0.0)
    wait_until(lambda: len(query(lab.url, f"SELECT 1 FROM {table} LIMIT 2")) == 2, what="two messages are there")
    one, two = (int(str(row[0])) for row in query(lab.url, f"SELECT id FROM {table} ORDER BY id LIMIT 2"))
    met = threading.Barrier(2)
    pair = [
        threading.Thread(target=_entangle, args=(lab.url, table, met, over, *ids)) for ids in ((one, two), (two, one))
    ]
    for thread in pair:
        thread.start()
    asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0"
    try:
        wait_until(lambda: query(lab.url, asked), what="a deadlock")
        yield ()
    finally:
        over.set()
        met.abort()
        for thread in pair:
            thread.join()
        lab.load.change(layout.queue, "popper", rate=60.0)


def _entangle(url: str, table: str, met: threading.Barrier, over: threading.Event, first: int, then: int) -> None:
    with connected(url, autocommit=False) as session, contextlib.suppress(threading.BrokenBarrierError):
        while not over.is_set():
            session.execute(f"SELECT 1 FROM {table} WHERE id = ? FOR UPDATE", first).fetchall()
            met.wait()
            with contextlib.suppress(pyodbc.Error):  # the one that the server ends
                session.execute(f"SELECT 1 FROM {table} WHERE id = ? FOR UPDATE", then).fetchall()
            session.rollback()
            met.wait()
            over.wait(0.5)


CASES = (
    Case("table locked", "everything locked", "status", table_locked, reads_s=LATELY_S),
    Case("all rows held by a sleeper", "everything locked", "fifo", all_rows_held, reads_s=HELD_S + 1.0),
    Case("head of a strict queue locked", "everything locked", "strict_fifo", head_locked, reads_s=LATELY_S),
    Case(
        "deadlocks", "deadlocks", "fifo", deadlocks, reads_s=10.0, clears_s=6.0,
        # Each deadlock rolls back what it did with the message at the head.
        true_too=frozenset({"poison message at the head"}),
    ),
)  # fmt: skip
