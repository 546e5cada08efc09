"""Requeue with qmon's operator: jobs that killed workers left behind, and dead jobs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from qmon.errors import BadInput
from qmon.libraries.library import group_for
from qmon.libraries.library_catalog import all_libraries
from qmon.model.layout.layout import ObjectName
from qmon.model.operation_records import (
    Choice,
    OperationKind,
    OperationState,
    OperationText,
    OwnerState,
    Progress,
    Side,
)
from qmon.operate.libraries.chosen_messages import LibraryChoiceText
from qmon.operate.libraries.library_pause import LibraryPauseText
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.run.failure_watch import FailureText
from qmon.tui.actions.request import ActionRequest
from tests.cli.calling import call
from tests.contract.hostile import role
from tests.contract.hostile_tables import ROLE
from tests.contract.operating import applied, lines
from tests.facts import query, wait_until
from tests.libraries.acting import OLD, agree, each_made, layout_of, operator, own_id, times
from tests.libraries.every import LIBRARIES
from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.libraries.pgmq import pgmq
from tests.libraries.procrastinate import procrastinate
from tests.schemas import valid
from tests.tui.live import looking
from tests.wordings import has, pattern

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES


made = each_made(LIBRARIES)


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
    assert acting.requeue(layout, Choice()).plan.refused == OperationText.NO_MESSAGE

    query(database, OLD[kind])
    log += library.push(database, MAILS, ["waits"])
    with library.start(database, tmp_path, "another", [INVOICES], seconds_per_job=3600) as another:
        another.wait(1, "claimed")
        log += another.events()
        choice = stuck(kind, id)
        if kind is Graphile:
            plan = acting.requeue(layout, Choice()).plan
            assert [each.why for each in plan.left_out] == [
                ExclusionText.OWNER_UNKNOWN_BECAUSE.render(reason=LibraryChoiceText.NAME_PROVES_NOTHING)
            ]
        prepared = acting.requeue(layout, choice)
        plan = prepared.plan
        assert (plan.refused, plan.count, [row.id for row in plan.first]) == (None, 1, [own_id(id)])
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
        assert acting.requeue(layout, choice).plan.refused == OperationText.NO_MESSAGE
        with library.start(database, tmp_path, "good", [MAILS]) as good:
            good.wait(2, "completed")
            good.stop()
    assert [times(good, id, kind) for kind in ("claimed", "completed", "retried", "failed")] == [1, 1, 0, 0]
    agree(library, database, log + good.events())


def stuck(kind: object, id: str) -> Choice:
    """The evidence that a job is stuck: the library, the operator who knows its worker, or its id."""
    if kind is pgmq:
        return Choice(ids=(own_id(id),))
    return UNKNOWN if kind is Graphile else Choice()


UNKNOWN = Choice(owner_states=frozenset({OwnerState.DEAD, OwnerState.UNKNOWN}))


@pytest.mark.parametrize("ends", [True, False])
def test_what_ends_or_is_taken_anew_between_plan_and_apply_is_left_alone(
    made: tuple[Library, Any], database: str, tmp_path: Path, ends: bool
) -> None:
    library, kind = made
    log = library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    acting = operator(database, tmp_path)
    layout = layout_of(database, MAILS)
    choice = stuck(kind, log[0].id)
    first, second = acting.requeue(layout, choice), acting.requeue(layout, choice)
    assert applied(first).done == 1
    with library.start(database, tmp_path, "next", [MAILS], seconds_per_job=0 if ends else 3600) as worker:
        worker.wait(1, "completed" if ends else "claimed")
        wait_until(lambda: library.truth(database)[MAILS]["in_progress"] == (not ends), what="it says so")
        before = library.truth(database), library.held(database)
        result = applied(second)
        assert (result.done, result.changed) == (0, 1)
        assert (library.truth(database), library.held(database)) == before
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
        with pytest.raises(BadInput, match=pattern(LibraryChoiceText.NO_SUCH_MESSAGES)):
            acting.requeue(layout_of(database, INVOICES), wanted)
        return
    layout = layout_of(database, INVOICES)
    assert acting.requeue(layout, wanted).plan.count == 1
    assert acting.redrive(layout, Choice(payload="no such text")).plan.count == 0
    if layout.error is not None:
        assert acting.redrive(layout, Choice(error="no such text")).plan.count == 0
    prepared = acting.redrive(layout, Choice())
    assert (prepared.plan.refused, [row.id for row in prepared.plan.first]) == (None, [log[0].id])
    assert (layout.error is None) or prepared.plan.first[0].error
    result = applied(prepared)
    assert (result.done, result.notes) == (1, (FailureText.SUMMARY.render(failed=0, finished=0, rest=1),))
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
    library, kind = made
    log = library.push(database, MAILS, ["at work"])
    acting = operator(database, tmp_path)
    layout = layout_of(database, MAILS)
    with library.start(database, tmp_path, "alive", [MAILS], seconds_per_job=3600) as alive:
        alive.wait(1, "claimed")
        wait_until(lambda: library.truth(database)[MAILS]["in_progress"] == 1, what="it says so")
        assert acting.requeue(layout, Choice()).plan.count == 0
        with pytest.raises(BadInput, match=pattern(ChoiceText.NOT_IDS)):
            acting.requeue(layout, Choice(ids=("no id",)))
        unknown = acting.requeue(
            layout, Choice(ids=("0" if log[0].id.isdigit() else "0" if kind is pgmq else str(uuid4()),))
        )
        assert [(each.count, each.why) for each in unknown.plan.left_out] == [(1, ExclusionText.NOT_FOUND)]
        if layout.part is not None and layout.part.proves:
            by_id = Choice(ids=(log[0].id,))
            assert [each.why for each in acting.requeue(layout, by_id).plan.left_out] == [ExclusionText.OWNER_ALIVE]
            sure = Choice(ids=(log[0].id,), owner_states=frozenset(OwnerState))
            assert acting.requeue(layout, sure).plan.risks
        assert library.truth(database)[MAILS]["in_progress"] == 1


@pytest.mark.parametrize("made", [procrastinate], indirect=True)
def test_the_command_and_what_is_refused(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, kind = made
    log = library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    name = f"procrastinate/{MAILS}"
    dry = call("requeue", database, name, "--dry-run", "--output", "json")
    assert dry.exit_code == 0, dry.output
    assert valid(dry.stdout, "action")["plan"]["count"] == 1
    assert library.truth(database)[MAILS]["in_progress"] == 1
    done = call("requeue", database, name, "--yes", "--output", "json")
    assert done.exit_code == 0, done.output
    assert valid(done.stdout, "action")["result"]["done"] == 1
    assert library.truth(database)[MAILS]["ready"] == 1
    with library.start(database, tmp_path, "good", [MAILS]) as good:
        good.wait(1, "completed")
        good.stop()
    assert [times(good, log[0].id, event) for event in ("claimed", "completed")] == [1, 1]
    result = call("repair", database, name, "--yes")
    assert result.exit_code == 2, result.output
    assert has(result.output, NotAllowed.LIBRARY, library="procrastinate")


@pytest.mark.parametrize("made", [firm_queue], indirect=True)
def test_a_queue_is_paused_and_resumed_by_the_pause_of_the_library(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    acting = operator(database, tmp_path)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        log = library.push(database, MAILS, ["before"])
        worker.wait(1, "completed")
        layout = layout_of(database, MAILS)
        assert acting.resume(layout, Side.CONSUMERS).plan.refused == LibraryPauseText.UNCHANGED.render(
            side="consumers", queue=layout.queue, state="not paused"
        )
        prepared = acting.pause(layout, Side.CONSUMERS)
        assert prepared.plan.risks == (LibraryPauseText.NO_END.render(side="consumers"),)
        assert applied(prepared).done == 1
        assert query(database, library.actions.paused) == [(MAILS,)]
        unchanged = LibraryPauseText.UNCHANGED.render(side="consumers", queue=layout.queue, state="already paused")
        assert acting.pause(layout, Side.CONSUMERS).plan.refused == unchanged
        log += library.push(database, MAILS, ["kept back"])
        log += library.push(database, INVOICES, ["after it"])
        worker.wait(2, "completed")
        assert times(worker, log[1].id, "claimed") == 0
        toggled = ActionRequest(OperationKind.PAUSE, layout.queue, layout, side=Side.CONSUMERS).prepare(acting)
        assert toggled.plan.kind is OperationKind.RESUME
        assert applied(toggled).done == 1
        worker.wait(3, "completed")
        worker.stop()
    agree(library, database, log + worker.events())


@pytest.mark.parametrize("made", [procrastinate], indirect=True)
def test_who_stops_it_leaves_the_rest_as_it_was(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, _ = made
    library.push(database, MAILS, [str(number) for number in range(60)])
    query(database, "UPDATE procrastinate_jobs SET status = 'doing'")  # without a known worker
    acting = operator(database, tmp_path)
    prepared = acting.requeue(layout_of(database, MAILS), Choice(limit=50))
    assert [(each.count, each.why) for each in prepared.plan.left_out] == [(10, ExclusionText.OVER_LIMIT)]
    told: list[Progress] = []
    result = applied(prepared, tell=told.append, stopped=lambda: bool(told))
    assert result.state is OperationState.CANCELLED
    assert 0 < result.done < 50
    truth = library.truth(database)[MAILS]
    assert (truth["ready"], truth["in_progress"]) == (result.done, 60 - result.done)
    rest = acting.requeue(layout_of(database, MAILS), Choice())
    assert applied(rest).done == 60 - result.done


@pytest.mark.parametrize("made", [pgmq], indirect=True)
def test_a_queue_whose_name_begins_as_that_of_another(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, _ = made
    log = library.push(database, MAILS, ["held"])
    query(database, "SELECT pgmq.create('mail')")
    query(database, "SELECT pgmq.read('mails', 3600, 1)")
    result = call("requeue", database, f"pgmq/{MAILS}", "--ids", own_id(log[0].id), "--dry-run", "--output", "json")
    assert result.exit_code == 0, result.output
    plan = valid(result.stdout, "action")["plan"]
    assert (plan["queue"], plan["count"]) == (f"pgmq/{MAILS}", 1)


@pytest.mark.parametrize("made", [firm_queue], indirect=True)
def test_a_right_that_is_missing_is_named_by_the_plan(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, kind = made
    library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    layout, url = layout_of(database, MAILS), role(database)
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
    acting = operator(url, tmp_path)
    why = acting.requeue(layout, Choice()).plan.refused
    claims, ready = (f"firm_queue_{name}_executions TO {ROLE}" for name in ("claimed", "ready"))
    assert f"GRANT DELETE ON public.{claims}; GRANT INSERT ON public.{ready}" in str(why)
    assert "GRANT INSERT ON public.firm_queue_pauses" in str(acting.pause(layout, Side.CONSUMERS).plan.refused)
    assert why is not None
    for grant in re.findall("GRANT [^;]*", why):
        query(database, grant)
    assert applied(acting.requeue(layout, Choice())).done == 1


@pytest.mark.parametrize("made", [firm_queue], indirect=True)
def test_tables_of_solid_queue_itself_have_no_retry(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, kind = made
    library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    for (table,) in query(database, "SELECT relname FROM pg_class WHERE relname LIKE 'firm_queue%' AND relkind = 'r'"):
        query(database, f"ALTER TABLE {table} RENAME TO {str(table).replace('firm', 'solid', 1)}")
    query(database, "ALTER TABLE solid_queue_jobs DROP COLUMN attempts")
    acting, layout = operator(database, tmp_path), layout_of(database, MAILS)
    why = acting.requeue(layout, Choice(state="dead")).plan.refused
    assert why == LibraryChoiceText.NO_RETRY.render(library="solid-queue")
    assert applied(acting.requeue(layout, Choice())).done == 1
    assert query(database, "SELECT queue_name FROM solid_queue_ready_executions") == [(MAILS,)]
    assert query(database, "SELECT 1 FROM solid_queue_claimed_executions") == []


@pytest.mark.parametrize("made", [firm_queue], indirect=True)
async def test_the_keys(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, kind = made
    library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        doomed.kill()
    query(database, OLD[kind])
    async with looking(database, tmp_path, queue=f"solid-queue/{MAILS}", layouts=[]) as d:
        await d.until(lambda: MAILS in d.text(), "its queue")
        await d.pilot.press("R")
        assert d.dialog is None
        await d.does("r")
        assert library.truth(database)[MAILS]["ready"] == 1
        await d.pilot.press("escape")
        await d.does("P", reason="mailer")
        assert query(database, library.actions.paused) == [(MAILS,)]
        await d.pilot.press("escape")
        await d.does("P")
        assert query(database, library.actions.paused) == []
    library.check(database)


def test_queues_of_a_library_that_the_user_has_described_are_refused(tmp_path: Path) -> None:
    (tmp_path / "oban.toml").write_text(OWN)
    (own,) = (library for library in all_libraries(tmp_path) if library.own)
    layout = group_for(own, 1, "", ObjectName("public", "own_jobs"), "oban").queue_layout("mails")
    why = allowed_actions.why_not_allowed(layout, OperationKind.REQUEUE)
    assert has(why, NotAllowed.NO_WRITES, key="writes.ready")


OWN = """
name = "oban"
[tables]
own_jobs = ["id"]
[[group]]
table = "own_jobs"
id = "id"
[[group.state]]
name = "ready"
when = { state = "new" }
"""
