"""Holders of the horizon and their cost on a real server: a session, a prepared transaction, and none."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.samples.horizon_samples import HorizonSample
from qmon.model.verdicts.server_verdicts import MIN_ROWS, ServerVerdictText
from qmon.model.view import QueueView
from qmon.model.waits import horizon_holders
from qmon.model.waits.horizon_holders import HolderText
from qmon.monitor.state import usage_track
from tests.contract.sessions import open_sessions
from tests.contract.watching import Watched, installed, said_at_once, watching
from tests.facts import connected, fresh_database, query, wait_until
from tests.meanwhile import meanwhile
from tests.wordings import has


@pytest.fixture(scope="module")
def own_server() -> Iterator[EmbeddedServer]:
    """A server that allows prepared transactions, and vacuums only on command."""
    settings = {"max_prepared_transactions": "4", "fsync": "off", "autovacuum": "off"}
    with EmbeddedServer(settings=settings) as running:
        yield running


@pytest.fixture
def url(own_server: EmbeddedServer) -> Iterator[str]:
    """A fresh database with two queues."""
    with fresh_database(own_server) as url:
        installed(url, "fifo", "heap")
        yield url


@contextlib.contextmanager
def popping(url: str) -> Iterator[None]:
    """Run one consumer."""

    def pop(over: threading.Event) -> None:
        with connected(url) as connection:
            while not over.is_set():
                connection.execute("SELECT * FROM fifo_pop()").fetchall()

    with meanwhile(pop):
        yield


def held(watched: Watched, who: str, age: int = 0) -> tuple[HorizonSample, ...]:
    """Return the holders of the first poll whose oldest is of this kind and at least this old, in transactions."""

    def oldest(one: HorizonSample) -> bool:
        return one.kind == who and one.age >= age

    found = watched.view(lambda v: v.server.horizon and oldest(v.server.horizon[0])).server.horizon
    assert found
    return found


def said(queue: QueueView) -> str:
    """Return the proof of the verdict, if it is raised."""
    return next((v.proof for v in queue.verdicts if v.code == "cleanup held back"), "")


def test_a_sleeping_transaction_is_named_with_what_it_costs_until_it_lets_go(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query(url, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 80000)")
    monkeypatch.setattr(horizon_holders, "LONG_S", 3.0)
    monkeypatch.setattr(usage_track, "REMEMBER_EVERY_S", 1.0)
    said_at_once(monkeypatch)
    with watching(url) as watched, open_sessions(url) as sessions, popping(url):

        def remembered(queue: QueueView) -> bool:
            # The start of a transaction is known only to a fraction of a second, so the remembered values must be
            # older.
            return queue.use is not None and sum(value is not None for value in queue.use.trend) >= 3

        def fine(queue: QueueView) -> bool:
            # On a busy machine, polls and pops take longer, and dead rows stay longer.
            touched = queue.use.rows_per_pop.value if queue.use is not None else None
            return remembered(queue) and touched is not None and touched < MIN_ROWS

        watched.queue("fifo", fine)
        pid = sessions.open("sleeper", "SET application_name = 'app-7'", "SELECT txid_current()")
        bound = watched.queue("fifo", said)
        assert said(bound).startswith(f"{HolderText.SESSION.render(session=pid)} (idle in transaction, ")
        assert has(said(bound), ServerVerdictText.VACUUM_HELD_BACK_PER_POP)
        assert "app-7)" in said(bound)
        assert bound.use is not None
        assert bound.use.before is not None
        assert bound.use.rows_per_pop.value is not None
        assert bound.use.rows_per_pop.value > 3 * bound.use.before
        assert (bound.use.dead or 0) > 100
        view = watched.view()
        other = view.queue("heap")
        assert other is not None
        assert not said(other), "a queue that is not touched does not suffer"
        assert view.server.horizon is not None
        assert (view.server.horizon[0].session, view.server.horizon[0].state) == (pid, "idle in transaction")
        sessions.connections["sleeper"].rollback()
        watched.queue("fifo", lambda q: not said(q))


def test_what_qmon_reads_itself_is_not_in_the_figures(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_track, "WINDOW_S", 2.0)
    query(url, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 500)")
    counter = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'fifo'"
    with watching(url, interval_s=1.0) as watched:

        def seen(queue: QueueView) -> bool:
            parts = queue.use.parts if queue.use is not None else ()
            return any(part.rows is not None for part in parts)

        watched.queue("fifo", seen)
        before = int(str(query(url, counter)[0][0]))
        wait_until(lambda: int(str(query(url, counter)[0][0])) >= before + 1000, what="qmon has read a thousand rows")
        quiet = watched.queue(
            "fifo", lambda q: seen(q) and q.use and not any(part.rows for part in q.use.parts), timeout=120
        )
        assert quiet.ready.value == 500


def test_a_prepared_transaction_holds_it_under_its_name(url: str) -> None:
    query(url, "BEGIN; SELECT fifo_push('y'::bytea); PREPARE TRANSACTION 'pay 7'")
    try:
        with watching(url) as watched:
            query(url, "SELECT fifo_push('x'::bytea)")
            first = held(watched, "prepared")[0]
            assert (first.session, first.name, first.state, first.login) == (0, "pay 7", "prepared", "postgres")
            assert first.age > 0
            assert (first.held_s or 0.0) > 0
    finally:
        query(url, "ROLLBACK PREPARED 'pay 7'")


def test_a_session_of_another_database_holds_nothing_here(own_server: EmbeddedServer, url: str) -> None:
    with open_sessions(own_server.url("qmon")) as elsewhere, open_sessions(url) as here, watching(url) as watched:
        other = elsewhere.open("a", "SELECT txid_current()")
        pid = here.open("b", "SELECT txid_current()")
        query(url, "SELECT fifo_push('x'::bytea)")
        # Producers also hold it for a moment.
        watched.view(lambda v: [one.session for one in v.server.horizon or ()] == [pid])
        watched.view(polls=3)
        assert other not in {one.session for view in watched.views for one in view.server.horizon or ()}


def test_a_snapshot_without_writing_holds_it_too(url: str) -> None:
    with open_sessions(url) as sessions, watching(url) as watched:
        pid = sessions.open("r", "DECLARE c CURSOR FOR SELECT * FROM fifo")
        query(url, "SELECT fifo_push('x'::bytea)")
        first = held(watched, "session", age=1)[0]  # a poll may come before the push
        assert first.session == pid
