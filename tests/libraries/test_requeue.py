"""Requeue by qmon's operator: what real workers left behind when they were killed, and what died."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qmon.model.operations import Choice, OperationState, OwnerState
from tests.contract.operating import applied, lines
from tests.facts import query, wait_until
from tests.libraries.acting import OLD, layout_of, operator
from tests.libraries.every import LIBRARIES
from tests.libraries.library import ATTEMPTS, QUEUES, Event, Library, Worker, fates
from tests.libraries.pgmq import pgmq

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES


@pytest.fixture(params=LIBRARIES)
def made(request: pytest.FixtureRequest, database: str) -> tuple[Library, Callable[[], object]]:
    """Each library, its tables made in a fresh database; and how it is made."""
    library: Library = request.param()
    library.install(database)
    return library, request.param


def agree(library: Library, url: str, log: list[Event]) -> None:
    """While nothing moves, tables hold what the log says, and the library itself finds nothing wrong."""
    truth = library.truth(url)
    for queue, counts in fates(log, library.untold).items():
        assert {state: truth[queue][state] for state in counts} == counts, queue
    library.check(url)


def times(worker: Worker, id: str, kind: str) -> int:
    """How often a worker's log says something of a job."""
    return sum(event.id == id and event.event == kind for event in worker.events())


def test_the_job_of_a_killed_worker_is_requeued_and_worked_on_once(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, kind = made
    log = library.push(database, MAILS, ["stuck"])
    log += library.push(database, INVOICES, ["held by another"])
    id = log[0].id
    acting = operator(database, tmp_path)
    layout = layout_of(database, MAILS)
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    log += doomed.events()
    assert acting.requeue(layout, Choice()).plan.refused == "no message matches: nothing to do"

    query(database, OLD[kind])
    log += library.push(database, MAILS, ["waits"])
    with library.start(database, tmp_path, "another", [INVOICES], seconds_per_job=3600) as another:
        another.wait(1, "claimed")
        log += another.events()
        choice = Choice(ids=(_own(id),)) if kind is pgmq else Choice()
        prepared = acting.requeue(layout, choice)
        plan = prepared.plan
        assert (plan.refused, plan.count, [row.id for row in plan.first]) == (None, 1, [_own(id)])
        assert plan.queue.endswith(f"/{MAILS}")
        assert not plan.undo.possible
        before = library.truth(database)
        result = applied(prepared)
        assert (result.state, result.done, result.changed, result.skipped) == (OperationState.DONE, 1, 0, 0)
        after = library.truth(database)
        assert after[INVOICES] == before[INVOICES]
        assert after[MAILS]["in_progress"] == 0
        assert after[MAILS]["ready"] == 2
        library.check(database)
        assert [line["event"] for line in lines(acting.context)][-2:] == ["begin", "end"]
        assert acting.requeue(layout, choice).plan.refused == "no message matches: nothing to do"
        with library.start(database, tmp_path, "good", [MAILS]) as good:
            good.wait(2, "completed")
            good.stop()
    assert [times(good, id, kind) for kind in ("claimed", "completed", "retried", "failed")] == [1, 1, 0, 0]
    agree(library, database, log + good.events())


def _own(id: str) -> str:
    """The id as the table has it: the logs of pgmq's workers have the queue before it."""
    return id.rpartition("/")[2]


def test_what_ends_between_plan_and_apply_is_left_alone(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, kind = made
    log = library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    acting = operator(database, tmp_path)
    layout = layout_of(database, MAILS)
    choice = Choice(ids=(_own(log[0].id),)) if kind is pgmq else Choice()
    first, second = acting.requeue(layout, choice), acting.requeue(layout, choice)
    assert applied(first).done == 1
    with library.start(database, tmp_path, "slow", [MAILS], seconds_per_job=3600) as slow:
        slow.wait(1, "claimed")  # it is in progress again, but with somebody else
        wait_until(lambda: library.truth(database)[MAILS]["in_progress"] == 1, what="it says so")
        before = library.held(database)
        result = applied(second)
        assert (result.done, result.changed) == (0, 1)
        assert library.held(database) == before
        library.check(database)


def test_dead_jobs_are_retried(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, _ = made
    log = library.push(database, INVOICES, ["dead"], fails=ATTEMPTS)
    log += library.push(database, MAILS, ["dead, too"], fails=ATTEMPTS)
    acting = operator(database, tmp_path)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(2, "failed")
        worker.stop()
    assert library.truth(database)[INVOICES]["dead"] == 1
    (tmp_path / "mended").touch()
    wanted = Choice(state="dead")
    if not library.actions.retry:
        with pytest.raises(Exception, match="no messages that are dead"):
            acting.requeue(layout_of(database, INVOICES), wanted)
        return
    prepared = acting.requeue(layout_of(database, INVOICES), wanted)
    assert (prepared.plan.refused, [row.id for row in prepared.plan.first]) == (None, [log[0].id])
    assert applied(prepared).done == 1
    assert library.truth(database)[MAILS]["dead"] == 1
    library.check(database)
    with library.start(database, tmp_path, "again", QUEUES) as again:
        again.wait(1, "completed")
        again.stop()
    assert [times(again, log[0].id, kind) for kind in ("claimed", "completed")] == [1, 1]
    agree(library, database, log + worker.events() + again.events())


def test_the_job_of_a_worker_that_is_alive_is_left_alone(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    log = library.push(database, MAILS, ["at work"])
    acting = operator(database, tmp_path)
    layout = layout_of(database, MAILS)
    with library.start(database, tmp_path, "alive", [MAILS], seconds_per_job=3600) as alive:
        alive.wait(1, "claimed")
        wait_until(lambda: library.truth(database)[MAILS]["in_progress"] == 1, what="it says so")
        assert acting.requeue(layout, Choice()).plan.count == 0
        if layout.part is not None and layout.part.proves:
            by_id = Choice(ids=(log[0].id,))
            assert [each.why for each in acting.requeue(layout, by_id).plan.left_out] == ["owner alive"]
            sure = Choice(ids=(log[0].id,), owner_states=frozenset(OwnerState))
            assert acting.requeue(layout, sure).plan.risks
        assert library.truth(database)[MAILS]["in_progress"] == 1
