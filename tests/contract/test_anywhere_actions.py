"""qmon's actions on queues, on every engine and in every design that supports them."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import Connection
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice, OperationKind, OwnerState
from qmon.operate.actions.archiver import ARCHIVE_SESSION, Archiver, check_can_archive
from qmon.operate.actions.end_session import EndSessionText
from qmon.operate.actions.requeue_sessions import RequeueSessionsText
from qmon.operate.actions.ring_repair import prepare_repair
from qmon.operate.operator import Operator
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.plan.transitions import TransitionText
from qmon.operate.run.pacing import archive_pace
from qmon.operate.table_structure import StructureText
from qmon.pipeline.messages.archive_reader import find_archive, read_messages, survey_archive
from tests.contract.anywhere import Place, execute, message, rolled_back, rows, some
from tests.contract.anywhere_acting import draw, every_row, finished, planned
from tests.contract.anywhere_sql import WRITERS
from tests.contract.anywhere_tables import JOB, JOBS
from tests.contract.operating import applied
from tests.contract.watching import watching
from tests.facts import wait_until
from tests.wordings import has, pattern

ANY_OWNER: Final = frozenset(OwnerState)
# Designs with a state column.
STATES: Final = ("status", "flag", "batch_single", "batch_split", "batch_fast")
# Designs whose pops delete: a message in progress is an open transaction.
DELETING: Final = ("naive", "heap", "fifo", "lifo", "pending", "strict_fifo")
RINGS: Final = ("ring", "ring_pointer", "ring_subscribers")
ARCHIVING: Final = ("flag", "batch_single", "batch_split", "batch_fast")


def table(place: Place, layout: Layout) -> str:
    """The quoted name of a queue's table."""
    return place.engine.quote(layout.table.parts)


# ------------------------------------------------------------------------------------------------ requeue and purge


@pytest.mark.each_form
def test_stuck_messages_are_counted_requeued_purged_and_put_back(
    place: Place, operator: Operator, connection: Connection
) -> None:
    layout, anybody = place.made("status", timeout_s=0.5), Choice(owner_states=ANY_OWNER)
    with watching(place.url) as watched:
        place.push(connection, layout, 4)
        place.pop(connection, layout)
        place.pop(connection, layout)
        queue = watched.queue("status", lambda q: (q.stuck.value or 0) == 2)
        assert queue.in_progress.value == 2
        again = applied(operator.requeue(layout, anybody))
        assert finished(again) == 2
        assert finished(applied(operator.undo(again.operation))) == 2
        assert finished(applied(operator.requeue(layout, anybody))) == 2
        watched.poller.poll_now(changed="status")
        watched.queue("status", lambda q: q.ready.value == 4 and q.stuck.value == 0)
        gone = applied(operator.purge(layout, Choice(state="ready")))
        assert finished(gone) == 4
        watched.queue("status", lambda q: q.ready.value == 0)
        assert finished(applied(operator.undo(gone.operation))) == 4
        watched.poller.poll_now(changed="status")  # as the dashboard does
        watched.queue("status", lambda q: q.ready.value == 4)


@pytest.mark.each_form
def test_what_is_requeued_in_every_design_with_states_is_popped_next_and_an_undo_puts_all_back(
    place: Place, operator: Operator, connection: Connection, *, whole: bool
) -> None:
    for design in STATES if whole else ("flag", "batch_fast"):
        layout = replace(place.made(design), owner=None, timeout_s=0.0)
        place.push(connection, layout, 3)
        taken = place.pop(connection, layout)
        assert taken is not None and message(taken) == "m0"
        if design.startswith("batch"):  # due later than messages pushed since
            place.run(f"UPDATE {table(place, layout)} SET queue_date_time = {{in_an_hour}} WHERE status = 1")
        before = every_row(place, layout)
        choice = Choice(state="done" if design == "flag" else None, owner_states=ANY_OWNER)
        again = applied(operator.requeue(layout, choice))
        assert finished(again) == 1, design
        assert every_row(place, layout) != before
        assert finished(applied(operator.undo(again.operation))) == 1, design
        assert every_row(place, layout) == before, design
        assert finished(applied(operator.requeue(layout, choice))) == 1, design
        assert place.popped(connection, layout) == ["m0", "m1", "m2"], design


def test_a_requeue_puts_a_message_before_the_first_by_the_number_that_pops_go_by(
    place: Place, operator: Operator
) -> None:
    layout = replace(JOB, table=ObjectName(place.schema, "jobs"))
    place.run(JOBS, "INSERT INTO jobs VALUES (1, 9, 1, 'a'), (2, 7, 0, 'b'), (3, 8, 0, 'c'), (4, 9, 1, 'd')")
    prepared = operator.requeue(layout, Choice(ids=("4", "1")))
    assert has(prepared.plan.consequences[0], TransitionText.TO_FRONT)
    assert finished(applied(prepared)) == 2
    assert place.ask("SELECT id FROM jobs WHERE state = 0 ORDER BY place, id") == ((1,), (4,), (2,), (3,))


@pytest.mark.each_form
def test_a_purge_and_its_undo_in_every_design_but_rings(
    place: Place, operator: Operator, connection: Connection, *, whole: bool
) -> None:
    for design in (*STATES, *DELETING) if whole else ("status", "batch_split", "heap", "pending"):
        layout = place.made(design)
        place.push(connection, layout, 3)
        before = every_row(place, layout)
        prepared = operator.purge(layout, Choice(state="ready"))
        if design == "heap" and place.sqlserver:
            assert has(prepared.plan.refused or "", StructureText.NO_KEY)
            continue
        gone = applied(prepared)
        assert finished(gone) == 3, design
        assert every_row(place, layout) == [], design
        assert finished(applied(operator.undo(gone.operation))) == 3, design
        assert every_row(place, layout) == before, design
        assert sorted(place.popped(connection, layout)) == ["m0", "m1", "m2"], design


def test_what_was_purged_by_id_comes_back_by_id_until_the_trash_is_emptied(
    place: Place, operator: Operator, connection: Connection, *, whole: bool
) -> None:
    for design in ("status", "batch_fast", "pending") if whole else ("batch_fast",):
        layout = place.made(design)
        place.push(connection, layout, 5)
        ids = [str(row[0]) for row in place.ask(f"SELECT {layout.id} FROM {table(place, layout)} ORDER BY 1")]
        gone = applied(operator.purge(layout, Choice(ids=(ids[1], ids[2], ids[3]))))
        assert finished(gone) == 3
        assert finished(applied(operator.undo(gone.operation, Choice(ids=(ids[2],))))) == 1
        halves = 1 if layout.data_table is None else 2
        assert finished(applied(operator.empty_trash(layout.queue, 0.0))) == 2 * halves
        assert operator.undo(gone.operation).plan.refused
        assert sorted(place.popped(connection, layout)) == ["m0", "m2", "m4"], design


def test_an_id_that_names_several_messages_is_refused_and_the_whole_key_is_not(
    place: Place, operator: Operator
) -> None:
    layout = Layout(
        "parts", "fifo", ObjectName(place.schema, "parts"), id="id", key=("tenant", "id"), payload="payload"
    )
    place.run(
        "CREATE TABLE parts (tenant varchar(10) NOT NULL, id int NOT NULL, payload {text}, PRIMARY KEY (tenant, id))",
        "INSERT INTO parts VALUES ('acme', 7, 'a'), ('shop', 7, 'b'), ('shop', 8, 'c')",
    )
    with pytest.raises(BadInput, match=pattern(ChoiceText.AMBIGUOUS_ID)):
        operator.purge(layout, Choice(ids=("7",)))
    assert finished(applied(operator.purge(layout, Choice(ids=("shop/7",))))) == 1
    assert place.ask("SELECT tenant, id FROM parts ORDER BY id, tenant") == (("acme", 7), ("shop", 8))


def test_rows_with_a_trigger_that_writes_elsewhere_are_counted_right_and_come_back(
    place: Place, operator: Operator
) -> None:
    layout = replace(JOB, table=ObjectName(place.schema, "jobs"))
    place.run(JOBS, "CREATE TABLE notes (id int NOT NULL)", *WRITERS[place.engine.name])
    place.run("INSERT INTO jobs VALUES (1, 1, 0, 'a'), (2, 2, 0, 'b'), (3, 3, 1, 'c')")
    before = every_row(place, layout)
    gone = applied(operator.purge(layout, Choice(state="ready")))
    assert finished(gone) == 2
    assert (place.count("jobs"), place.count("notes")) == (1, 2)
    assert finished(applied(operator.undo(gone.operation))) == 2
    assert every_row(place, layout) == before


@pytest.mark.each_form
@pytest.mark.parametrize("design", some(DELETING, ("heap", "fifo")))
def test_what_an_open_transaction_holds_is_requeued_by_ending_its_session(
    place: Place, operator: Operator, connection: Connection, design: str
) -> None:
    layout, now = place.made(design), Choice(older_than_s=0.0)
    place.push(connection, layout, 3)
    with (
        place.opened(application="mailer") as consumer,
        place.opened(application="shop") as producer,
        rolled_back(consumer),
        rolled_back(producer),
    ):
        assert place.pop(consumer, layout) is not None
        rows(producer, place.called(layout, "push", place.literal(layout, "m3")))
        assert operator.requeue(layout, Choice()).plan.refused  # not older than the timeout of 5 m
        prepared = operator.requeue(layout, now)
        plan = prepared.plan
        assert (plan.kind, plan.count, plan.refused) == (OperationKind.REQUEUE, 1, None), plan
        assert RequeueSessionsText.SESSION.render(session=consumer.session_id) in plan.predicate
        assert [each.count for each in plan.left_out] == [1]  # the producer: it holds only new rows
        assert finished(applied(prepared)) == 1
        wait_until(lambda: len(place.ask(next_of(place, layout))) == 3, what="the pop was rolled back")
    assert sorted(place.popped(connection, layout)) == ["m0", "m1", "m2"]


def next_of(place: Place, layout: Layout) -> str:
    """Return SQL for the rows that no session holds."""
    name = table(place, layout)
    if place.sqlserver:
        return f"SELECT 1 AS one FROM {name} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)"
    return f"SELECT 1 AS one FROM {name} FOR UPDATE SKIP LOCKED"


# -------------------------------------------------------------------------------------- rings, sessions, archives


@pytest.mark.each_form
@pytest.mark.parametrize("design", some(RINGS, ("ring", "ring_subscribers")))
def test_holes_and_orphans_of_a_ring_are_repaired_and_no_message_is_lost(
    place: Place, tmp_path: Path, connection: Connection, design: str
) -> None:
    layout = place.made(design, ring_size=16)
    assert layout.ring is not None
    draw(place, layout.ring.push_sequence, 1)  # simulates a producer that died with the first number
    place.push(connection, layout, 3)
    draw(place, layout.ring.pop_sequence, 3)  # simulates consumers that died with the first three
    prepared = planned(place, tmp_path, layout, 3)
    first = 0 if place.sqlserver else 1
    assert f"holes {first}; orphans {first + 1}, {first + 2}" in prepared.plan.predicate
    assert finished(applied(prepared)) == 3
    assert sorted(place.popped(connection, layout)) == ["m0", "m1", "m2"]
    assert prepare_repair(place.context(tmp_path), layout).plan.refused


def test_an_orphan_that_has_been_popped_since_the_plan_is_left_alone(
    place: Place, tmp_path: Path, connection: Connection
) -> None:
    layout = place.made("ring", ring_size=16)
    assert layout.ring is not None
    place.push(connection, layout, 2)
    draw(place, layout.ring.pop_sequence, 1)
    prepared = planned(place, tmp_path, layout, 1)
    found: list[str] = []

    def healed() -> bool:
        found.extend(place.popped(connection, layout))
        return len(found) == 2

    wait_until(healed, what="the orphan is also popped")
    result = applied(prepared)
    assert (result.done, result.skipped, result.changed) == (0, 0, 1)


def test_a_session_that_holds_up_others_is_ended_and_no_other_one(
    place: Place, operator: Operator, connection: Connection
) -> None:
    place.run(JOBS, "INSERT INTO jobs VALUES (1, 1, 0, 'x')")
    text = "UPDATE jobs SET place = place + 1 WHERE id = 1"
    with place.opened(application="mailer") as holder, place.opened(application="shop") as waiter:
        with rolled_back(holder):
            execute(holder, text)
            thread = threading.Thread(target=lambda: execute(waiter, text), daemon=True)
            thread.start()

            def held_up() -> bool:
                plan = operator.end_session(holder.session_id, None).plan
                return any(has(line, EndSessionText.BLOCKS, sessions="1 session") for line in plan.consequences)

            wait_until(held_up, what="a session waits")
            assert has(str(operator.end_session(holder.session_id, 1.0).plan.refused), EndSessionText.OTHER_SESSION)
            assert finished(applied(operator.end_session(holder.session_id, None))) == 1
            thread.join(120)
        assert rows(waiter, "SELECT place FROM jobs") == ((2,),)
    assert operator.end_session(0, None).plan.refused
    with place.opened() as ours:
        assert has(str(operator.end_session(ours.session_id, None).plan.refused), EndSessionText.OF_QMON)
    assert [each.kind for each in operator.read_operations()] == [OperationKind.END_SESSION]


@pytest.mark.each_form
@pytest.mark.parametrize("design", some(ARCHIVING, ("flag", "batch_split")))
def test_done_messages_are_archived_and_can_be_read_there(place: Place, connection: Connection, design: str) -> None:
    layout = place.made(design)
    place.push(connection, layout, 5)
    for _ in range(4):
        taken = place.pop(connection, layout)
        assert taken is not None
        if layout.traits.completes:
            rows(connection, place.called(layout, "complete", str(taken[0]), str(taken[2])))
    check_can_archive(connection, place.engine, layout)
    archiver = Archiver(
        lambda: place.engine.connect(place.target, ARCHIVE_SESSION),
        place.engine,
        layout,
        archive_pace(3, 0.0),
        threading.Event(),
    )
    outcome = archiver.run(until_empty=True)
    assert (outcome.moved, outcome.ended) == (4, "empty")
    assert place.count(layout.table) == 1
    archive = find_archive(connection, place.engine, layout)
    found = survey_archive(connection, place.engine, archive)
    assert found.oldest is not None and found.newest is not None
    messages = read_messages(connection, place.engine, archive, [(found.oldest, found.newest)], payloads=True)
    assert [each.payload for some in messages for each in some] == ["m0", "m1", "m2", "m3"]
