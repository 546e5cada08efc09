"""Repair rings: proven defects are repaired, other slots are left alone, and no message is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import OperationKind, OperationState
from qmon.operate.actions.ring_repair import RepairText, prepare_repair
from qmon.operate.actions.ring_scan import MIN_AGE_S
from qmon.operate.context import ReadOnly
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.run.running_operation import PreparedAction
from tests.contract.operating import YES, applied, desk_at
from tests.facts import query, wait_until
from tests.queues import call, made, opened, run
from tests.wordings import has, pattern

RINGS = ("ring", "ring_pointer", "ring_subscribers")


def draw(url: str, sequence: str, times: int = 1) -> None:
    """Take numbers from a sequence in a session that then ends."""
    query(url, f"SELECT nextval('orders_{sequence}') FROM generate_series(1, {times})")


def aged(url: str, folder: Path, layout: Layout, count: int) -> PreparedAction:
    """Return the plan as soon as ``count`` slots have not moved for long enough."""
    context = desk_at(url, folder)
    prepared: list[PreparedAction] = []

    def ready() -> bool:
        prepared.append(prepare_repair(context, layout))
        return prepared[-1].plan.count >= count

    wait_until(ready, MIN_AGE_S + 20, what="the slots have not moved for a second")
    return prepared[-1]


def push(url: str, layout: Layout, *messages: str) -> None:
    with opened(url) as ours:
        for message in messages:
            assert call(ours, layout, "push", f"'{message}', 100")[0][0] is not None


def popped(url: str, layout: Layout) -> list[object]:
    """Pop all available messages; return them in order."""
    asked = "1, 0" if layout.ring is not None and layout.ring.subscribers else "0"
    out: list[object] = []
    with opened(url) as ours:
        while rows := call(ours, layout, "pop", asked):
            out.append(rows[0][1])
    return out


@pytest.mark.parametrize("design", RINGS)
def test_holes_and_orphans_that_were_seen_are_repaired(database: str, tmp_path: Path, design: str) -> None:
    layout = made(database, design)
    pop_sequence = "pop_seq_1" if design == "ring_subscribers" else "pop_seq"
    draw(database, "push_seq")  # a producer died: 1 is a hole
    push(database, layout, "m2", "m3", "m4")
    draw(database, pop_sequence, 3)  # consumers died with 1, 2 and 3
    prepared = aged(database, tmp_path, layout, 3)
    plan = prepared.plan
    assert (plan.kind, plan.unit, plan.refused, plan.undo.possible) == (OperationKind.REPAIR, "numbers", None, False)
    assert "holes 1; orphans 2, 3" in plan.predicate
    assert [row.id for row in plan.first] == ["2", "3", "1"]
    if design != "ring_pointer":
        assert [row.payload for row in plan.first] == ["m2", "m3", None]
    result = applied(prepared)
    assert (result.state, result.done, result.skipped, result.changed, result.notes) == (
        OperationState.DONE,
        3,
        0,
        0,
        (),
    )
    assert popped(database, layout) == ["m4", "m2", "m3"]
    assert prepare_repair(desk_at(database, tmp_path), layout).plan.refused
    assert query(database, "SELECT kind, state, planned, done FROM qmon.operations") == [("repair", "done", 3, 3)]


def test_what_an_open_transaction_may_have_drawn_is_skipped_until_it_ends(database: str, tmp_path: Path) -> None:
    layout = made(database, "ring")
    with opened(database) as producer, opened(database) as consumer:
        push(database, layout, "m1")
        with consumer.transaction():
            run(consumer, "SELECT nextval('orders_pop_seq')")
            with producer.transaction():
                run(producer, "SELECT nextval('orders_push_seq')")
                prepared = aged(database, tmp_path, layout, 2)
                named = [RepairText.SESSION.render(session=each.session_id) for each in (producer, consumer)]
                assert all(any(each in line for line in prepared.plan.consequences) for each in named)
                result = applied(prepared)
                assert (result.done, result.skipped, result.changed) == (0, 2, 0)
                assert all(each in "".join(result.notes) for each in named)
                # Both are alive after all, and the repair has taken nothing from them.
                assert call(producer, layout, "push", "'m2'") == ((2,),)
                assert call(consumer, layout, "pop") == ((1, "m1"),)
    assert popped(database, layout) == ["m2"]


def test_what_its_consumer_has_popped_since_the_plan_is_left_alone(database: str, tmp_path: Path) -> None:
    layout = made(database, "ring")
    push(database, layout, "m1", "m2")
    with opened(database) as consumer:
        run(consumer, "SELECT nextval('orders_pop_seq')")
        draw(database, "pop_seq")
        prepared = aged(database, tmp_path, layout, 2)
        assert call(consumer, layout, "pop") == ((1, "m1"),)
        result = applied(prepared)
    assert (result.done, result.skipped, result.changed) == (1, 0, 1)
    assert popped(database, layout) == ["m2"]


def test_a_plan_of_one_leaves_alone_what_died_after_it(database: str, tmp_path: Path) -> None:
    layout = made(database, "ring")
    push(database, layout, "m1", "m2", "m3")
    draw(database, "pop_seq")
    prepared = aged(database, tmp_path, layout, 1)
    draw(database, "pop_seq", 2)
    result = applied(prepared)
    assert (prepared.plan.count, result.done) == (1, 1)
    assert RepairText.NOW.render(holes=0, orphans=2) in "".join(result.notes)


def test_where_every_slot_is_an_orphan_the_consumers_come_by_again(database: str, tmp_path: Path) -> None:
    layout = made(database, "ring", ring_size=4)
    push(database, layout, "m1", "m2", "m3", "m4")
    draw(database, "pop_seq", 4)
    with opened(database) as producer:
        # Producers hold every number whose slot is free.
        run(producer, "SELECT nextval('orders_push_seq') FROM generate_series(1, 4)")
        prepared = aged(database, tmp_path, layout, 4)
        result = applied(prepared)
        assert (result.done, result.skipped) == (4, 0)
        assert popped(database, layout) == ["m1", "m2", "m3", "m4"]


def test_a_repair_that_is_stopped_says_so_and_keeps_what_it_did(database: str, tmp_path: Path) -> None:
    layout = made(database, "ring")
    push(database, layout, *(f"m{number}" for number in range(1, 9)))
    draw(database, "pop_seq", 8)
    prepared = aged(database, tmp_path, layout, 8)
    asked = iter([False] * 3 + [True] * 9)
    result = prepared.apply(YES, lambda _: None, lambda: next(asked))
    assert (result.state, result.done) == (OperationState.CANCELLED, 3)
    left = query(database, "SELECT message_id FROM orders WHERE message_id IS NOT NULL ORDER BY 1")
    assert left == [(number,) for number in range(4, 12)]  # three have new numbers, five are unchanged


def test_what_cannot_be_repaired_is_refused_with_the_reason(database: str, tmp_path: Path) -> None:
    context = desk_at(database, tmp_path)
    classic = prepare_repair(context, made(database, "ring_classic", "classic"))
    assert classic.plan.refused is not None and has(classic.plan.refused, NotAllowed.RING_WITHOUT_TURN)
    with pytest.raises(BadInput, match=pattern(NotAllowed.RING_WITHOUT_TURN)):
        applied(classic)
    layout = made(database, "ring")
    foreign = prepare_repair(context, replace(layout, routines=()))
    assert foreign.plan.refused is not None and has(foreign.plan.refused, RepairText.NOT_INSTALLED)
    line = prepare_repair(context, made(database, "fifo", "line"))
    assert line.plan.refused == classic.plan.refused
    draw(database, "push_seq")
    reader = desk_at(database, tmp_path, read_only="--read-only")
    with pytest.raises(ReadOnly):
        applied(prepare_repair(reader, layout))
    assert query(database, "SELECT count(*) FROM orders WHERE turn = 1") == [(1,)]
