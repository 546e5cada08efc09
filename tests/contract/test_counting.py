"""Figures without an index are counted from the table itself, range by range, and are correct."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pytest

from qmon.engines.base import Connection
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.sql import queries
from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.layout.table_facts import TableFacts
from qmon.model.view import QueueView
from qmon.monitor.background import slow_tasks, table_scan
from qmon.monitor.background.scan_counts import ScanCounts, ScanText
from qmon.monitor.background.table_scan import Scan, read_parts
from qmon.monitor.one_shot import view_after, view_over
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_names import probe_names_for
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from tests.contract.watching import Watched, connect, installed, target_of, watching
from tests.facts import connected, query, wait_until
from tests.wordings import has

JOBS: Final = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    started_at="started_at",
    enqueued_at="created_at",
    state=StateColumn("status", "ready", "working", "done", "dead"),
    due_at="due_at",
    timeout_s=600.0,
)
COLUMNS: Final = (
    "id bigint GENERATED ALWAYS AS IDENTITY, status text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),"
    " started_at timestamptz, due_at timestamptz, payload text"
)


def made(url: str, *, partitions: bool = False, filler: int = 10) -> None:
    """A table without indexes: 40 done, 500 working (480 of them for three hours), 30 ready, 20 scheduled, 7 dead."""
    if partitions:
        query(url, f"CREATE TABLE jobs ({COLUMNS}) PARTITION BY RANGE (id)")
        for low in range(0, 1000, 250):
            query(url, f'CREATE TABLE "jobs. {low}" PARTITION OF jobs FOR VALUES FROM ({low}) TO ({low + 250})')
    else:
        query(url, f"CREATE TABLE jobs ({COLUMNS})")
    query(
        url,
        f"""
        INSERT INTO jobs (status, created_at, started_at, due_at, payload)
        SELECT status, now() - created, now() - started, now() + due, repeat('x', {filler})
        FROM (VALUES
            ('done', 40, interval '5 hours', interval '4 hours', NULL::interval),
            ('working', 480, interval '4 hours', interval '3 hours', NULL),
            ('working', 20, interval '4 hours', interval '5 seconds', NULL),
            ('ready', 30, interval '20 minutes', NULL, NULL),
            ('ready', 20, interval '30 minutes', NULL, interval '2 hours'),
            ('dead', 7, interval '9 hours', interval '9 hours', NULL)
        ) AS v(status, n, created, started, due)
        CROSS JOIN LATERAL generate_series(1, v.n)
        """,
    )


def assert_true(queue: QueueView) -> None:
    """Check that the figures are those of ``made``."""
    assert (queue.in_progress.value, queue.stuck.value) == (500, 480)
    assert (queue.scheduled.value, queue.dead.value, queue.ready.value) == (20, 7, 30)
    assert queue.oldest.value == pytest.approx(1200, abs=120)
    assert all(figure.estimated for figure in (queue.in_progress, queue.stuck, queue.dead, queue.ready))
    assert queue.verdict.code == "stuck in progress"


@pytest.mark.parametrize("partitions", [False, True])
def test_messages_stuck_in_a_table_without_an_index_are_found_in_the_first_look(
    database: str, partitions: bool
) -> None:
    made(database, partitions=partitions)
    assert_true(view_over(target_of(database), [JOBS], over_s=1.0).queues[0])
    glanced = view_after(target_of(database), [JOBS], polls=2, interval_s=0.5)
    assert check_target(glanced, []).state is CheckState.CRITICAL
    assert_true(glanced.queues[0])


def test_a_large_table_is_counted_range_by_range_and_says_how_far_it_is(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(database, filler=1500)
    monkeypatch.setattr(table_scan, "MAX_PAGES_PER_S", 60.0)
    monkeypatch.setattr(table_scan, "FIRST_RANGE_PAGES", 16)
    monkeypatch.setattr(table_scan, "MAX_RANGE_PAGES", 16)
    with watching(database, [JOBS]) as watched:
        first = watched.queue("jobs", lambda q: q.counting and q.counting > 0)
        assert first.stuck.value is None
        assert first.counting is not None
        assert has(first.stuck.reason, ScanText.COUNTING, percent=100 * first.counting)
        ours = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'qmon count' AND backend_xmin IS NOT NULL"
        )
        assert sum(int(str(query(database, ours)[0][0])) for _ in range(10)) <= 3, "ranges are short and rare"
        queue = watched.queue("jobs", lambda q: q.stuck.value is not None)
        assert_true(queue)
        assert queue.counting is None
        assert queue.stuck.every_s > table_scan.EVERY_S


def test_a_table_too_large_for_a_look_is_not_begun_and_the_reason_says_what_counts_it(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(database)
    monkeypatch.setattr(table_scan, "AT_ONCE_PAGES", 1)
    monkeypatch.setattr(table_scan, "MAX_PAGES_PER_S", 0.01)
    queue = view_over(target_of(database), [JOBS], over_s=1.0).queues[0]
    assert queue.stuck.value is None
    assert has(queue.stuck.reason, ScanText.TOO_LONG)
    reads = "SELECT coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0) FROM pg_stat_user_tables WHERE relname = 'jobs'"
    assert query(database, reads) == [(0,)]


def test_a_table_in_which_nothing_changes_is_not_scanned_again_until_it_does(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_scan, "EVERY_S", 0.1)
    monkeypatch.setattr("qmon.monitor.background.scan_counts.EVERY_S", 0.1)
    made(database)
    query(database, "DELETE FROM jobs WHERE due_at > now() OR (status = 'working' AND id > 520)")
    with watching(database, [JOBS]) as watched:
        watched.queue("jobs", lambda q: q.stuck.value == 480)
        counts = watched.poller.slow_reads.scan_counts
        settled = wait_until(lambda: _still(watched, counts), what="no more scans")
        queue = watched.queue("jobs", polls=3)
        assert queue.stuck.age_s < 2 * watched.poller.interval_s, "unchanged figures are still true"
        assert counts.tables_counted == settled
        query(database, "UPDATE jobs SET status = 'done' WHERE id <= 100")
        watched.queue("jobs", lambda q: q.stuck.value == 420)


def _still(watched: Watched, counts: ScanCounts) -> int:
    """Return the number of scans, once two polls have passed without one."""
    done = counts.tables_counted
    watched.view(polls=6)
    return done if counts.tables_counted == done else 0


@pytest.mark.parametrize("state", ["_state", ""])
@pytest.mark.parametrize("version", [(13, 0), (14, 0)])
def test_ranges_add_up_to_the_table_and_each_reads_its_own_pages_only(
    database: str, state: str, version: tuple[int, int]
) -> None:
    """Count with both ways to read a range: page ranges on newer servers, and the way of older ones."""
    made(database, filler=1500)
    query(database, "DELETE FROM jobs WHERE id % 7 = 0")
    layout = JOBS if state else replace(JOBS, state=None, started_at=None, design="pending")
    ((table_id,),) = query(database, "SELECT CAST(CAST('jobs' AS regclass) AS int)")
    spec, statements = (
        QueueSpec(layout, TableFacts(int(str(table_id)), slow={"ready": "no index"})),
        StatementCache(Postgres(), version),
    )
    connection = connect(database)
    try:
        told, expected = (
            _scanned(connection, Scan(statements, spec, parts))
            for parts in (read_parts(connection, statements, spec), [])  # without parts, it is one statement
        )
    finally:
        connection.close()
    assert told.ranges > 5
    assert expected.ranges == 1
    same = replace(
        expected,
        counted_at=told.counted_at,
        took_s=told.took_s,
        every_s=told.every_s,
        ranges=told.ranges,
        began_at=told.began_at,
    )
    assert told == same
    assert told.ready > 0
    plan = _plan(database, spec, statements, f"probe/scan{state}")
    assert "Tid " in plan
    assert "Seq Scan" not in plan
    touched = int(re.findall(r"Buffers: shared hit=(\d+)", plan)[0])
    assert 0 < touched <= (16 if version >= (14, 0) else 16 * 300)


def _scanned(connection: Connection, under_way: Scan) -> TableCount:
    while not under_way.is_done:
        under_way.read_next_range(connection, OwnUses(), 16)
    return under_way.to_count(5.0)


def _plan(url: str, spec: QueueSpec, statements: StatementCache, name: str) -> str:
    """Return the plan for reading sixteen pages, and the buffers used."""
    found = queries.load_query("postgres", name, statements.version)
    names = probe_names_for(spec.layout, spec.facts) | {"part": ("public", "jobs")}
    statement = queries.render(found, {n: names.get(n) for n in found.names}, statements.engine)
    text = statement.text
    for parameter in statement.parameters:
        text = text.replace("?", {"first_page": "16", "end_page": "32", "timeout": "600"}.get(parameter, "'ready'"), 1)
    query(url, "VACUUM ANALYZE jobs")
    return "\n".join(str(line) for (line,) in query(url, f"EXPLAIN (ANALYZE, BUFFERS) {text}"))


def test_a_count_that_met_a_lock_is_made_soon_after_it_is_gone(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_tasks, "LOCK_RETRY_S", 0.2)
    made(database)
    with connected(database, autocommit=False) as holder, watching(database, [JOBS]) as watched:
        holder.execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")
        watched.queue("jobs", lambda q: any(has(f.reason, PostgresErrorText.LOCK_TIMEOUT) for f in q.failures))
        holder.rollback()
        watched.queue("jobs", lambda q: q.stuck.value == 480 and not q.failures)


def test_a_count_that_failed_and_is_not_needed_any_more_is_not_spoken_of(database: str) -> None:
    installed(database, "fifo")
    with connected(database, autocommit=False) as holder, watching(database) as watched:
        watched.view()
        holder.execute("LOCK TABLE fifo IN ACCESS EXCLUSIVE MODE")
        watched.queue("fifo", lambda q: any(f.probe == "exact count" for f in q.failures))
        holder.rollback()
        watched.queue("fifo", lambda q: q.ready.value == 0 and not q.failures)
