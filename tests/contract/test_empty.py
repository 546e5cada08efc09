"""A queue that is counted only by scans is empty as soon as its last message is gone, and never before."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.view import QueueView
from qmon.monitor.one_shot import view_over
from tests.contract.watching import target_of, watching
from tests.facts import connected, query

STATES: Final = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="seq",
    key=("tenant", "seq"),
    state=StateColumn("status", "ready", "working", "done", "dead", "held"),
    due_at="due_at",
)
DELETES: Final = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="seq", key=("tenant", "seq"), due_at="due_at")
NO_KEY: Final = Layout("jobs", "status", ObjectName("public", "jobs"), state=STATES.state, started_at="started_at")
COLUMNS: Final = """tenant int NOT NULL DEFAULT 1, seq int GENERATED ALWAYS AS IDENTITY, status text DEFAULT 'ready',
    due_at timestamptz, started_at timestamptz, payload text, PRIMARY KEY (tenant, seq)"""
ONLY_DONE: Final = "UPDATE jobs SET status = CASE seq % 2 WHEN 0 THEN 'done' ELSE 'dead' END"
ALL_LATER: Final = "UPDATE jobs SET due_at = now() + interval '1 day'"
CASES: Final = (
    (STATES, "TRUNCATE jobs", False),
    (STATES, "TRUNCATE jobs", True),
    (STATES, "DELETE FROM jobs", True),
    (STATES, ONLY_DONE, False),
    (STATES, ALL_LATER, False),
    (DELETES, "TRUNCATE jobs", True),
    (DELETES, "DELETE FROM jobs", False),
    (DELETES, ALL_LATER, False),
    (NO_KEY, "TRUNCATE jobs", False),
    (NO_KEY, ONLY_DONE, True),
)


def made(url: str, rows: int = 50, *, partitions: bool = False, filler: int = 10) -> None:
    query(url, f"CREATE TABLE jobs ({COLUMNS}) {'PARTITION BY LIST (tenant)' if partitions else ''}")
    if partitions:
        query(url, "CREATE TABLE jobs_1 PARTITION OF jobs FOR VALUES IN (1)")
        query(url, "CREATE TABLE jobs_2 PARTITION OF jobs FOR VALUES IN (2)")
    more = f"SELECT {'1 + n % 2' if partitions else 1}, repeat('x', {filler}) FROM generate_series(1, {rows}) AS n"
    query(url, f"INSERT INTO jobs (tenant, payload) {more}")


def is_empty(queue: QueueView) -> bool:
    return queue.verdict.code == "empty"


@pytest.mark.parametrize(("layout", "change", "partitions"), CASES)
def test_a_queue_whose_messages_are_gone_is_empty(database: str, layout: Layout, change: str, partitions: bool) -> None:
    made(database, partitions=partitions)
    with watching(database, [layout]) as watched:
        watched.queue("jobs", lambda q: q.ready.value == 50)
        query(database, change)
        queue = watched.queue("jobs", is_empty)
        assert (queue.ready.text(), queue.in_progress.text()) == ("0", "0")
        query(database, "INSERT INTO jobs (payload) VALUES ('late')")
        assert watched.queue("jobs", lambda q: not is_empty(q)).ready.value in (None, 0, 1)
        watched.queue("jobs", lambda q: q.ready.value == 1)


def test_a_single_look_finds_that_a_queue_is_empty(database: str) -> None:
    made(database, 0)
    assert view_over(target_of(database), [STATES], over_s=1.0).queues[0].verdict.code == "empty"
    query(database, "INSERT INTO jobs (status) VALUES ('working')")
    assert view_over(target_of(database), [STATES], over_s=1.0).queues[0].verdict.code != "empty"


@pytest.mark.parametrize("status", ["working", "held", "on_hold", None])
def test_a_message_that_is_left_in_any_state_keeps_the_queue_from_being_empty(
    database: str, status: str | None
) -> None:
    made(database, 3)
    query(database, "UPDATE jobs SET status = ? WHERE seq = 3", status)
    query(database, "DELETE FROM jobs WHERE seq < 3")
    with watching(database, [STATES]) as watched:
        watched.queue("jobs", lambda q: q.ready.value == 0)
        watched.view(polls=3)
        assert not any(is_empty(queue) for view in watched.views for queue in view.queues)


def test_messages_that_a_consumer_has_deleted_and_not_committed_are_still_there(database: str) -> None:
    made(database, 3)
    with connected(database) as consumer:
        consumer.autocommit = False
        consumer.execute("DELETE FROM jobs")
        with watching(database, [DELETES]) as watched:
            watched.queue("jobs", lambda q: q.ready.value is not None)
            watched.view(polls=2)
            assert not any(is_empty(queue) for view in watched.views for queue in view.queues)
            consumer.commit()
            watched.queue("jobs", is_empty)


def test_a_large_table_of_dead_rows_is_not_searched_and_is_empty_once_it_is_vacuumed(database: str) -> None:
    made(database, 6000, filler=1500)
    query(database, "ALTER TABLE jobs SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)")
    query(database, "DELETE FROM jobs")
    with watching(database, [STATES]) as watched:
        queue = watched.queue("jobs", lambda q: q.ready.value == 0)
        assert queue.ready.estimated
        watched.view(polls=2)
        assert not any(is_empty(queue) for view in watched.views for queue in view.queues)
        query(database, "VACUUM jobs")
        watched.queue("jobs", is_empty)
