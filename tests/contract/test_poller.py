"""The poller against a real server that hangs, dies and comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Bound, Session, Statement
from qmon.engines.registry import engine_for
from qmon.errors import BadInput, QueryFailed
from qmon.model.waits.lock_holders import LockHolderText
from qmon.monitor.poll.poller import PollerText
from qmon.monitor.source import Phase, ReadScope
from tests.contract.watching import installed, target_of, watching
from tests.facts import connected, query, wait_until
from tests.wordings import has, pattern


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server that this test may stop."""
    with EmbeddedServer(settings={"fsync": "off"}) as running:
        yield running


def absurd(value: float | None) -> bool:
    return value is not None and not 0 <= value < 1e6


def test_a_frozen_server_makes_figures_late_and_recovers_by_itself(own_server: EmbeddedServer) -> None:
    threads = threading.active_count()  # other tests of this process may have left some
    installed(own_server.url(), "fifo")
    with watching(own_server.url()) as watched:
        watched.view(polls=2)
        own_server.freeze()
        try:
            wait_until(lambda: Phase.LATE in watched.phases, what="late")
            wait_until(lambda: Phase.LOST in watched.phases, what="lost, with a retry")
            lost = next(s for s in watched.states if s.phase is Phase.LOST)
            assert lost.retry_at is not None
            assert lost.retry_at > lost.changed_at
            watched.poller.poll_now()
            watched.poller.set_interval(1.0)
        finally:
            own_server.thaw()
        seen = len(watched.views)
        view = watched.view(polls=3)
        assert view.queues[0].ready.value == 0
        for after in watched.views[seen:]:
            assert not absurd(after.queues[0].push_rate.value)
            assert not absurd(after.server.commits.value)
    assert threading.active_count() < threads + 20


def test_a_killed_server_is_lost_then_live_again_without_an_absurd_rate(own_server: EmbeddedServer) -> None:
    installed(own_server.url(), "fifo", "status", "ring")
    with watching(own_server.url()) as watched, connected(own_server.url()) as producer:
        for _ in range(300):
            producer.execute("SELECT public.fifo_push('x'::bytea), status_push('x'::bytea), ring_push('x')")
        watched.queue("fifo", lambda q: q.ready.value == 300)
        # Servers that start less than a second apart are taken for the same server.
        watched.view(lambda v: v.sampled_at - watched.views[0].sampled_at > 1.0)
        seen = len(watched.states)
        own_server.kill()
        wait_until(lambda: Phase.LOST in watched.phases[seen:], what="lost")
        before = len(watched.views)
        own_server.start()
        view = watched.view(polls=3)
        assert {q.name: q.ready.value for q in view.queues}["fifo"] == 300
        for after in watched.views[before:]:
            for queue in after.queues:
                assert not absurd(queue.push_rate.value)
                assert not absurd(queue.pop_rate.value)
                assert (queue.push_rate.value or 0) < 1
        first = watched.views[before]
        assert first.queues[0].push_rate.value is None


def test_a_server_that_is_not_there_is_a_state_with_a_countdown_not_an_exit(own_server: EmbeddedServer) -> None:
    url = own_server.url()
    own_server.stop()
    with watching(url) as watched:
        wait_until(lambda: watched.phases.count(Phase.LOST) >= 2, what="two tries")
        assert watched.views == []
        assert all(state.reason for state in watched.states if state.phase is Phase.LOST)
        first, lost, again = watched.states[:3]
        assert (first.phase, first.reason) == (Phase.CONNECTING, "")
        assert (again.phase, again.reason) == (Phase.CONNECTING, lost.reason)
        own_server.start()
        watched.poller.poll_now()
        assert watched.view().engine == "postgres"
        assert watched.phases[-1] is Phase.LIVE


def test_a_backend_that_is_terminated_is_replaced(database: str) -> None:
    with watching(database) as watched:
        watched.view()
        query(
            database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'qmon poll%'"
        )
        wait_until(lambda: Phase.LOST in watched.phases, what="lost")
        watched.view()
        assert watched.phases[-1] is Phase.LIVE


def test_polls_come_at_the_interval_that_is_set_live(database: str) -> None:
    with watching(database) as watched:
        watched.view(polls=2)
        watched.poller.set_interval(20.0)
        watched.view(lambda v: v.interval_s == 20.0)
        count = len(watched.views)
        watched.poller.poll_now()
        wait_until(lambda: len(watched.views) == count + 1, timeout=120, what="a poll on demand")
        with pytest.raises(BadInput, match=pattern(PollerText.INTERVAL_RANGE, lowest=0.5, highest=60.0)):
            watched.poller.set_interval(0.01)


def test_the_poller_says_who_it_is_and_its_sessions_refuse_to_write(database: str) -> None:
    installed(database, "fifo")
    with watching(database) as watched:
        watched.view()
        here = "application_name LIKE 'qmon%' AND datname = current_database()"
        assert ("qmon poll",) in query(database, f"SELECT application_name FROM pg_stat_activity WHERE {here}")
    target = target_of(database)
    connection = engine_for(target).connect(target, Session("poll", read_only=True))
    try:
        push = Statement("test", "SELECT public.fifo_push('x'::bytea)", (), ("fifo_push",))
        with pytest.raises(QueryFailed, match="read-only"):
            connection.fetch(Bound(push))
    finally:
        connection.close()


def test_closing_is_quick_while_the_server_hangs(own_server: EmbeddedServer) -> None:
    with watching(own_server.url()) as watched:
        watched.view()
        own_server.freeze()
        try:
            wait_until(lambda: Phase.LATE in watched.phases, what="late")
            closer = threading.Thread(target=watched.poller.close, daemon=True)
            closer.start()
            closer.join(120)
            assert not closer.is_alive()
        finally:
            own_server.thaw()


def test_a_queue_that_is_dropped_while_watched_leaves_the_others_alone(database: str) -> None:
    installed(database, "fifo", "naive")
    with watching(database) as watched:
        watched.queue("naive", lambda q: q.ready.value == 0)
        query(database, "DROP TABLE naive CASCADE")
        gone = watched.queue("naive", lambda q: q.failures)
        assert "naive" in gone.failures[0].reason
        assert gone.ready.old
        assert watched.queue("fifo").ready.value == 0


def test_rows_are_read_only_for_the_queue_on_screen(database: str) -> None:
    installed(database, "status")
    query(database, "SELECT status_push('payload one'::bytea)")
    query(database, "SELECT * FROM status_pop()")
    with watching(database) as watched:
        assert watched.queue("status").messages is None
        watched.poller.set_focus(ReadScope(rows_of="status"))
        rows = watched.queue("status", lambda q: q.messages is not None).messages
        assert rows is not None
        assert [(m.state, m.payload, m.attempts) for m in rows] == [("in_progress", "payload one", 1)]
        watched.poller.set_focus(ReadScope())
        assert watched.queue("status", lambda q: q.messages is None).messages is None


def test_a_table_that_even_readers_must_wait_for_is_told_and_comes_back(database: str) -> None:
    installed(database, "fifo", "naive")
    with watching(database) as watched, connected(database, autocommit=False) as holder:
        watched.view(polls=2)
        holder.execute("LOCK TABLE fifo IN ACCESS EXCLUSIVE MODE")
        locked = watched.queue("fifo", lambda q: q.failures)
        assert has(locked.failures[0].reason, LockHolderText.LOCKED_BY)
        assert locked.ready.value == 0
        assert locked.ready.age_s > 0
        assert has(locked.ready.reason, LockHolderText.LOCKED_BY)
        query(database, "SELECT naive_push('x') FROM generate_series(1, 5)")
        moving = watched.queue("naive", lambda q: q.ready.value == 5 and q.push_rate.value, polls=2)
        assert moving.push_rate.value
        holder.rollback()
        assert watched.queue("fifo", lambda q: q.ready.value == 0 and not q.failures).ready.value == 0
    assert Phase.LOST not in watched.phases
