"""Messages that cannot run: a lock, another job or the application holds them back."""

from __future__ import annotations

import pytest

from qmon.monitor.one_shot import view_after
from tests.cli.calling import call
from tests.facts import query
from tests.libraries.graphile import Graphile
from tests.libraries.library import QUEUES
from tests.libraries.test_figures import of_queue
from tests.queues import target_of
from tests.schemas import valid

pytestmark = pytest.mark.server

MAILS, _ = QUEUES


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
    queue = of_queue(view_after(target_of(database), polls=2, interval_s=0.5), MAILS)
    assert (queue.ready.value, queue.blocked.value) == (0, 200)
    assert 2 * 86_400 <= (queue.blocked_oldest.value or 0) < 2 * 86_400 + 600
    assert queue.verdict.code == "blocked"
    assert queue.verdict.proof == (
        "200 blocked, the oldest for 2 d 00 h: their job queue is locked;"
        " they wait for one by one, held by worker-gone for 3 d 00 h"
    )
    checked = call("check", database)
    assert checked.exit_code == 1, checked.output
    assert "blocked: 200 blocked" in checked.output
    told = valid(call("status", database, "--output", "json").output, "status")
    (found,) = [each for each in told["queues"] if each["name"].endswith(MAILS)]
    (blocker,) = found["blocked_by"]
    assert (found["blocked"], blocker["name"], blocker["messages"]) == (200, "one by one", 200)
