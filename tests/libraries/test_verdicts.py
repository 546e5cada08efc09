"""Verdicts on libraries' queues that do not move: a worker was killed, or no worker claims jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from qmon.model.verdicts.flow_verdicts import FlowText
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.every import LIBRARIES
from tests.libraries.figures import of_queue
from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import QUEUES, Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.wordings import has

pytestmark = pytest.mark.server

# The verdict's hold times are over: 20 s for a waiting message if pops are not visible, and 10 s for the evidence.
HOLD_S: Final = 45.0
# SQL that makes time pass: for a heartbeat, or for a job in progress longer than allowed.
LATE: Final[list[tuple[Callable[[], Library], str]]] = [
    (procrastinate, "UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '10 m'"),
    (oban, "UPDATE oban_producers SET updated_at = updated_at - interval '10 m'"),
    (firm_queue, "UPDATE firm_queue_processes SET last_heartbeat_at = last_heartbeat_at - interval '10 m'"),
    (pgqueuer, "UPDATE pgqueuer SET heartbeat = heartbeat - interval '10 m'"),
    (PgBoss, "UPDATE pgboss.job SET started_on = now() - 2 * expire_seconds * interval '1 s' WHERE state = 'active'"),
    (Graphile, "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '1 h'"),
]


@pytest.mark.parametrize(("make", "later"), LATE)
def test_the_job_of_a_worker_that_was_killed_is_named(
    make: Callable[[], Library], later: str, database: str, tmp_path: Path
) -> None:
    library = make()
    library.install(database)
    _, invoices = QUEUES
    library.push(database, invoices, ["stuck"])
    with library.start(database, tmp_path, "doomed", [invoices], seconds_per_job=3600) as doomed:
        doomed.wait(1, "claimed")
        with watching(database) as watched:
            view = watched.view(lambda view: any(queue.in_progress.value == 1 for queue in view.queues), polls=3)
            assert not [queue.verdicts for queue in view.queues if "stuck in progress" in str(queue.verdicts)]
            doomed.kill()
            query(database, later)
            view = watched.view(lambda view: of_queue(view, invoices).verdict.code == "stuck in progress")
    evidence = of_queue(view, invoices).verdict.proof
    (id,) = library.held(database)
    if library.names_workers:
        assert has(evidence, FlowText.MESSAGE_OF_OWNER, message=id)
    others = [queue for queue in view.queues if not queue.name.endswith(f"/{invoices}")]
    assert not [queue for queue in others if queue.verdict.code == "stuck in progress"]


# Libraries whose tables show which workers are alive.
WRITE_DOWN_WORKERS = ("procrastinate", "Oban", "firm-queue")


@pytest.mark.long
@pytest.mark.parametrize("make", LIBRARIES)
def test_ready_messages_that_nobody_takes_are_named_after_their_time(
    make: Callable[[], Library], database: str, tmp_path: Path
) -> None:
    library = make()
    library.install(database)
    mails, _ = QUEUES
    for name in QUEUES:
        library.push(database, name, ["first"])
    with watching(database) as watched:
        with library.start(database, tmp_path, "worker", QUEUES, seconds_per_job=0.05) as worker:
            for number in range(6):
                library.push(database, mails, [f"{number}/{n}" for n in range(10)])
                worker.wait(10 * number, "completed", timeout=120)
            worker.stop()
        said = {
            queue.verdict.code for view in watched.views for queue in view.queues if queue.name.endswith(f"/{mails}")
        }
        assert not {"no pops", "no consumers"} & said
        library.push(database, mails, ["left alone"])
        left = watched.view(lambda view: of_queue(view, mails).ready.value)
        code = "no consumers" if library.name in WRITE_DOWN_WORKERS else "no pops"
        view = watched.view(lambda view: of_queue(view, mails).verdict.code == code)
    assert 8 <= view.sampled_at - left.sampled_at <= HOLD_S


def test_workers_are_counted_where_it_is_written_down_which_queue_they_serve(database: str, tmp_path: Path) -> None:
    library = oban()
    library.install(database)
    for name in QUEUES:
        library.push(database, name, ["first"])
    mails, invoices = QUEUES
    with library.start(database, tmp_path, "worker", [mails]) as worker, watching(database) as watched:
        worker.wait(1, "completed")
        view = watched.view(lambda view: of_queue(view, mails).consumers.value == 1)
        assert of_queue(view, invoices).consumers.value == 0
        view = watched.view(lambda view: of_queue(view, invoices).verdict.code == "no consumers")
        proof = FlowText.READY_BUT.render(ready=1.0, why=FlowText.NO_LIBRARY_WORKER, gone="")
        assert of_queue(view, invoices).verdict.proof == proof
        assert of_queue(view, mails).verdict.code == "empty"
