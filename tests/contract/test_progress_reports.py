"""Workers that update the row of their message while they work: such updates are no pops."""

from __future__ import annotations

import threading
from typing import Final

import pytest

from qmon.model.reasons import Reason
from qmon.model.verdicts.judge import HEALTHY
from tests.contract.watching import watching
from tests.facts import connected, query
from tests.meanwhile import meanwhile

pytestmark = pytest.mark.server

INTERVAL_S: Final = 0.5
REPORT_S: Final = 0.1

# For each column that a worker updates: the column, and the value that it writes.
REPORTED: Final = {
    "last_heartbeat": ("timestamptz", "clock_timestamp()"),
    "lease_until": ("timestamptz", "clock_timestamp() + interval '1 minute'"),
    "percent": ("int NOT NULL DEFAULT 0", "percent + 1"),
}


def create_jobs(url: str, column: str) -> None:
    """Create a table of jobs with a column that workers update while they work, and forty ready jobs."""
    query(
        url,
        "CREATE TABLE job_queue (id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'queued', payload jsonb,"
        f" created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, {column} {REPORTED[column][0]})",
    )
    query(url, "CREATE INDEX ON job_queue (status, id)")
    query(url, "INSERT INTO job_queue (payload) SELECT '{}' FROM generate_series(1, 40)")


def pop(url: str) -> None:
    """Mark the oldest ready job as in progress."""
    query(
        url,
        "UPDATE job_queue SET status = 'running', started_at = now()"
        " WHERE id = (SELECT min(id) FROM job_queue WHERE status = 'queued')",
    )


@pytest.mark.parametrize("column", REPORTED)
def test_a_worker_that_only_reports_its_progress_pops_nothing(database: str, column: str) -> None:
    create_jobs(database, column)
    pop(database)

    def report(over: threading.Event) -> None:
        with connected(database) as worker:
            while not over.wait(REPORT_S):
                worker.execute(f"UPDATE job_queue SET {column} = {REPORTED[column][1]} WHERE status = 'running'")

    with watching(database, interval_s=INTERVAL_S) as watch, meanwhile(report):
        queue = watch.view(
            lambda view: view.queues and view.queues[0].pop_rate.reason == Reason.UPDATES_ARE_NO_POPS
        ).queues[0]
    assert (queue.ready.value, queue.in_progress.value) == (39, 1)
    assert queue.complete_rate.value in (None, 0.0)
    # The purpose of `percent` is unknown, so the first updates counted as pops.
    assert queue.verdict.code != HEALTHY or column == "percent"


@pytest.mark.parametrize("column", ["last_heartbeat", "percent"])
def test_pops_are_counted_beside_a_column_that_no_worker_updates(database: str, column: str) -> None:
    create_jobs(database, column)

    def work(over: threading.Event) -> None:
        with connected(database) as worker:
            while not over.wait(REPORT_S):
                worker.execute("INSERT INTO job_queue (payload) VALUES ('{}')")
                worker.execute(
                    "UPDATE job_queue SET status = 'running', started_at = now()"
                    " WHERE id = (SELECT min(id) FROM job_queue WHERE status = 'queued')"
                )
                worker.execute(  # one job is always in progress
                    "UPDATE job_queue SET status = 'done' WHERE status = 'running'"
                    " AND id < (SELECT max(id) FROM job_queue WHERE status = 'running')"
                )

    with watching(database, interval_s=INTERVAL_S) as watch, meanwhile(work):
        queue = watch.view(
            lambda view: view.queues and (view.queues[0].window_s or 0.0) > 8 and view.queues[0].pop_rate.value
        ).queues[0]
    assert queue.pop_rate.value == pytest.approx(queue.push_rate.value, rel=0.3)
    assert queue.complete_rate.value == pytest.approx(queue.push_rate.value, rel=0.3)
