"""Messages in progress without a usable start time may be stuck, so the queue is not healthy."""

from __future__ import annotations

import pytest

from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from tests.contract.watching import watching
from tests.facts import query
from tests.wordings import has

pytestmark = pytest.mark.server
TABLE = "CREATE TABLE jobs (id int PRIMARY KEY, status text, created_at timestamptz, started_at timestamptz)"
LAYOUT = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "new", "processing"),
    enqueued_at="created_at",
    started_at="started_at",
)
# Ways to read the figure: from an index, from one in the order of starts, and by a scan of the table.
INDEXES = {"state": "(status, id)", "oldest first": "(started_at) WHERE status = 'processing'", "none": ""}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
@pytest.mark.parametrize("start", ["NULL", "'infinity'", "'-infinity'"])
def test_messages_without_a_start_are_never_certainly_not_stuck(database: str, start: str, index: str) -> None:
    query(database, TABLE)
    if index:
        query(database, f"CREATE INDEX ON jobs {index}")
    query(
        database,
        f"INSERT INTO jobs SELECT i, 'processing', now() - interval '3 days', {start} FROM generate_series(1, 5) i",
    )
    query(database, "INSERT INTO jobs VALUES (6, 'processing', now(), now())")
    with watching(database, [LAYOUT]) as watched:
        view = watched.view(lambda v: v.queues[0].stuck.value is not None, polls=3)
        (queue,) = view.queues
        assert (queue.stuck.value, queue.stuck.at_least) == (0, True)
        assert queue.stuck.reason == Reason.UNTIMED.render(column="started_at", untimed=5, count=6)
        assert queue.verdict.code == "cannot tell"
        assert has(queue.verdict.proof, Reason.UNTIMED)
        assert check_target(view, ()).state is CheckState.UNKNOWN
        query(database, "UPDATE jobs SET started_at = now() - interval '1 hour' WHERE id = 1")
        queue = watched.queue("jobs", lambda q: q.verdict.code == "stuck in progress")
        assert (queue.stuck.value, queue.stuck.at_least) == (1, True)
        query(database, "UPDATE jobs SET started_at = now()")
        queue = watched.queue("jobs", lambda q: q.stuck.value == 0 and not q.stuck.at_least)
        assert queue.verdict.code != "stuck in progress"


def test_where_no_message_has_a_start_the_reason_names_the_column(database: str) -> None:
    query(database, TABLE)
    query(database, "CREATE INDEX ON jobs (status, id)")
    query(database, "INSERT INTO jobs SELECT i, 'processing', now(), NULL FROM generate_series(1, 3) i")
    with watching(database, [LAYOUT]) as watched:
        queue = watched.queue("jobs", lambda q: q.in_progress.value == 3)
        assert queue.stuck.reason == Reason.UNTIMED.render(column="started_at", untimed=3, count=3)
