"""Counts of partitions are added up. Attaching or detaching a partition does not count as pushes or pops."""

from __future__ import annotations

import pytest

from qmon.engines.registry import engine_for
from qmon.model.groups.conditions import ColumnRef, OneOf
from qmon.model.groups.group import Group, State
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.monitor.catalog.resolve import resolve_queues
from tests.contract.watching import Watched, connect, target_of, watching
from tests.facts import connected, query
from tests.wordings import has

HASHED = """
    CREATE TABLE jobs (id bigserial, payload text, PRIMARY KEY (id)) PARTITION BY HASH (id);
    CREATE TABLE jobs_0 PARTITION OF jobs FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE jobs_1 PARTITION OF jobs FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH (id);
    CREATE TABLE jobs_1_0 PARTITION OF jobs_1 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE jobs_1_1 PARTITION OF jobs_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)"""
RANGED = """
    CREATE TABLE jobs (id bigserial, payload text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
    CREATE TABLE jobs_first PARTITION OF jobs FOR VALUES FROM (1) TO (1000000);
    CREATE TABLE jobs_second (LIKE jobs INCLUDING ALL);
    INSERT INTO jobs_second SELECT 1000000 + n, 'x' FROM generate_series(0, 4999) AS n"""
INHERITED = """
    CREATE TABLE jobs (id bigserial PRIMARY KEY, payload text);
    CREATE TABLE jobs_0 (PRIMARY KEY (id)) INHERITS (jobs);
    CREATE RULE below AS ON INSERT TO jobs DO INSTEAD INSERT INTO jobs_0 VALUES (NEW.id, NEW.payload)"""
JOBS = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="id")


def work(url: str, watched: Watched, *, pushes: int = 20, pops: int = 10) -> None:
    """Push and pop in a session that reports its counters at its end, and wait for two polls."""
    with connected(url) as session:
        for _ in range(pushes):
            session.execute("INSERT INTO jobs (payload) VALUES ('x')")
        for _ in range(pops):
            session.execute("DELETE FROM jobs WHERE id = (SELECT id FROM jobs ORDER BY id LIMIT 1)")
    watched.view(polls=2)


@pytest.mark.parametrize("made", [HASHED, RANGED, INHERITED], ids=["by hash, in two levels", "by range", "inherited"])
def test_rates_sizes_and_dead_rows_are_those_of_all_partitions(database: str, made: str) -> None:
    query(database, made)
    with watching(database, [JOBS]) as watched:
        watched.queue("jobs", lambda q: q.push_rate.value == 0)
        work(database, watched)
        queue = watched.queue("jobs", lambda q: q.push_rate.value and q.pop_rate.value and q.use and q.use.dead)
        assert queue.window_s is not None
        assert queue.push_rate.value == pytest.approx(20 / queue.window_s, rel=0.01)
        assert queue.pop_rate.value == pytest.approx(10 / queue.window_s, rel=0.01)
        assert queue.ready.value == 10
        assert queue.bytes.value
        assert queue.use is not None
        assert (queue.use.dead or 0) >= 10
        assert {part.role for part in queue.use.parts} >= {"table", "primary"}
        assert all(part.bytes for part in queue.use.parts if made is not INHERITED or part.role == "table")


def test_a_partition_that_comes_or_goes_is_not_pushed_or_popped(database: str) -> None:
    query(database, RANGED)
    query(database, "INSERT INTO jobs (payload) SELECT 'x' FROM generate_series(1, 300)")
    with watching(database, [JOBS]) as watched:
        watched.queue("jobs", lambda q: q.push_rate.value == 0 and q.ready.value == 300)
        first = len(watched.views)
        query(database, "ALTER TABLE jobs ATTACH PARTITION jobs_second FOR VALUES FROM (1000000) TO (2000000)")
        watched.queue("jobs", lambda q: q.push_rate.value == 0 and q.ready.value == 5300)
        query(database, "ALTER TABLE jobs DETACH PARTITION jobs_second")
        watched.queue("jobs", lambda q: q.push_rate.value == 0 and q.ready.value == 300)
        query(database, "TRUNCATE jobs_first")
        watched.queue("jobs", lambda q: q.push_rate.value == 0 and q.ready.value == 0)
        seen = [q for view in watched.views[first:] if (q := view.queue("jobs")) is not None]
    assert all(not q.push_rate.value and not q.pop_rate.value for q in seen)
    assert all(q.ready.value in (None, 0, 300, 5300) or q.ready.at_least for q in seen)


def test_where_a_state_moves_a_message_to_another_partition_no_rate_is_told(database: str) -> None:
    query(
        database,
        """CREATE TABLE jobs (id bigserial, status text NOT NULL, PRIMARY KEY (id, status)) PARTITION BY LIST (status);
           CREATE TABLE jobs_ready PARTITION OF jobs FOR VALUES IN ('ready');
           CREATE TABLE jobs_rest PARTITION OF jobs DEFAULT;
           INSERT INTO jobs (status) SELECT 'ready' FROM generate_series(1, 20)""",
    )
    layout = Layout("jobs", "status", JOBS.table, id="id", state=StateColumn("status", "ready", "working", "done"))
    with watching(database, [layout]) as watched:
        watched.view(polls=2)
        query(database, "UPDATE jobs SET status = 'working' WHERE id <= 10")
        view = watched.view(polls=3)
    queue = view.queue("jobs")
    assert queue is not None
    assert queue.push_rate.value is None
    assert has(queue.push_rate.reason, Reason.PARTITIONED_BY_STATE)


BY_DAY = """
    CREATE TABLE job_queue (
        id bigserial, queue text NOT NULL, status text NOT NULL, locked_at timestamptz, attempts int DEFAULT 0,
        body text, day date NOT NULL DEFAULT current_date, PRIMARY KEY (id, day)
    ) PARTITION BY RANGE (day);
    CREATE TABLE job_queue_old PARTITION OF job_queue FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
    CREATE TABLE job_queue_new PARTITION OF job_queue FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
    CREATE INDEX ON job_queue (status, queue);
    INSERT INTO job_queue (queue, status) SELECT 'mails', 'ready' FROM generate_series(1, 30);
    INSERT INTO job_queue (queue, status, locked_at) VALUES ('mails', 'processing', now());
    ANALYZE"""
SEVERAL = Group(
    "jobs",
    ObjectName("public", "job_queue"),
    "id",
    (
        State("ready", "ready", OneOf(ColumnRef("status"), ("ready",))),
        State("in_progress", "in_progress", OneOf(ColumnRef("status"), ("processing",)), ColumnRef("locked_at")),
    ),
    queue=ColumnRef("queue"),
    source=LayoutSource.CONFIGURATION,
)


def test_the_parent_is_found_and_not_its_partitions(database: str) -> None:
    query(database, BY_DAY)
    connection = connect(database)
    try:
        found = resolve_queues(connection, engine_for(target_of(database)), ())
    finally:
        connection.close()
    (layout,) = found.layouts
    assert (layout.design, layout.key) == ("status", ("day", "id"))
    with watching(database, ()) as watched:
        queue = watched.queue("job_queue", lambda q: q.push_rate.value == 0 and q.in_progress.value == 1)
    assert queue.ready.value == 30


def test_several_queues_in_a_partitioned_table_follow_what_is_attached_and_detached(database: str) -> None:
    query(database, BY_DAY)
    query(database, "ALTER TABLE job_queue DETACH PARTITION job_queue_old")
    push = "INSERT INTO job_queue_old (queue, status, day) SELECT ?, 'ready', '2025-01-01' FROM generate_series(1, ?)"
    query(database, push, "reports", 5)
    query(database, push, "mails", 2)
    with watching(database, [SEVERAL]) as watched:
        watched.queue("jobs/mails", lambda q: q.ready.value == 30 and q.in_progress.value == 1)
        query(
            database,
            "ALTER TABLE job_queue ATTACH PARTITION job_queue_old FOR VALUES FROM (MINVALUE) TO ('2026-01-01')",
        )
        watched.queue("jobs/mails", lambda q: q.ready.value == 32)
        watched.queue("jobs/reports", lambda q: q.ready.value == 5)
        query(database, "ALTER TABLE job_queue DETACH PARTITION job_queue_old")
        watched.queue("jobs/mails", lambda q: q.ready.value == 30 and q.in_progress.value == 1)
        watched.queue("jobs/reports", lambda q: q.ready.value == 0)
        assert not [failure for view in watched.views for failure in view.failures]
