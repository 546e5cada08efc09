"""Messages that cannot run: a lock, another job or the application blocks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from qmon.libraries.library import group_for
from qmon.libraries.library_catalog import all_libraries
from qmon.model.groups.conditions import AllOf, AnyOf, Condition, OneOf
from qmon.model.layout.layout import ObjectName
from qmon.model.status_report import queue_object
from qmon.model.verdicts.flow_verdicts import FlowText
from tests.cli.calling import call
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.figures import of_queue
from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import QUEUES, Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.schemas import valid
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS, _ = QUEUES


def waits(blockers: str) -> str:
    return FlowText.WAIT_FOR.render(blockers=blockers, more="")


def test_a_job_queue_of_graphile_worker_that_was_locked_days_ago_is_neither_empty_nor_ok(database: str) -> None:
    library = Graphile()
    library.install(database)
    library.push(database, MAILS, [f"behind {n}" for n in range(200)], serial="one by one")
    query(
        database,
        "UPDATE graphile_worker._private_job_queues"
        " SET locked_at = now() - interval '3 days', locked_by = 'worker-gone' RETURNING id",
    )
    query(database, "UPDATE graphile_worker._private_jobs SET run_at = now() - interval '2 days' RETURNING id")
    with watching(database) as watched:
        view = watched.view(lambda view: any("worker-gone" in queue.verdict.proof for queue in view.queues))
    queue = of_queue(view, MAILS)
    assert (queue.ready.value, queue.blocked.value) == (0, 200)
    assert 2 * 86_400 <= (queue.blocked_oldest.value or 0) < 2 * 86_400 + 600
    assert queue.verdict.code == "blocked"
    assert queue.verdict.proof == FlowText.BLOCKED.render(
        more="",
        count=200.0,
        oldest=FlowText.OLDEST_FOR.render(age="2 d 00 h"),
        why=": the job queue is locked",
        waits=waits("one by one" + FlowText.HELD_BY.render(holder="worker-gone") + FlowText.FOR.render(age="3 d 00 h")),
    )
    checked = call("check", database)
    assert checked.exit_code == 1, checked.output
    assert has(checked.output, FlowText.BLOCKED, count=200.0)
    told = valid(call("status", database, "--output", "json").output, "status")
    (found,) = [each for each in told["queues"] if each["name"].endswith(MAILS)]
    assert found["blocked"] == 200
    (blocker,) = queue_object(queue)["blocked_by"]
    assert (blocker["name"], blocker["holder"], blocker["messages"]) == ("one by one", "worker-gone", 200)


# A statement that blocks all jobs of a library, and the reason in the verdict.
HELD_BACK: Final[list[tuple[Callable[[], Library], str, str]]] = [
    (oban, "UPDATE oban_jobs SET state = 'suspended' RETURNING id", "the application has suspended the jobs"),
    (
        PgBoss,
        "UPDATE pgboss.job SET blocked = true, pending_dependencies = 1 RETURNING id",
        "other jobs must be completed first",
    ),
    (
        procrastinate,
        "WITH held AS (UPDATE procrastinate_jobs SET lock = 'account 7' RETURNING id)"
        " INSERT INTO procrastinate_jobs (queue_name, task_name, status, lock)"
        " SELECT 'elsewhere', 'task', 'doing', 'account 7' FROM (SELECT count(*) FROM held) AS h RETURNING id",
        "a job with the same lock is in progress" + waits("account 7"),
    ),
    (
        firm_queue,
        "WITH gone AS (DELETE FROM firm_queue_ready_executions RETURNING job_id, queue_name, priority, created_at)"
        " INSERT INTO firm_queue_blocked_executions"
        " (job_id, queue_name, priority, concurrency_key, expires_at, created_at)"
        " SELECT job_id, queue_name, priority, 'account 7', created_at, created_at FROM gone RETURNING job_id",
        "the limit of jobs in progress with the same concurrency key is reached" + waits("account 7"),
    ),
]


@pytest.mark.parametrize(("make", "hold", "why"), HELD_BACK)
def test_jobs_that_are_held_back_are_blocked_and_no_queue_of_them_is_empty(
    make: Callable[[], Library], hold: str, why: str, database: str
) -> None:
    library = make()
    library.install(database)
    library.push(database, MAILS, ["one", "two"])
    query(database, hold)
    with watching(database) as watched:
        view = watched.view(lambda view: any(queue.verdict.proof.endswith(f": {why}") for queue in view.queues))
    queue = of_queue(view, MAILS)
    assert (queue.ready.value, queue.blocked.value, queue.failures) == (0, 2, ())
    assert 0 <= (queue.blocked_oldest.value or 0) < 60
    assert queue.verdict.code == "blocked"


def values_of(condition: Condition, column: str) -> set[str]:
    """Return the values of a column that a condition names."""
    match condition:
        case OneOf(found, values) if found.name == column:
            return set(map(str, values))
        case AllOf(of) | AnyOf(of):
            return {value for each in of for value in values_of(each, column)}
    return set()


# Ended rows are deleted from the table and logged in another one.
LOGGED: Final = {"pgqueuer": {"successful", "exception", "canceled", "deleted"}}


@pytest.mark.parametrize(
    ("make", "table", "column"),
    [
        (procrastinate, "procrastinate_jobs", "status"),
        (oban, "oban_jobs", "state"),
        (pgqueuer, "pgqueuer", "status"),
        (PgBoss, "pgboss.job", "state"),
    ],
)
def test_each_label_of_a_real_state_column_belongs_to_a_state(
    make: Callable[[], Library], table: str, column: str, database: str
) -> None:
    library = make()
    library.install(database)
    labels = query(
        database,
        "SELECT e.enumlabel::text FROM pg_attribute AS a JOIN pg_enum AS e ON e.enumtypid = a.atttypid"
        " WHERE a.attrelid = CAST(? AS regclass) AND a.attname = ?",
        table,
        column,
    )
    found = []
    for known in all_libraries():
        if known.name.lower() == library.name.lower():  # one for each version
            group = group_for(known, 1, "", ObjectName("s", table.rpartition(".")[2]), "x")
            classified = {value for state in group.states for value in values_of(state.when, column)}
            found.append(classified | LOGGED.get(known.name, set()))
    assert {str(label) for (label,) in labels} in found
