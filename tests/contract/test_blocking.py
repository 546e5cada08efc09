"""Lock chains on a real server with real locks: chains, lines, several blockers, heads of every kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.waits.lock_chains import LockChainLine, LockChains, LockRole
from qmon.model.waits.queue_lock import QueueLockText
from qmon.monitor.source import ReadScope
from qmon.operate.actions.end_session import EndSessionText
from qmon.operate.operator import Operator
from qmon.operate.operator_context import create_context
from tests.contract.sessions import OpenSessions, open_sessions, stand
from tests.contract.watching import Watched, installed, target_of, watching
from tests.facts import fresh_database, query, wait_until
from tests.wordings import has


@pytest.fixture(scope="module")
def own_server() -> Iterator[EmbeddedServer]:
    """A server that allows prepared transactions and many connections."""
    settings = {
        "max_connections": "120",
        "max_prepared_transactions": "10",
        "fsync": "off",
        "deadlock_timeout": "30s",
        "shared_preload_libraries": "pg_stat_statements",
    }
    with EmbeddedServer(settings=settings) as running:
        yield running


@pytest.fixture
def url(own_server: EmbeddedServer) -> Iterator[str]:
    """A fresh database with a table of ten rows."""
    with fresh_database(own_server) as url:
        query(
            url, "CREATE TABLE t (i int PRIMARY KEY, v int); INSERT INTO t SELECT n, 0 FROM generate_series(1, 10) AS n"
        )
        yield url


def seen(watched: Watched, waiters: int) -> LockChains:
    """Return the lock trees of the next poll with this many waiting sessions."""
    watched.poller.set_focus(ReadScope(blocking=True))
    found = watched.view(lambda v: v.server.blocking is not None and v.server.blocking.waiters == waiters)
    assert found.server.blocking is not None
    return found.server.blocking


def drawn(found: LockChains, sessions: OpenSessions) -> list[str]:
    """Return the tree with our names: a dot for each level, a star if a session is repeated."""
    names = {pid: name for name, pid in sessions.pids.items()}
    return [
        f"{'.' * len(p.rails)}{names.get(p.session.session, p.session.gid)}{'*' if p.is_repeated else ''}"
        for p in found.places
    ]


def place(found: LockChains, pid: int) -> LockChainLine:
    """Return the line of a session."""
    it = found.find_line((pid, ""))
    assert it is not None
    return it


def test_a_chain_with_a_sleeping_session_on_top(url: str) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        a = s.open("a", "SET application_name = 'app-7'", "UPDATE t SET v = 1 WHERE i = 1")
        b = s.wait("b", "UPDATE t SET v = 2 WHERE i = 1", "UPDATE t SET v = 2 WHERE i = 2")
        s.wait("c", "SELECT * FROM t WHERE i = 2 FOR UPDATE")
        found = seen(watched, 2)
        assert drawn(found, s) == ["a", ".b", "..c"]
        top, middle = place(found, a), place(found, b)
        began = query(url, "SELECT extract(epoch FROM backend_start)::float8 FROM pg_stat_activity WHERE pid = ?", a)
    assert (top.role, top.blocks, top.directly) == (LockRole.IDLE, 2, 1)
    assert (top.session.application, top.session.login, top.session.host) == ("app-7", "postgres", "this server")
    assert top.session.started_at == pytest.approx(began[0][0], abs=1e-5)
    assert (top.session.transaction_s or 0) >= (middle.session.waiting_s or 0) >= 0
    assert (middle.session.object, middle.session.mode) == ("public.t row (0,1)", "ShareLock")
    assert "UPDATE t SET v = 2 WHERE i = 1" in middle.session.statement
    assert middle.blockers == ((a, ""),)


def test_two_blockers_of_one_waiter_are_both_shown(url: str) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        a = s.open("a", "LOCK TABLE t IN SHARE MODE")
        b = s.open("b", "LOCK TABLE t IN SHARE MODE")
        c = s.wait("c", "UPDATE t SET v = 1 WHERE i = 1")
        found = seen(watched, 1)
        assert sorted(place(found, c).blockers) == sorted([(a, ""), (b, "")])
        assert drawn(found, s) == ["a", ".c", "b", ".c*"]
        assert (place(found, c).session.object, place(found, c).session.holders) == ("table public.t", 2)


def test_who_only_stands_in_the_line_is_said_to(url: str) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        s.open("reader", "SELECT * FROM t")
        alter = s.wait("alter", "ALTER TABLE t ADD COLUMN note text")
        late = s.wait("late", "SELECT count(*) FROM t")
        found = seen(watched, 2)
        assert drawn(found, s) == ["reader", ".alter", "..late"]
        it = place(found, late).session
        assert (it.ahead, it.holders, it.line, it.blocker) == (True, 0, 1, alter)
        assert not place(found, alter).session.ahead


def test_a_line_for_one_row_is_a_line_not_a_thicket(url: str) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        s.open("a", "SELECT * FROM t WHERE i = 1 FOR UPDATE")
        for n in range(20):
            s.wait(f"w{n:02}", "SELECT * FROM t WHERE i = 1 FOR UPDATE")
        found = seen(watched, 20)
        assert len(found.places) == 21
        assert drawn(found, s)[:3] == ["a", ".w00", "..w01"]
        assert found.places[0].blocks == 20
        assert [place(found, s.pids[f"w{n:02}"]).session.line for n in (1, 5, 19)] == [0, 4, 18]


def test_a_prepared_transaction_blocks_under_its_name(url: str) -> None:
    for n, gid in ((1, "pay-1"), (2, "pay 'two'")):
        query(
            url, f"BEGIN; UPDATE t SET v = 1 WHERE i = {n}; PREPARE TRANSACTION '{gid.replace(chr(39), chr(39) * 2)}'"
        )
    try:
        with watching(url) as watched, open_sessions(url) as s:
            s.wait("a", "UPDATE t SET v = 2 WHERE i = 1")
            s.wait("b", "LOCK TABLE t IN SHARE MODE")
            found = seen(watched, 2)
            heads = {head.session.gid: head for head in found.heads}
            assert set(heads) == {"pay-1", "pay 'two'"}
            assert {head.role for head in found.heads} == {LockRole.PREPARED}
            assert (heads["pay-1"].session.session, heads["pay-1"].session.login) == (0, "postgres")
            assert (heads["pay-1"].session.transaction_s or 0) > 0
            assert heads["pay-1"].blocks == 2
    finally:
        for gid in ("pay-1", "pay ''two''"):
            query(url, f"ROLLBACK PREPARED '{gid}'")


def test_parallel_workers_stand_under_their_leader(url: str) -> None:
    query(url, "CREATE TABLE other (i int); CREATE TABLE big AS SELECT n FROM generate_series(1, 1000) AS n")
    query(
        url,
        "CREATE FUNCTION look(int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE"
        " AS $$ BEGIN RETURN (SELECT count(*) FROM other); END $$",
    )
    with watching(url) as watched, open_sessions(url) as s:
        a = s.open("a", "LOCK TABLE other IN ACCESS EXCLUSIVE MODE")
        leader = s.open(
            "leader",
            "SET parallel_leader_participation = off",
            "SET min_parallel_table_scan_size = 0",
            "SET parallel_setup_cost = 0",
            "SET parallel_tuple_cost = 0",
            "SET max_parallel_workers_per_gather = 2",
        )
        s.go("leader", "SELECT sum(look(n)) FROM big")
        workers = "SELECT count(*) FROM pg_stat_activity WHERE leader_pid = ? AND wait_event_type = 'Lock'"
        wait_until(lambda: query(url, workers, leader) == [(2,)], what="both workers wait")
        found = seen(watched, 1)
        assert drawn(found, s) == ["a", ".leader"]
        assert place(found, leader).blockers == ((a, ""),)


def test_our_own_sessions_are_left_out_unless_they_hold_up_others(url: str) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        s.open("ours", "SET application_name = 'qmon purge'", "UPDATE t SET v = 1 WHERE i = 1")
        s.wait("waits", "UPDATE t SET v = 1 WHERE i = 1")
        s.wait("ours too", "LOCK TABLE t", "SET application_name = 'qmon count'")
        assert drawn(seen(watched, 1), s) == ["ours", ".waits"]
        s.wait("behind us", "SELECT count(*) FROM t")
        assert drawn(seen(watched, 3), s) == ["ours", ".waits", "..ours too", "...behind us", ".ours too*"]


def test_rows_of_a_queue_stand_with_the_session_that_holds_them(url: str) -> None:
    installed(url, "strict_fifo")
    query(url, "SELECT strict_fifo_push('x'::bytea) FROM generate_series(1, 5)")
    with watching(url) as watched, open_sessions(url) as s:
        a = s.open("a", "SELECT * FROM strict_fifo_pop_batch(2)")
        s.wait("b", "SELECT * FROM strict_fifo_pop()")
        (held,) = place(seen(watched, 1), a).held
        assert (held.queue, held.rows, held.at_least) == ("strict_fifo", 2, False)


def test_what_is_shown_is_exactly_what_can_be_ended(url: str, tmp_path: Path) -> None:
    with watching(url) as watched, open_sessions(url) as s:
        a = s.open("a", "UPDATE t SET v = 1 WHERE i = 1")
        s.wait("b", "UPDATE t SET v = 2 WHERE i = 1")
        top = place(seen(watched, 1), a)
        operator = Operator(create_context(target_of(url)))
        assert top.session.started_at is not None
        assert operator.end_session(a, top.session.started_at).plan.refused is None
        refused = operator.end_session(a, top.session.started_at - 1.0).plan.refused
        assert refused is not None
        assert has(refused, EndSessionText.OTHER_SESSION)


def test_nothing_is_asked_while_nobody_waits(url: str) -> None:
    query(url, "CREATE EXTENSION pg_stat_statements")
    asked = "SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query LIKE '%pg_blocking_pids(w.pid)%'"
    with watching(url) as watched, open_sessions(url) as s:
        watched.poller.set_focus(ReadScope(blocking=True))
        view = watched.view(polls=3)
        assert view.server.blocking == LockChains()
        before = query(url, asked)
        watched.view(polls=3)
        assert query(url, asked) == before
        s.open("a", "UPDATE t SET v = 1 WHERE i = 1")
        s.wait("b", "UPDATE t SET v = 2 WHERE i = 1")
        seen(watched, 1)
        assert query(url, asked) != before


@pytest.mark.parametrize("count", [2, 12, 60])
def test_trees_of_many_sessions(url: str, count: int) -> None:
    chance = random.Random(count)
    blockers = {
        n: [] if n % 20 == 0 else sorted(chance.sample(range(n), min(n, chance.choice((1, 1, 2)))))
        for n in range(count)
    }
    with watching(url) as watched, open_sessions(url) as s:
        stand(s, blockers)
        found = seen(watched, sum(1 for held in blockers.values() if held))
        mine = {name: place(found, pid) for name, pid in s.pids.items() if found.find_line((pid, "")) is not None}
        for number, held in blockers.items():
            if held:
                assert {pid for pid, _ in mine[str(number)].blockers} == {s.pids[str(n)] for n in held}
        assert {head.session.session for head in found.heads} <= {
            s.pids[str(n)] for n, held in blockers.items() if not held
        }


def test_everything_locked_names_who_does_it_and_clears_when_it_lets_go(url: str) -> None:
    installed(url, "status", "strict_fifo", "fifo")
    query(
        url,
        "SELECT status_push('x'::bytea), strict_fifo_push('x'::bytea), fifo_push('x'::bytea)"
        " FROM generate_series(1, 20)",
    )
    with watching(url) as watched, open_sessions(url) as s:
        sleeper = s.open("sleeper", "SELECT * FROM status FOR UPDATE")
        consumer = s.open("consumer", "SELECT * FROM strict_fifo_pop()")
        s.wait("next", "SELECT * FROM strict_fifo_pop()")
        table = s.open("table", "LOCK TABLE fifo IN SHARE MODE")
        s.wait("stopped", "SELECT * FROM fifo_pop()")
        for name, pid in (("status", sleeper), ("strict_fifo", consumer), ("fifo", table)):
            queue = watched.queue(name, lambda q: q.verdict.code == "everything locked")
            assert f"{QueueLockText.SESSION.render(session=pid)} (" in queue.verdict.proof
            assert queue.verdict.key == "4" or (name == "status" and queue.verdict.key in ("", "3")), (
                "no session waits there"
            )
        for name in ("sleeper", "consumer", "table"):
            s.connections[name].rollback()
        watched.view(lambda v: all(q.verdict.code != "everything locked" for q in v.queues))


def test_a_session_that_waits_for_one_row_does_not_lock_everything(url: str) -> None:
    installed(url, "status")
    query(url, "SELECT status_push('x'::bytea) FROM generate_series(1, 445)")
    with watching(url) as watched, open_sessions(url) as s:
        watched.queue("status", lambda q: q.ready.value == 445)
        s.open("holder", "UPDATE status SET attempts = attempts WHERE id = 1")
        s.wait("waiter", "UPDATE status SET attempts = attempts WHERE id = 1")
        seen(watched, 1)
        first = len(watched.views)
        watched.queue("status", lambda q: q.verdict.code in ("no consumers", "consumers not claiming", "no pops"))
        assert len(query(url, "SELECT * FROM status_pop()")) == 1
        said = {v.code for view in watched.views[first:] for q in view.queues for v in q.verdicts}
    assert "everything locked" not in said
