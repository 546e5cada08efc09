"""Purge with qmon's operator, and its undo: only the selected jobs are removed, and all others run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qmon.errors import BadInput
from qmon.model.operation_records import Choice, OperationState, OperationText
from qmon.operate.libraries.chosen_messages import LibraryChoiceText
from qmon.operate.libraries.library_actions import LibraryActionText
from qmon.operate.libraries.library_plan import LibraryPlanText
from qmon.operate.run.verification import TriggerText
from tests.contract.operating import applied
from tests.facts import query, wait_until
from tests.libraries.acting import agree, each_made, layout_of, operator, own_id, times
from tests.libraries.every import LIBRARIES
from tests.libraries.firm_queue import firm_queue
from tests.libraries.library import ATTEMPTS, QUEUES, Event, Library
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgmq import pgmq
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.libraries.tables import DELAYED_JOB, LARAVEL, RIVER, SYMFONY, Made
from tests.wordings import has, pattern

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES
# Their jobs change other tables too, so there is no undo.
FOR_GOOD = (procrastinate, pgqueuer, firm_queue)


made = each_made(LIBRARIES)


def test_what_is_purged_is_not_worked_on_until_it_is_put_back(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, kind = made
    dead: list[Event] = []
    worked: list[Event] = []
    if kind is not pgmq:
        dead = library.push(database, MAILS, ["dead"], fails=ATTEMPTS)
        with library.start(database, tmp_path, "fails", [MAILS]) as fails:
            fails.wait(1, "failed")
            fails.stop()
        worked = fails.events()
        (tmp_path / "mended").touch()
    kept = library.push(database, MAILS, ["tomorrow"], due_in_s=86_400)
    others = library.push(database, INVOICES, ["other 1", "other 2"])
    ready = library.push(database, MAILS, ["ready 1", "ready 2"])
    acting, layout = operator(database, tmp_path), layout_of(database, MAILS)
    with library.start(database, tmp_path, "worker", [INVOICES]) as worker:
        before = library.truth(database)[MAILS]
        named = Choice(ids=tuple(own_id(event.id) for event in [*dead, *ready]))
        if dead:
            by_default = acting.purge(layout, Choice()).plan
            assert {row.id for row in by_default.first} == {own_id(event.id) for event in dead}
            assert by_default.title == LibraryPlanText.TITLE.render(
                kind="Purge", messages="1 dead message", queue=layout.queue
            )
        prepared = acting.purge(layout, named)
        assert {row.id for row in prepared.plan.first} == {own_id(event.id) for event in [*dead, *ready]}
        result = applied(prepared)
        assert (result.state, result.done, result.changed) == (OperationState.DONE, len(dead) + 2, 0)
        truth = library.truth(database)[MAILS]
        assert (truth["ready"], truth.get("dead", 0), truth["scheduled"]) == (0, 0, 1)
        library.check(database)
        assert acting.purge(layout, named).plan.refused == OperationText.NO_MESSAGE
        worker.wait(2, "completed")
        worker.stop()
    assert prepared.plan.undo.possible == (kind not in FOR_GOOD)
    if not prepared.plan.undo.possible:
        assert has(prepared.plan.undo.notes[0], LibraryActionText.NO_UNDO_TABLES)
        with library.start(database, tmp_path, "late", QUEUES) as late:
            others += library.push(database, MAILS, ["after it"])
            late.wait(1, "completed")
            late.stop()
        assert all(times(late, event.id, "claimed") == 0 for event in [*dead, *ready])
        return
    undone = applied(acting.undo(result.operation))
    assert (undone.state, undone.done) == (OperationState.DONE, len(dead) + 2)
    assert library.truth(database)[MAILS] == before
    library.check(database)
    with library.start(database, tmp_path, "again", QUEUES) as again:
        again.wait(2, "completed")
        if dead and library.actions.retry:
            assert applied(acting.requeue(layout, Choice(state="dead"))).done == 1
            again.wait(3, "completed")
        again.stop()
    done = [*ready, *(dead if library.actions.retry else [])]
    assert [times(again, event.id, "completed") for event in done] == [1] * len(done)
    agree(library, database, [*dead, *worked, *kept, *others, *ready, *worker.events(), *again.events()])
    if library.prunes:
        library.prune(database)
        assert library.truth(database)[MAILS]["done"] == 0


def test_what_is_taken_between_plan_and_apply_is_left_to_its_worker(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    log = library.push(database, MAILS, ["taken"])
    acting, layout = operator(database, tmp_path), layout_of(database, MAILS)
    prepared = acting.purge(layout, Choice(state="ready"))
    assert prepared.plan.count == 1
    with library.start(database, tmp_path, "worker", [MAILS], seconds_per_job=3600) as worker:
        worker.wait(1, "claimed")
        wait_until(lambda: library.truth(database)[MAILS]["in_progress"] == 1, what="it says so")
        result = applied(prepared)
        assert (result.done, result.changed) == (0, 1)
        assert acting.purge(layout, Choice(ids=(own_id(log[0].id),))).plan.count == 0
        assert library.truth(database)[MAILS]["in_progress"] == 1
        library.check(database)


@pytest.mark.parametrize("made", [oban], indirect=True)
def test_choices(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, _ = made
    ready = library.push(database, MAILS, ["one", "two", "three"])
    later = library.push(database, MAILS, ["later"], due_in_s=86_400)
    acting, layout = operator(database, tmp_path), layout_of(database, MAILS)

    def planned(choice: Choice) -> set[str]:
        return {row.id for row in acting.purge(layout, choice).plan.first}

    assert planned(Choice(state="scheduled")) == {later[0].id}
    assert planned(Choice(state="dead")) == set()
    assert planned(Choice(ids=(later[0].id, ready[0].id))) == {later[0].id, ready[0].id}
    assert planned(Choice(state="ready", older_than_s=3600)) == set()
    assert planned(Choice()) == planned(Choice(limit=2)) == set(), "without a state only dead messages"
    assert planned(Choice(state="ready", limit=2)) < {event.id for event in ready}
    with pytest.raises(BadInput, match=pattern(LibraryChoiceText.ONE_STATE)):
        acting.purge(layout, Choice(ids=(later[0].id,), older_than_s=1))
    for state in ("in_progress", "done"):
        refused = acting.purge(layout, Choice(state=state)).plan.refused
        assert has(refused, LibraryChoiceText.WRONG_STATE, verb="purged", states="ready or scheduled or dead")
    assert applied(acting.purge(layout, Choice(ids=(ready[1].id,)))).done == 1
    assert library.truth(database)[MAILS]["ready"] == 2


@pytest.mark.parametrize("made", [PgBoss], indirect=True)
def test_a_job_that_others_wait_for_and_the_same_id_elsewhere_stay(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    log = library.push(database, MAILS, ["parent", "twin"])
    library.push(database, INVOICES, ["other"])
    query(database, f"UPDATE pgboss.job SET blocking = true WHERE id = '{log[0].id}'")
    query(database, f"UPDATE pgboss.job SET id = '{log[1].id}' WHERE name = '{INVOICES}'")
    acting = operator(database, tmp_path)
    result = applied(acting.purge(layout_of(database, MAILS), Choice(state="ready")))
    assert (result.done, result.refused) == (1, 1)
    assert has(result.notes[0], LibraryChoiceText.NOT_BY_RULES, library="pg-boss")
    left = [(MAILS, log[0].id), (INVOICES, log[1].id)]
    assert sorted(query(database, "SELECT name, id::text FROM pgboss.job")) == sorted(left)
    assert applied(acting.undo(result.operation)).done == 1


@pytest.mark.parametrize("made", [firm_queue], indirect=True)
def test_jobs_with_a_limit_of_concurrency_stay(made: tuple[Library, Any], database: str, tmp_path: Path) -> None:
    library, _ = made
    library.push(database, MAILS, ["free", "limited"])
    query(database, "UPDATE firm_queue_jobs SET concurrency_key = 'k' WHERE id = (SELECT max(id) FROM firm_queue_jobs)")
    acting, layout = operator(database, tmp_path), layout_of(database, MAILS)
    for done in (1, 0):
        result = applied(acting.purge(layout, Choice(state="ready")))
        assert (result.done, result.changed) == (done, 1)
    assert query(database, "SELECT concurrency_key FROM firm_queue_jobs") == [("k",)]
    library.check(database)


@pytest.mark.parametrize("tables", [RIVER, DELAYED_JOB, LARAVEL, SYMFONY], ids=lambda tables: tables.name)
def test_rows_of_libraries_whose_workers_do_not_run_here(tables: Made, database: str, tmp_path: Path) -> None:
    query(database, tables.tables)
    acting = operator(database, tmp_path)
    name = next(name for name in tables.figures if tables.figures[name]["scheduled"])
    layout, figures = layout_of(database, name), tables.figures[name]
    table = f"SELECT q::text FROM {layout.table.name} AS q"
    before = set(query(database, table))
    prepared = acting.purge(layout, Choice(state="ready"))
    assert prepared.plan.undo.possible
    assert prepared.plan.count == figures["ready"]
    if figures.get("dead"):
        assert applied(acting.purge(layout, Choice())).done == figures["dead"]
    result = applied(prepared)
    assert result.done == prepared.plan.count
    left = set(query(database, table))
    assert left < before
    assert len(left) == len(before) - result.done - figures.get("dead", 0)
    assert applied(acting.purge(layout, Choice(state="scheduled"))).done == figures["scheduled"]
    assert acting.purge(layout, Choice(state="ready")).plan.count == 0
    for done in acting.read_operations():
        assert applied(acting.undo(done.id)).done == done.done
    assert set(query(database, table)) == before


def test_a_trigger_that_puts_discarded_jobs_back_is_named_and_nothing_is_discarded(
    database: str, tmp_path: Path
) -> None:
    query(database, DELAYED_JOB.tables)
    query(
        database,
        "CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " OLD.id = OLD.id + 1000; INSERT INTO delayed_jobs SELECT OLD.*; RETURN NULL; END $$;"
        "CREATE TRIGGER spring AFTER DELETE ON delayed_jobs FOR EACH ROW EXECUTE FUNCTION spring()",
    )
    before = query(database, "SELECT q::text FROM delayed_jobs AS q ORDER BY 1")
    prepared = operator(database, tmp_path).purge(layout_of(database, "mails"), Choice(state="ready"))
    assert prepared.plan.count > 0
    result = applied(prepared)
    assert (result.done, result.refused) == (0, prepared.plan.count)
    assert has(result.notes[0], TriggerText.PUT_BACK, triggers="spring")
    assert query(database, "SELECT q::text FROM delayed_jobs AS q ORDER BY 1") == before


def test_jobs_that_are_in_no_queue_are_not_taken_for_all(database: str, tmp_path: Path) -> None:
    query(database, DELAYED_JOB.tables + "INSERT INTO delayed_jobs (run_at) VALUES (timezone('UTC', now()));")
    layout = layout_of(database, "mails")
    assert layout.part is not None
    whole = replace(layout, part=replace(layout.part, value=None))
    refused = operator(database, tmp_path).purge(whole, Choice(state="ready")).plan.refused
    assert refused == LibraryActionText.SEVERAL_QUEUES.render(queue=layout.queue)
