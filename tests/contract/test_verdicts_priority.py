"""The heads of priorities on a real server: found with the index, for ready messages only."""

from __future__ import annotations

import threading

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.snapshot import Snapshot
from qmon.monitor.open import open_poller
from qmon.monitor.source import SourceState
from tests.contract.watching import target_of
from tests.facts import query


@pytest.mark.parametrize("with_state", [False, True])
def test_the_oldest_message_of_each_priority_is_found(database: str, with_state: bool) -> None:
    query(
        database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, prio int NOT NULL, at timestamptz, st text DEFAULT 'r')"
    )
    where = "WHERE st = 'r'" if with_state else ""
    query(database, f"CREATE INDEX ON jobs (prio, id) {where}")
    query(
        database,
        "INSERT INTO jobs (prio, at) SELECT n % 3 - 1, now() - interval '1 m' FROM generate_series(1, 30) AS n",
    )
    gone = "UPDATE jobs SET st = 'd' WHERE id <= 4" if with_state else "DELETE FROM jobs WHERE id <= 4"
    query(database, gone)
    layout = Layout(
        "jobs",
        "status" if with_state else "fifo",
        ObjectName("public", "jobs"),
        id="id",
        enqueued_at="at",
        priority="prio",
        state=StateColumn("st", "r", "w") if with_state else None,
    )
    seen: list[Snapshot] = []
    arrived = threading.Event()

    def sink(event: Snapshot | SourceState) -> None:
        if isinstance(event, Snapshot):
            seen.append(event)
            arrived.set()

    poller = open_poller(target_of(database), [layout], interval_s=0.5)
    poller.start(sink)
    try:
        assert arrived.wait(30)
    finally:
        poller.close()
    (queue,) = seen[0].queues
    assert queue.diagnostics.priorities is not None
    assert [(p.priority, p.head_id) for p in queue.diagnostics.priorities] == [(-1, "6"), (0, "7"), (1, "5")]
    assert all(p.oldest_s is not None and p.oldest_s >= 60 for p in queue.diagnostics.priorities)
    assert seen[0].failures == ()
