"""Compare the figures with known table contents: states, locks, depth beyond the limit, hostile names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qmon.errors import QueryFailed
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.status_report import status_object
from qmon.model.view import QueueView
from qmon.monitor.background.scan_counts import ScanCounts
from qmon.monitor.background.slow_tasks import HeadTask
from qmon.monitor.one_shot import view_over
from tests.contract.watching import installed, target_of, watching
from tests.facts import connected, query, wait_until

NASTY = ('"; drop table x; --', "[a]]b].[c d]", "[red]plain[/red]", "Größe 🚀 :x ? {y} %s", "o'clock\\n")


def test_every_state_of_a_status_queue_is_told_apart(database: str) -> None:
    installed(database, "status")
    query(database, "SELECT status_push(convert_to('m' || n, 'utf8')) FROM generate_series(1, 60) AS n")
    query(database, "SELECT status_pop() FROM generate_series(1, 10)")
    query(database, "UPDATE status SET started_at = now() - interval '20 minutes' WHERE id <= 4")
    query(database, "UPDATE status SET status = 3, owner = NULL WHERE id IN (9, 10)")
    query(database, "UPDATE status SET enqueued_at = now() - interval '14 minutes' WHERE id = 11")
    with watching(database) as watched:
        queue = watched.queue("status", lambda q: q.dead.value is not None)
    assert queue.ready.value == 50
    assert queue.in_progress.value == 8
    assert queue.stuck.value == 4
    assert queue.dead.value == 2
    assert queue.gap.value == 50
    assert queue.oldest.value == pytest.approx(840, abs=30)
    assert not queue.ready.estimated
    assert queue.verdict.code == "stuck in progress"


def test_rows_that_an_open_transaction_has_popped_are_in_progress(database: str) -> None:
    installed(database, "fifo")
    query(database, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 20)")
    with watching(database) as watched, connected(database, autocommit=False) as consumer:
        for _ in range(3):
            consumer.execute("SELECT * FROM fifo_pop()").fetchall()
        queue = watched.queue("fifo", lambda q: q.in_progress.value == 3)
        assert queue.ready.value == 17
        assert queue.stuck.value == 0
        consumer.rollback()
        assert watched.queue("fifo", lambda q: q.in_progress.value == 0).ready.value == 20


def test_a_consumer_that_holds_rows_beyond_the_timeout_makes_them_stuck(database: str) -> None:
    (layout,) = installed(database, "fifo")
    query(database, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 5)")
    short = Layout("jobs", "fifo", layout.table, id="id", timeout_s=1.0)
    with watching(database, [short]) as watched, connected(database, autocommit=False) as consumer:
        consumer.execute("SELECT * FROM fifo_pop()").fetchall()
        queue = watched.queue("jobs", lambda q: q.stuck.value)
        assert (queue.stuck.value, queue.ready.value) == (1, 4)


def test_a_deep_queue_is_counted_once_and_carried_on_with_a_tilde(database: str) -> None:
    installed(database, "fifo", "status", "batch_fast")
    query(database, "SELECT fifo_push('x'::bytea), status_push('x'::bytea) FROM generate_series(1, 5000)")
    query(database, "SELECT batch_fast_push('x') FROM generate_series(1, 5000)")
    with watching(database) as watched, connected(database) as producer:
        first = watched.views[0] if watched.views else watched.view()
        assert all(q.ready.at_least or q.ready.estimated for q in first.queues)
        for name in ("fifo", "status", "batch_fast"):
            queue = watched.queue(name, lambda q: q.ready.estimated)
            assert queue.ready.value == 5000
        producer.execute("SELECT fifo_push('x'::bytea), status_push('x'::bytea) FROM generate_series(1, 700)")
        producer.execute("SELECT batch_fast_push('x') FROM generate_series(1, 700)")
        producer.execute("SELECT fifo_pop() FROM generate_series(1, 200)")
        producer.execute("SELECT status_pop() FROM generate_series(1, 200)")
        for name in ("fifo", "status", "batch_fast"):
            most = 5500 if name != "batch_fast" else 5700
            assert watched.queue(name, _holds(most)).ready.estimated


def test_a_queue_counted_in_a_burst_is_counted_again_once_the_server_has_caught_up(database: str) -> None:
    """Its counters lag by up to a second, so rows already counted would be added again."""
    installed(database, "fifo")
    with watching(database) as watched, connected(database) as producer:
        producer.execute("SELECT fifo_push('x'::bytea) FROM generate_series(1, 100)")
        watched.queue("fifo", _holds(100))
        producer.execute("SELECT fifo_push('x'::bytea) FROM generate_series(1, 6000)")
        wait_until(lambda: watched.poller.slow_reads.scan_counts.tables_counted >= 2, what="the second count")
        assert watched.queue("fifo", _holds(6100)).ready.estimated


def _holds(ready: int) -> Callable[[QueueView], bool]:
    return lambda queue: queue.ready.value == ready


def test_an_exact_count_can_be_asked_for_at_any_time(database: str) -> None:
    installed(database, "fifo")
    query(database, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 3000)")
    with watching(database) as watched:
        watched.queue("fifo", lambda q: q.ready.estimated)
        counts = watched.poller.slow_reads.scan_counts.tables_counted
        watched.poller.count_exactly("fifo")
        fresh = watched.queue(
            "fifo", lambda q: watched.poller.slow_reads.scan_counts.tables_counted > counts and q.ready.age_s < 2
        )
        assert fresh.ready.value == 3000


def test_what_is_put_back_before_the_head_is_seen_once_it_is_told(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If reading from the first row is expensive, polls seek from a known id and rarely check the rows before it."""
    monkeypatch.setattr("qmon.monitor.background.slow_tasks.EXPENSIVE_HEAD_S", float("-inf"))
    monkeypatch.setattr("qmon.monitor.background.slow_tasks.HEAD_EVERY_S", 3600.0)
    installed(database, "fifo")
    query(database, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 10)")
    with watching(database) as watched:
        watched.queue("fifo", _holds(10))
        query(database, "CREATE TABLE kept AS SELECT * FROM fifo WHERE id <= 4")
        query(database, "DELETE FROM fifo WHERE id <= 4")
        watched.queue("fifo", _holds(6))
        watched.view(polls=3)
        query(database, "INSERT INTO fifo OVERRIDING SYSTEM VALUE SELECT * FROM kept")
        assert [queue.ready.value for queue in watched.view(polls=2).queues] == [6]
        watched.poller.poll_now(changed="fifo")
        watched.queue("fifo", _holds(10))


def test_a_cheap_head_is_sought_once_and_again_when_polls_find_it_dear(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "qmon.monitor.background.slow_tasks"
    monkeypatch.setattr(f"{module}.HEAD_EVERY_S", 0.1)
    monkeypatch.setattr(f"{module}.CHEAP_HEAD_EVERY_S", 3600.0)
    monkeypatch.setattr(f"{module}.EXPENSIVE_HEAD_S", float("inf"))
    seek, begun = HeadTask.run, list[object]()

    def counted(*given: Any) -> float:
        begun.append(given)
        return seek(*given)

    monkeypatch.setattr(HeadTask, "run", counted)
    installed(database, "fifo")
    with watching(database) as watched:
        wait_until(lambda: begun, what="the first search")
        watched.view(polls=6)
        assert len(begun) == 1
        monkeypatch.setattr(f"{module}.EXPENSIVE_HEAD_S", float("-inf"))
        wait_until(lambda: len(begun) >= 3, what="a search every 0.1 s")


@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
@pytest.mark.parametrize(
    ("reader", "reading", "asked"),
    [(HeadTask, "run", "find_head_again"), (ScanCounts, "count_next_range", "count_exactly")],
)
def test_what_is_asked_for_while_it_is_read_is_read_once_more(
    database: str, monkeypatch: pytest.MonkeyPatch, reader: type, reading: str, asked: str, fails: bool
) -> None:
    """A reading under way may have begun before the event that is asked about."""
    for name in ("HEAD_EVERY_S", "CHEAP_HEAD_EVERY_S", "SETTLED_S", "RETRY_S"):
        monkeypatch.setattr(f"qmon.monitor.background.slow_tasks.{name}", 3600.0)
    monkeypatch.setattr("qmon.monitor.background.scan_counts.WHOLE_EVERY_S", 3600.0)
    read, begun = getattr(reader, reading), list[str]()
    installed(database, "fifo")
    with watching(database) as watched:

        def read_while_asked(*given: object) -> object:
            begun.append(reading)
            if len(begun) == 1:
                getattr(watched.poller.slow_reads, asked)("fifo")
                if fails:
                    raise QueryFailed("not now", query="probe/x")
            return read(*given)

        monkeypatch.setattr(reader, reading, read_while_asked)
        watched.view()
        # A count is made only if it is requested, and the search for the head has ended by now.
        getattr(watched.poller.slow_reads, asked)("fifo")
        wait_until(lambda: len(begun) >= 2, what="the second reading")
    assert begun[:2] == [reading, reading]


@pytest.mark.parametrize("name", NASTY)
def test_tables_with_hostile_names_and_no_optional_column_can_be_watched(database: str, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with connected(database) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE x (i int)")
        cursor.execute("SET standard_conforming_strings = on")
        _plain(cursor, f"CREATE TABLE {quoted} ({quoted} bigint PRIMARY KEY, state text NOT NULL)")
        _plain(cursor, f"INSERT INTO {quoted} SELECT n, 'new' FROM generate_series(1, 12) AS n")
    layout = Layout(
        name, "status", ObjectName("public", name), id=name, state=StateColumn("state", "new", "busy", None)
    )
    report = status_object(view_over(target_of(database), [layout], over_s=1.0))
    queue = report["queues"][0]
    assert (queue["name"], queue["ready"]) == (name, 12)
    assert queue["oldest_seconds"] is None
    assert queue["unknown"]["oldest_seconds"]
    assert query(database, "SELECT count(*) FROM x") == [(0,)]


def _plain(cursor: object, sql: str) -> None:
    """Run a statement whose identifiers contain ``?``, which the driver would take for a parameter."""
    body = "E'" + sql.replace("\\", "\\\\").replace("'", "''").replace("?", "\\x3f").replace("{", "\\x7b") + "'"
    cursor.execute(f"DO $$ BEGIN EXECUTE {body}; END $$")  # type: ignore[attr-defined]


def test_a_table_without_a_start_time_is_watched_row_by_row(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state int NOT NULL)")
    query(database, "CREATE INDEX ON jobs (state, id)")
    query(
        database, "INSERT INTO jobs (state) SELECT CASE WHEN n <= 3 THEN 2 ELSE 1 END FROM generate_series(1, 9) AS n"
    )
    layout = Layout(
        "jobs", "status", ObjectName("public", "jobs"), id="id", state=StateColumn("state", 1, 2), timeout_s=1
    )
    with watching(database, [layout]) as watched:
        queue = watched.queue("jobs", lambda q: q.stuck.value == 3)
        assert queue.stuck.at_least
        assert (queue.ready.value, queue.in_progress.value) == (6, 3)
        query(database, "UPDATE jobs SET state = 1 WHERE id = 1")
        assert watched.queue("jobs", lambda q: q.stuck.value == 2 and q.ready.value == 7).in_progress.value == 2


def test_a_role_with_nothing_but_select_sees_the_queue_and_is_told_what_is_missing(database: str) -> None:
    installed(database, "status")
    query(database, "SELECT status_push('x'::bytea) FROM generate_series(1, 7)")
    name = database.split("/")[-1].split("?")[0]
    query(database, f"CREATE ROLE viewer_{name} LOGIN")
    query(database, f"GRANT SELECT ON status TO viewer_{name}")
    try:
        url = database.replace("postgres@", f"viewer_{name}@")
        layout = Layout(
            "status",
            "status",
            ObjectName("public", "status"),
            id="id",
            state=StateColumn("status", 1, 2, None, 3),
            started_at="started_at",
            owner=OwnerColumn("owner", "session"),
        )
        report = status_object(view_over(target_of(url), [layout], over_s=1.0))
        assert report["queues"][0]["ready"] == 7
        sessions = next(f for f in report["failures"] if f["probe"] == "sessions")
        assert "pg_read_all_stats" in sessions["grant"]
    finally:
        query(database, f"DROP OWNED BY viewer_{name}")
        query(database, f"DROP ROLE viewer_{name}")


def test_a_queue_that_cannot_be_read_is_shown_with_the_grant_that_helps(database: str) -> None:
    installed(database, "fifo", "status")
    name = database.split("/")[-1].split("?")[0]
    query(database, f"CREATE ROLE blind_{name} LOGIN")
    query(database, f"GRANT SELECT ON fifo TO blind_{name}")
    try:
        url = database.replace("postgres@", f"blind_{name}@")
        layouts = [
            Layout("fifo", "fifo", ObjectName("public", "fifo"), id="id"),
            Layout("status", "status", ObjectName("public", "status"), id="id", state=StateColumn("status", 1, 2)),
        ]
        report = status_object(view_over(target_of(url), layouts, over_s=1.0))
        by_name = {q["name"]: q for q in report["queues"]}
        assert by_name["fifo"]["ready"] == 0
        assert by_name["status"]["ready"] is None
        assert by_name["status"]["verdict"]["code"] == "cannot see"
        assert "GRANT SELECT" in by_name["status"]["verdict"]["proof"]
    finally:
        query(database, f"DROP OWNED BY blind_{name}")
        query(database, f"DROP ROLE blind_{name}")


def test_blocked_sessions_name_their_blocker(database: str) -> None:
    query(database, "CREATE TABLE t (i int PRIMARY KEY); INSERT INTO t VALUES (1)")
    with (
        watching(database) as watched,
        connected(database, autocommit=False) as holder,
        connected(database, autocommit=False) as waiter,
    ):
        holder.execute("SELECT * FROM t FOR UPDATE").fetchall()
        pid = holder.execute("SELECT pg_backend_pid()").fetchval()
        waiter.execute("SET lock_timeout = '4s'")
        import contextlib
        import threading

        def wait() -> None:
            with contextlib.suppress(Exception):
                waiter.execute("SELECT * FROM t FOR UPDATE").fetchall()

        thread = threading.Thread(target=wait)
        thread.start()
        view = watched.view(lambda v: v.server.blocking and v.server.blocking.waiters)
        thread.join()
    assert view.server.blocking is not None
    (blocker,) = view.server.blocking.heads
    assert blocker.session.session == pid
    assert blocker.session.state == "idle in transaction"
    assert 0 <= (blocker.longest_s or 0) < 30


@pytest.mark.parametrize("with_state", [False, True])
def test_messages_that_are_not_due_yet_are_scheduled_not_ready(database: str, with_state: bool) -> None:
    query(
        database,
        "CREATE TABLE later (id bigint PRIMARY KEY, due timestamptz NOT NULL, state text NOT NULL DEFAULT 'r')",
    )
    query(database, "CREATE INDEX ON later (state, due)" if with_state else "CREATE INDEX ON later (due)")
    query(
        database,
        "INSERT INTO later (id, due) SELECT n, now() + make_interval(mins => n - 4) FROM generate_series(1, 10) AS n",
    )
    state = StateColumn("state", "r", "w") if with_state else None
    design = "status" if with_state else "pending"
    layout = Layout("later", design, ObjectName("public", "later"), id="id", state=state, due_at="due")
    with watching(database, [layout]) as watched:
        queue = watched.queue("later", lambda q: q.scheduled.value is not None)
    assert queue.failures == ()
    assert queue.ready.value == 4
    assert queue.scheduled.value == 6
    assert queue.oldest.value == pytest.approx(180, abs=30)


def test_without_an_index_a_figure_is_counted_slowly_and_no_probe_of_the_tick_scans(database: str) -> None:
    query(database, "CREATE TABLE bare (id bigint, state int NOT NULL)")
    query(database, "INSERT INTO bare SELECT n, 1 + n % 2 FROM generate_series(1, 30000) AS n")
    query(database, "ANALYZE bare")
    layout = Layout("bare", "status", ObjectName("public", "bare"), id="id", state=StateColumn("state", 1, 2))
    with watching(database, [layout]) as watched:
        queue = watched.queue("bare", lambda q: q.ready.value is not None)
        assert (queue.ready.value, queue.ready.estimated) == (15000, True)
        assert (queue.in_progress.value, queue.in_progress.estimated) == (15000, True)
        watched.view(polls=4)
        here = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'bare'"
        before = query(database, here)
        watched.view(polls=6)
        assert query(database, here) == before
