"""Faults of the whole server, one after the other. Their verdicts are true for every queue they affect."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyodbc

from qmon.model.formatting import percent
from qmon.model.layout.layout import Layout
from qmon.model.verdicts.server_warnings import WarningText
from qmon.model.view import View
from qmon.model.waits.horizon_holders import HolderText
from qmon.monitor.source import Phase
from tests.contract.sessions import open_sessions
from tests.facts import connected, query, wait_until
from tests.laboratory.case import FINE, HOLDS, Case, Outcome
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE, routine
from tests.wordings import pattern

SETTINGS: Final[Mapping[str, str]] = {"synchronous_commit": "on"}


@contextlib.contextmanager
def pinned(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session sleeps in a transaction that has written, so vacuum cannot remove rows that die in the meantime.

    The fault is in place once each pop skips hundreds of such rows. How soon depends on how fast the machine pops.
    """
    with open_sessions(lab.url) as sessions:
        pid = sessions.open("sleeper", "SELECT txid_current()")
        popped = lab.load.counts.totals(layout.queue).popped
        wait_until(lambda: lab.load.counts.totals(layout.queue).popped >= popped + 600, 120, what="600 more are popped")
        yield (pattern(HolderText.SESSION, session=pid) + r"\b",)


@contextlib.contextmanager
def slow_log(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Each flush of the log takes a tenth of a second longer."""
    _set(lab, commit_delay="100000", commit_siblings="0")
    yield ()
    _set(lab, commit_delay="0", commit_siblings="5")


@contextlib.contextmanager
def deadlocks(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A producer updates two messages and a consumer pops them in the opposite order, again and again."""
    table, over = ENGINE.quote(layout.table.parts), threading.Event()
    lab.load.change_members(layout.queue, "consumer", rate=0.0)
    wait_until(lambda: len(query(lab.url, f"SELECT 1 FROM {table} LIMIT 2")) == 2, what="two messages are there")
    one, two = (int(str(row[0])) for row in query(lab.url, f"SELECT id FROM {table} ORDER BY id LIMIT 2"))
    met = threading.Barrier(2)
    roles = (
        ("correcting producer", f"UPDATE {table} SET payload = payload WHERE id = ?", (one, two)),
        ("ordered consumer", f"DELETE FROM {table} WHERE id = ?", (two, one)),
    )
    pair = [
        threading.Thread(target=_entangle, args=(lab.url, name, statement, met, over, *ids))
        for name, statement, ids in roles
    ]
    for thread in pair:
        thread.start()
    asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0"
    try:
        wait_until(lambda: query(lab.url, asked), what="a deadlock")
        yield tuple(name for name, _, _ in roles)
    finally:
        over.set()
        met.abort()
        for thread in pair:
            thread.join()
        lab.load.change_members(layout.queue, "consumer", rate=60.0)


def _entangle(
    url: str, name: str, statement: str, met: threading.Barrier, over: threading.Event, first: int, then: int
) -> None:
    with connected(url, autocommit=False) as session, contextlib.suppress(threading.BrokenBarrierError):
        session.execute(f"SET application_name = '{name}'")
        session.commit()
        while not over.is_set():
            session.execute(statement, first)
            met.wait()
            with contextlib.suppress(pyodbc.Error):  # if the server ends this session
                session.execute(statement, then)
            session.rollback()
            met.wait()
            over.wait(0.5)


@contextlib.contextmanager
def crowded(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Two dozen sessions push as fast as they can and compete for the last page of the key."""
    push = f"PERFORM {routine(layout, 'push')}('x'::bytea); COMMIT;"
    threads, pids = list[threading.Thread](), list[int]()
    with contextlib.ExitStack() as stack:
        for _ in range(24):
            session = stack.enter_context(connected(lab.url))
            pids.append(int(session.execute("SELECT pg_backend_pid()").fetchval()))
            threads.append(
                threading.Thread(target=_push_on, args=(session, f"DO $$ BEGIN LOOP {push} END LOOP; END $$"))
            )
        for thread in threads:
            thread.start()
        yield (str(layout.table), f"{layout.queue}_key")
        for pid in pids:
            query(lab.url, "SELECT pg_terminate_backend(?)", pid)
        for thread in threads:
            thread.join()


def _push_on(session: pyodbc.Connection, endless: str) -> None:
    with contextlib.suppress(pyodbc.Error):  # the session is ended
        session.execute(endless)


def _set(lab: Laboratory, **settings: str) -> None:
    with connected(lab.url) as admin:
        for name, value in settings.items():
            admin.execute(f"ALTER SYSTEM SET {name} = {value}")
        admin.execute("SELECT pg_reload_conf()")
        for name, value in settings.items():
            asked = "SELECT 1 FROM pg_settings WHERE name = ? AND setting = ?"
            wait_until(lambda a=asked, n=name, v=value: admin.execute(a, n, v).fetchall(), what=f"{name} is set")  # type: ignore[misc]


CASES = (
    Case(
        "transaction pins the horizon",
        "cleanup held back",
        "fifo",
        pinned,
        reads_s=16.0,
        everywhere=True,
        load={"rate": 120.0, "pop_rate": 300.0, "consumers": 2},
        true_too=frozenset({"log-bound"}),  # if other programs keep the disk busy
    ),
    Case(
        "slow log flush",
        "log-bound",
        "status",
        slow_log,
        reads_s=5.0,
        clears_s=5.0,
        everywhere=True,
        load={"producers": 4, "consumers": 4, "rate": 40.0, "pop_rate": 80.0},
    ),
    Case(
        "deadlocks",
        "deadlocks",
        "fifo",
        deadlocks,
        reads_s=10.0,
        clears_s=6.0,
        # Each deadlock rolls back the work on the message at the head.
        true_too=frozenset({"poison message at the head"}),
    ),
)
# This fault takes all processors, so it runs on its own server after the others.
CROWDED = (
    Case(
        "a crowd on one page",
        "latch-bound",
        "fifo",
        crowded,
        reads_s=5.0,
        clears_s=5.0,
        everywhere=True,
        load={"rate": 20.0, "pop_rate": 100.0},
        true_too=frozenset({"consumers fall behind", "log-bound"}),
    ),
)


def exhausted(lab: Laboratory) -> Outcome:
    """Take all sessions of the server: qmon says within two polls that it refuses new ones, and nothing about queues.

    The programs of the queues keep their sessions, so their messages move on. The warning ends with its cause.
    """
    query(lab.url, "CREATE ROLE pool LOGIN")
    views = len(lab.watched.views)
    with contextlib.ExitStack() as sessions:
        with contextlib.suppress(pyodbc.Error):
            while True:
                sessions.enter_context(connected(lab.server.url(user="pool")))
        at = time.time()
        said = [_refuses(lab.poll(at, number)) for number in (1, 2)]
    lab.watched.view(lambda view: not view.server.outside)
    faults = [] if said[-1] else ["not said within two polls"]
    faults += [
        f"said besides: {queue.name}: {verdict.code}: {verdict.proof}"
        for view in lab.watched.views[views:]
        for queue in view.queues
        for verdict in queue.verdicts
        if verdict.code not in FINE
    ]
    told = WarningText.REFUSES_NOW.value
    return Outcome("sessions exhausted", told, told if said[-1] else "", "; ".join(said[-1:]), faults=tuple(faults))


def _refuses(view: View) -> str:
    """Return the warning that the server refuses new sessions; empty without it."""
    used, limit = view.server.sessions_used, view.server.sessions_limit
    if used is None or not limit or used < limit:
        return ""
    words = WarningText.SESSIONS_USED.render(
        used=used, limit=limit, share=percent(used / limit), then=WarningText.REFUSES_NOW
    )
    return words if words in view.server.outside else ""


def stopped(lab: Laboratory) -> Outcome:
    """Stop the server: qmon reports it within two polls with the reason, and is healthy again after the restart."""
    states, views = len(lab.watched.states), len(lab.watched.views)
    lab.server.stop()
    lost = wait_until(
        lambda: next((s for s in lab.watched.states[states:] if s.phase is Phase.LOST), None), 90, what="the loss"
    )
    assert lost is not None
    said = len(lab.watched.views) - views + lab.watched.states[states:].index(lost)
    faults = [f"said after {said} polls"] if said > 2 else []
    faults += [] if lost.reason else ["no reason is given"]
    lab.server.start()
    lab.watched.view(lambda view: all(q.push_rate.value and q.pop_rate.value for q in view.queues), timeout=120)
    after = {
        f"{queue.name}: {verdict.code}: {verdict.proof}"
        for view in lab.watched.views[views:]
        for queue in view.queues
        for verdict in queue.verdicts
        if verdict.severity > 0 and verdict.code in HOLDS
    }
    faults += [f"said besides: {each}" for each in sorted(after)]
    return Outcome("server stopped", "unreachable", "unreachable", lost.reason, faults=tuple(faults))
