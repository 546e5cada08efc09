"""Waits on a real server: samples between polls, a WAL that is slow to flush, and qmon's exclusions."""

from __future__ import annotations

import contextlib
import math
import re
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pyodbc
import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.verdicts import server_verdicts
from qmon.model.verdicts.server_verdicts import ServerVerdictText
from qmon.model.verdicts.server_warnings import WarningText
from qmon.monitor.source import ReadScope
from tests.contract.sessions import open_sessions
from tests.contract.watching import installed, said_at_once, watching
from tests.facts import connected, fresh_database, query, wait_until
from tests.wordings import has, pattern


@pytest.fixture(scope="module")
def own_server() -> Iterator[EmbeddedServer]:
    """A server whose settings a test may change."""
    with EmbeddedServer(settings={"max_connections": "60", "deadlock_timeout": "600ms"}) as running:
        yield running


@pytest.fixture
def url(own_server: EmbeddedServer) -> Iterator[str]:
    """A fresh database."""
    with fresh_database(own_server) as url:
        yield url


@contextlib.contextmanager
def working(url: str, statement: str, sessions: int) -> Iterator[None]:
    """Run a statement in a loop in this many sessions, with a short rest after each."""
    over = threading.Event()

    def work() -> None:
        with connected(url) as connection:
            while not over.wait(0.01):
                connection.execute(statement).fetchall()

    threads = [threading.Thread(target=work) for _ in range(sessions)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def set_on(url: str, **settings: str) -> None:
    """Change settings of the whole server, and wait until they are in force."""
    for name, value in settings.items():
        query(url, f"ALTER SYSTEM SET {name} = '{value}'")
    query(url, "SELECT pg_reload_conf()")
    for name, value in settings.items():
        wait_until(lambda name=name, value=value: query(url, f"SHOW {name}") == [(value,)], what=name)  # type: ignore[misc]


def test_looks_between_polls_see_who_waits_and_leave_out_our_own(url: str) -> None:
    query(url, "CREATE TABLE t (i int)")
    with watching(url) as watched, open_sessions(url) as s:
        s.open("a", "LOCK TABLE t")
        for name in ("b", "c"):
            s.wait(name, "SELECT count(*) FROM t")
        s.wait("ours", "SELECT count(*) FROM t", "SET application_name = 'qmon count'")
        watched.poller.set_focus(ReadScope(closely=True))

        def two_wait() -> object:
            found = watched.views[-1].server.waiting if watched.views else None
            return found and [r for r in found.rates if r.name == "Lock:relation" and 1.5 < r.sessions < 2.5] and found

        found = wait_until(two_wait, 60, what="two sessions wait on average")
        last = watched.views[-1].server.waiting
        assert found
        assert last is not None
        assert last.source is WaitSource.SAMPLED
        assert (last.samples or 0) >= 1
        assert not [f for f in watched.views[-1].failures if f.probe == "waits over time"]


def test_a_log_that_is_slow_to_flush_is_named_until_it_is_quick_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(url, "fifo", "heap")
    said_at_once(monkeypatch)
    monkeypatch.setattr(server_verdicts, "SLOW_COMMIT_S", 0.05)  # well above the time of a busy disk
    with watching(url) as watched, working(url, "SELECT fifo_push('x'::bytea)", 6):
        watched.queue("fifo", lambda q: (q.push_rate.value or 0) > 0)
        try:
            set_on(url, commit_delay="100000", commit_siblings="0")
            bound = watched.view(lambda v: any(w.code == "log-bound" for q in v.queues for w in q.verdicts))
            proofs = {q.name: w.proof for q in bound.queues for w in q.verdicts if w.code == "log-bound"}
            assert set(proofs) == {"fifo"}, "the other queue has no commits"
            assert has(proofs["fifo"], ServerVerdictText.COMMITS_WAIT)
            assert "LWLock:WALWrite" in proofs["fifo"]
        finally:
            set_on(url, commit_delay="0", commit_siblings="5")
        # A disk that is busy with other work may still limit commits, but not at that price.
        watched.queue(
            "fifo", lambda q: all(_a_commit_ms(w.proof) < 50 for w in q.verdicts if w.code == "log-bound"), timeout=90
        )


def _a_commit_ms(proof: str) -> float:
    found = re.search(": " + pattern(ServerVerdictText.PER_COMMIT, time="MS ms").replace("MS", r"([\d.,]+)"), proof)
    return float(found[1].replace(",", "")) if found else math.inf


def test_pages_that_are_fought_over_are_named_with_their_indexes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(url, "fifo", "heap")
    said_at_once(monkeypatch)
    monkeypatch.setattr(server_verdicts, "LATCH_SESSIONS", 1.0)
    monkeypatch.setattr(server_verdicts, "LATCH_SHARE", 0.15)  # the contention depends on the machine's processors
    query(url, "SELECT fifo_push('x'::bytea)")
    loop = "DO $$ BEGIN LOOP PERFORM fifo_push('x'::bytea); COMMIT; END LOOP; END $$"
    settings = ("SET application_name = 'producer'", "SET synchronous_commit = off")
    with watching(url) as watched, open_sessions(url) as s:
        watched.view()
        for n in range(16):
            s.open(str(n), *settings)
            s.connections[str(n)].commit()
            s.connections[str(n)].autocommit = True
            s.go(str(n), loop)
        bound = watched.queue("fifo", lambda q: any(v.code == "latch-bound" for v in q.verdicts))
        proof = next(v.proof for v in bound.verdicts if v.code == "latch-bound")
        assert has(proof, ServerVerdictText.PAGES_WAIT)
        assert "(LWLock:BufferContent)" in proof
        other = watched.views[-1].queue("heap")
        assert other is not None
        assert all(v.code != "latch-bound" for v in other.verdicts), "no session uses its pages"
        s.end()
        watched.queue("fifo", lambda q: all(v.code != "latch-bound" for v in q.verdicts))


def test_stale_statistics_are_told_until_they_are_updated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said_at_once(monkeypatch)
    query(url, "CREATE TABLE jobs (id bigint PRIMARY KEY, payload text) WITH (autovacuum_enabled = off)")
    query(url, "ANALYZE jobs")
    query(url, "INSERT INTO jobs SELECT n, 'x' FROM generate_series(1, 20000) AS n")
    layout = Layout("jobs", "naive", ObjectName("public", "jobs"), id="id")
    with watching(url, [layout]) as watched:
        stale = watched.queue("jobs", lambda q: any(v.code == "statistics" for v in q.verdicts))
        proof = next(v.proof for v in stale.verdicts if v.code == "statistics")
        assert has(proof, ServerVerdictText.PLANS_ASSUME, table="public.jobs", rows=20_000)
        assert has(proof, ServerVerdictText.STATISTICS_UPDATED)
        query(url, "ANALYZE jobs")
        watched.queue("jobs", lambda q: all(v.code != "statistics" for v in q.verdicts))


@contextlib.contextmanager
def deadlocking(url: str, table: str) -> Iterator[None]:
    """Run two sessions that lock the first two rows of a table in opposite order, again and again."""
    statement = f"SELECT * FROM {table} WHERE id = {{}} FOR UPDATE"
    over, both = threading.Event(), threading.Barrier(2)

    def lock(first: int, then: int) -> None:
        with connected(url, autocommit=False) as connection:
            connection.execute(f"SET application_name = 'locks {first}'")
            connection.commit()
            while not over.is_set():
                with contextlib.suppress(pyodbc.Error, threading.BrokenBarrierError):
                    both.wait()  # until the other has released its lock
                    connection.execute(statement.format(first)).fetchall()
                    both.wait()
                    connection.execute(statement.format(then)).fetchall()
                connection.rollback()

    threads = [threading.Thread(target=lock, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        both.abort()
        for thread in threads:
            thread.join()


def test_deadlocks_are_counted_and_who_waited_for_whom_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(url, "fifo", "status")
    monkeypatch.setattr(server_verdicts, "RECENT_S", 3.0)
    query(url, "SELECT fifo_push('x'::bytea), status_push('x'::bytea) FROM generate_series(1, 4)")
    with watching(url) as watched:
        watched.view()
        watched.poller.set_focus(ReadScope(closely=True))
        with deadlocking(url, "fifo"):
            bound = watched.queue("fifo", lambda q: any(v.code == "deadlocks" for v in q.verdicts))
            proof = next(v.proof for v in bound.verdicts if v.code == "deadlocks")
            assert has(proof, ServerVerdictText.DEADLOCKED_SESSIONS)
            assert "(locks 1): SELECT * FROM fifo WHERE id = 2 FOR UPDATE" in proof
            assert "(locks 2): SELECT * FROM fifo WHERE id = 1 FOR UPDATE" in proof
            other = watched.views[-1].queue("status")
            assert other is not None
            assert all(v.code != "deadlocks" for v in other.verdicts), "no session locked its rows"
            assert not [
                words for words in watched.views[-1].server.outside if has(words, WarningText.DEADLOCKED_SESSIONS)
            ]
        watched.queue("fifo", lambda q: all(v.code != "deadlocks" for v in q.verdicts))


def test_deadlocks_on_a_table_that_is_no_queue_are_told_of_the_server(url: str) -> None:
    installed(url, "fifo")
    query(url, "CREATE TABLE accounts (id int PRIMARY KEY); INSERT INTO accounts VALUES (1), (2)")
    with watching(url) as watched:
        watched.poller.set_focus(ReadScope(closely=True))
        with deadlocking(url, "accounts"):
            seen = watched.view(
                lambda view: any(has(words, WarningText.DEADLOCKED_SESSIONS) for words in view.server.outside),
                timeout=120,
            )
    assert has(" ".join(seen.server.outside), WarningText.DEADLOCKED_SESSIONS)
    assert all(v.code != "deadlocks" for queue in seen.queues for v in queue.verdicts)


def test_sessions_of_all_databases_count_towards_the_limit(url: str) -> None:
    installed(url, "fifo")
    with watching(url) as watched, contextlib.ExitStack() as others:
        few = watched.view(lambda view: view.server.sessions_used is not None).server
        assert few.sessions_limit is not None
        assert few.outside == ()
        elsewhere = urlsplit(url)._replace(path="/postgres").geturl()
        for _ in range(few.sessions_limit - (few.sessions_used or 0) - 2):
            others.enter_context(connected(elsewhere))
        many = watched.view(lambda view: bool(view.server.outside)).server
    assert has(many.outside[0], WarningText.SESSIONS_USED, limit=few.sessions_limit)
    assert many.sessions == few.sessions, "only those of this database"
