"""Requeue, retry and purge in libraries whose workers do not run here, on recreated tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.operation_records import Choice, OwnerState
from qmon.operate.libraries.chosen_messages import LibraryChoiceText
from qmon.operate.libraries.library_actions import LibraryActionText
from tests.contract.operating import applied
from tests.facts import connected, query
from tests.libraries.acting import layout_of, operator
from tests.libraries.tables import DELAYED_JOB, GOOD_JOB, LARAVEL, RIVER, SYMFONY, Made
from tests.wordings import pattern

pytestmark = pytest.mark.server

MORE = {
    RIVER.name: "ALTER TABLE river_job ADD metadata jsonb NOT NULL DEFAULT '{}';",
    GOOD_JOB.name: """
ALTER TABLE good_jobs ADD updated_at timestamp, ADD error_event smallint, ADD batch_id uuid;
UPDATE good_jobs SET serialized_params = '{"executions": 2}';
CREATE TABLE good_job_executions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), active_job_id uuid NOT NULL, updated_at timestamp,
    finished_at timestamp, error text, error_event smallint
);
INSERT INTO good_job_executions (active_job_id, finished_at) SELECT id, finished_at FROM good_jobs;
""",
}


@dataclass(frozen=True)
class Acted:
    """A library's tables, the queues with a stuck or a dead job, and SQL conditions that are true afterwards."""

    tables: Made
    stuck: str
    requeued: str
    dead: str = ""
    retried: str = ""


ALL = [
    Acted(
        RIVER,
        "default",
        "state = 'available' AND scheduled_at <= now() AND max_attempts > attempt AND errors[1] ->> 'attempt' = '1'"
        " AND metadata = '{\"river:rescue_count\": 1}'",
        "mails",
        "state = 'available' AND finalized_at IS NULL AND max_attempts > attempt",
    ),
    Acted(
        GOOD_JOB,
        "default",
        "performed_at IS NULL AND finished_at IS NULL AND locked_by_id IS NULL AND NOT EXISTS"
        " (SELECT FROM good_job_executions AS e WHERE e.active_job_id = q.id AND e.error_event IS DISTINCT FROM 0)",
        "mails",
        "finished_at IS NULL AND performed_at IS NULL AND error_event = 3 AND serialized_params ->> 'executions' = '3'",
    ),
    Acted(
        DELAYED_JOB,
        "mails",
        "locked_at IS NULL AND locked_by IS NULL AND failed_at IS NULL",
        "mails",
        "failed_at IS NULL AND attempts = 0 AND run_at <= timezone('UTC', now())",
    ),
    Acted(LARAVEL, "mails", "reserved_at IS NULL AND available_at <= extract(epoch FROM now())"),
    Acted(SYMFONY, "default", "delivered_at IS NULL"),
]


@pytest.fixture(params=ALL, ids=lambda acted: acted.tables.name)
def acted(request: pytest.FixtureRequest, database: str) -> Acted:
    """Each library, with its tables in a fresh database."""
    made: Acted = request.param
    query(database, made.tables.tables + MORE.get(made.tables.name, ""))
    return made


def test_what_is_stuck_is_requeued_and_nothing_else_changes(acted: Acted, database: str, tmp_path: Path) -> None:
    acting, layout = operator(database, tmp_path), layout_of(database, acted.stuck)
    choice = (
        Choice(owner_states=frozenset({OwnerState.DEAD, OwnerState.UNKNOWN}))
        if acted.tables is DELAYED_JOB
        else Choice()
    )
    rows = f"SELECT q.id::text, q::text FROM {layout.table.name} AS q"
    before = set(query(database, rows))
    prepared, late = acting.requeue(layout, choice), acting.requeue(layout, choice)
    assert (prepared.plan.refused, prepared.plan.count) == (None, 1)
    (planned,) = prepared.plan.first
    assert applied(prepared).done == 1
    assert {id for id, _ in set(query(database, rows)) - before} == {planned.id}
    found = query(database, f"SELECT q.id::text FROM {layout.table.name} AS q WHERE {acted.requeued}")
    assert (planned.id,) in found
    after = set(query(database, rows))
    assert applied(late).changed == 1
    assert set(query(database, rows)) == after


def test_what_is_dead_is_tried_again_and_nothing_else_changes(acted: Acted, database: str, tmp_path: Path) -> None:
    acting = operator(database, tmp_path)
    if not acted.dead:
        with pytest.raises(BadInput, match=pattern(LibraryChoiceText.NO_SUCH_MESSAGES)):
            acting.requeue(layout_of(database, acted.stuck), Choice(state="dead"))
        return
    layout = layout_of(database, acted.dead)
    rows = f"SELECT q.id::text, q::text FROM {layout.table.name} AS q"
    before = set(query(database, rows))
    prepared, late = (acting.requeue(layout, Choice(state="dead")) for _ in range(2))
    (planned,) = prepared.plan.first
    assert applied(prepared).done == 1
    assert {id for id, _ in set(query(database, rows)) - before} == {planned.id}
    found = query(database, f"SELECT q.id::text FROM {layout.table.name} AS q WHERE {acted.retried}")
    assert (planned.id,) in found
    assert applied(late).changed == 1


def test_what_river_was_to_cancel_is_left_alone(database: str, tmp_path: Path) -> None:
    cancelled = "UPDATE river_job SET metadata = '{\"cancel_attempted_at\": \"now\"}' WHERE state = 'running'"
    query(database, RIVER.tables + MORE[RIVER.name] + cancelled)
    result = applied(operator(database, tmp_path).requeue(layout_of(database, "default"), Choice()))
    assert (result.done, result.changed) == (0, 1)


def test_what_a_worker_of_good_job_holds_is_left_alone(database: str, tmp_path: Path) -> None:
    query(database, GOOD_JOB.tables + MORE[GOOD_JOB.name])
    acting, mails = operator(database, tmp_path), layout_of(database, "mails")
    with connected(database) as worker:
        worker.execute(
            "SELECT pg_advisory_lock(('x' || substr(md5('good_jobs-' || id), 1, 16))::bit(64)::bigint) FROM good_jobs"
        )
        for prepared in (
            acting.requeue(layout_of(database, "default"), Choice()),
            acting.requeue(mails, Choice(state="dead")),
            acting.purge(mails, Choice(state="ready")),
        ):
            result = applied(prepared)
            assert (result.done, result.changed) == (0, prepared.plan.count)


def test_good_jobs_are_discarded_and_destroyed(database: str, tmp_path: Path) -> None:
    query(database, GOOD_JOB.tables + MORE[GOOD_JOB.name])
    query(
        database,
        "UPDATE good_jobs SET batch_id = gen_random_uuid() WHERE queue_name = 'mails' AND scheduled_at > now()",
    )
    acting, layout = operator(database, tmp_path), layout_of(database, "mails")
    assert applied(acting.purge(layout, Choice())).done == 1
    prepared = acting.purge(layout, Choice(state="ready"))
    assert prepared.plan.undo.notes == (LibraryActionText.NO_UNDO_TABLES.render(tables="public.good_job_executions"),)
    assert applied(prepared).done == 2
    discarded = "SELECT count(*) FROM good_jobs WHERE error_event = 5 AND finished_at IS NOT NULL"
    assert query(database, discarded) == [(2,)]
    orphans = "SELECT FROM good_job_executions AS e WHERE NOT EXISTS (SELECT FROM good_jobs WHERE id = e.active_job_id)"
    assert query(database, f"SELECT count(*) FROM ({orphans}) AS o") == [(0,)]
    assert query(database, "SELECT count(*) FROM good_jobs WHERE error = 'RuntimeError'") == [(0,)]
    result = applied(acting.purge(layout, Choice(state="scheduled")))
    assert (result.done, result.changed) == (0, 1)
    assert applied(acting.purge(layout, Choice())).done == 2
