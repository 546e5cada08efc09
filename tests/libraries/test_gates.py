"""Pause the producers of one of several queues: a gate refuses pushes by the library's own client."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pyodbc
import pytest

from qmon.model.operation_records import Choice, OperationKind, Side
from qmon.operate.actions.gate import GateText
from qmon.operate.actions.pause import PauseText
from qmon.operate.actions.pause_check import PauseCheckText
from qmon.operate.plan.library_queue import NoGate
from qmon.tui.actions.request import ActionRequest, options_for
from tests.cli.calling import call
from tests.contract.operating import applied
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.acting import agree, each_made, layout_of, operator, times
from tests.libraries.every import LIBRARIES
from tests.libraries.graphile import Graphile
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.libraries.pgboss import PgBoss
from tests.libraries.procrastinate import procrastinate
from tests.libraries.tables import DELAYED_JOB, GOOD_JOB, LARAVEL, RIVER, SYMFONY, Made
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES
WITH_GATE = [library for library in LIBRARIES if library is not Graphile]


made = each_made(WITH_GATE)


def assert_refused(library: Library, url: str, queue: str) -> None:
    """Check that the gate refuses a push by the library's own client, whose error includes the server's message."""
    with pytest.raises(Exception) as refusal:
        library.push(url, queue, ["refused"])
    said = "".join(traceback.format_exception(refusal.value))
    assert "the producers of " in said
    assert queue in said
    assert "are paused until" in said


def test_producers_are_refused_while_workers_go_on_and_producers_of_other_queues(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    acting = operator(database, tmp_path)
    log = library.push(database, MAILS, ["before", "another"])
    layout = layout_of(database, MAILS)
    assert has(str(acting.pause(layout, Side.PRODUCERS).plan.refused), PauseText.NO_PUSH_SWITCH)
    gate = acting.install_gate(layout)
    assert any(has(each, GateText.READS_SEQUENCE) for each in gate.plan.consequences)
    assert applied(gate).done == 1
    log += library.push(database, MAILS, ["not paused yet"])
    paused = applied(acting.pause(layout, Side.PRODUCERS, for_s=600))
    assert any(has(note, PauseCheckText.REFUSED) for note in paused.notes), paused.notes
    assert_refused(library, database, MAILS)
    log += library.push(database, INVOICES, ["of another queue"])
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(4, "completed")
        toggled = ActionRequest(OperationKind.PAUSE, layout.queue, layout).prepare(acting)
        assert toggled.plan.kind is OperationKind.RESUME
        assert applied(toggled).done == 1
        log += library.push(database, MAILS, ["after it"])
        worker.wait(5, "completed")
        worker.stop()
    assert all(times(worker, event.id, "claimed") == 1 for event in log)
    agree(library, database, log + worker.events())
    assert applied(acting.remove_gate(layout)).done == 1
    assert query(database, "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'qmon%'") == []


@pytest.mark.parametrize("made", [procrastinate, PgBoss], indirect=True)
def test_what_fails_is_tried_again_while_producers_are_paused(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    acting = operator(database, tmp_path)
    log = library.push(database, MAILS, ["fails"], fails=ATTEMPTS)
    layout = layout_of(database, MAILS)
    applied(acting.install_gate(layout))
    applied(acting.pause(layout, Side.PRODUCERS))
    with library.start(database, tmp_path, "worker", [MAILS]) as worker:
        worker.wait(1, "failed")
        worker.stop()
    agree(library, database, log + worker.events())


@pytest.mark.parametrize("made", [procrastinate], indirect=True)
def test_pauses_of_two_queues_of_a_table_and_a_name_that_is_no_name(
    made: tuple[Library, Any], database: str, tmp_path: Path
) -> None:
    library, _ = made
    acting = operator(database, tmp_path)
    odd = 'it\'s "odd"; 100 %s {x} $$'
    for queue in (MAILS, odd):
        library.push(database, queue, ["one"])
    layouts = {queue: layout_of(database, queue) for queue in (MAILS, odd)}
    for layout in layouts.values():
        applied(acting.install_gate(layout))
        applied(acting.pause(layout, Side.PRODUCERS, for_s=600))
    with watching(database) as watched:
        view = watched.view(lambda view: len(view.queues) == 2 and bool(view.pauses), polls=3)
    assert {queue.name: [pause.side for pause in queue.pauses] for queue in view.queues} == {
        layout.queue: [Side.PRODUCERS] for layout in layouts.values()
    }
    applied(acting.resume(layouts[MAILS], Side.PRODUCERS))
    library.push(database, MAILS, ["two"])
    assert_refused(library, database, odd)
    assert applied(acting.purge(layouts[odd], Choice(state="ready"))).done == 1
    assert [pause.queue for pause in acting.read_pauses()] == [layouts[odd].queue]


@pytest.mark.parametrize("made", [procrastinate], indirect=True)
def test_the_commands(made: tuple[Library, Any], database: str) -> None:
    library, _ = made
    library.push(database, MAILS, ["one"])
    name = f"procrastinate/{MAILS}"
    for words in (
        ["setup", database, "--gate", name],
        ["pause", database, name, "--reason", "a test", "--for", "10m"],
    ):
        done = call(*words, "--yes")
        assert done.exit_code == 0, done.output
    assert_refused(library, database, MAILS)
    for words in (["resume", database, name], ["setup", database, "--gate", name, "--remove"]):
        done = call(*words, "--yes")
        assert done.exit_code == 0, done.output
    library.push(database, MAILS, ["two"])


INSERTS = {
    RIVER.name: "INSERT INTO river_job (state, queue) VALUES ('available', '{}')",
    GOOD_JOB.name: "INSERT INTO good_jobs (queue_name) VALUES ('{}')",
    DELAYED_JOB.name: "INSERT INTO delayed_jobs (queue) VALUES ('{}')",
    LARAVEL.name: "INSERT INTO jobs (queue, available_at, created_at) VALUES ('{}', 0, 0)",
}


@pytest.mark.parametrize("tables", [RIVER, GOOD_JOB, DELAYED_JOB, LARAVEL], ids=lambda tables: tables.name)
def test_rows_of_libraries_whose_workers_do_not_run_here(tables: Made, database: str, tmp_path: Path) -> None:
    query(database, tables.tables)
    acting, layout = operator(database, tmp_path), layout_of(database, "mails")
    applied(acting.install_gate(layout))
    applied(acting.pause(layout, Side.PRODUCERS))
    with pytest.raises(pyodbc.Error, match="are paused until"):
        query(database, INSERTS[tables.name].format("mails"))
    query(database, INSERTS[tables.name].format("elsewhere"))
    if tables is LARAVEL:  # it returns a released job with INSERT
        query(database, "INSERT INTO jobs (queue, attempts, available_at, created_at) VALUES ('mails', 1, 0, 0)")


def test_where_no_gate_can_be_made(database: str, tmp_path: Path) -> None:
    query(database, SYMFONY.tables)
    acting, layout = operator(database, tmp_path), layout_of(database, "default")
    for prepared in (acting.install_gate(layout), acting.pause(layout, Side.PRODUCERS)):
        assert has(str(prepared.plan.refused), NoGate.RETURNS_BY_INSERT)


def test_the_dialog_offers_the_length_of_such_a_pause(database: str) -> None:
    query(database, RIVER.tables)
    layout = layout_of(database, "mails")
    (offered,) = options_for(ActionRequest(OperationKind.PAUSE, layout.queue, layout))
    assert offered.name == "for"
    assert options_for(ActionRequest(OperationKind.PAUSE, layout.queue, layout, side=Side.CONSUMERS)) == ()
