"""Undo of a requeue: exactly the messages not popped again, back with their owner, time and place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmon.engines.postgres.arrays import array_literal
from qmon.errors import BadInput
from qmon.model.layout.layout import OwnerColumn
from qmon.model.operation_records import Choice, OperationState, OwnerState, UndoState
from qmon.operate.actions.undo import UndoText
from qmon.operate.install.install_queue import uninstall_queue
from qmon.operate.operator import Operator
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.row_set import pack_rows
from tests.contract.operating import ANY_OWNER, HELD, applied, desk_at, stuck
from tests.facts import connected, query
from tests.queues import ENGINE, call, made, opened
from tests.wordings import pattern


@pytest.mark.parametrize("design", ["status", "batch_fast"])
def test_what_was_not_popped_again_is_taken_back_to_the_letter(database: str, tmp_path: Path, design: str) -> None:
    layout = replace(made(database, design), owner=HELD)
    stuck(database, layout, 120)
    before = query(database, "SELECT CAST(t AS text) FROM orders AS t ORDER BY 1")
    operator = Operator(desk_at(database, tmp_path))
    done = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
    back = operator.undo(done.operation)
    assert (back.plan.count, back.plan.left_out) == (120, ())
    assert back.plan.first[0].owner == "1/1"
    assert applied(back).done == 120
    assert query(database, "SELECT CAST(t AS text) FROM orders AS t ORDER BY 1") == before
    assert operator.read_operations()[1].undo_state is UndoState.UNDONE


def test_what_was_popped_completed_or_requeued_again_is_left_alone(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 10)
    operator = Operator(desk_at(database, tmp_path))
    done = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
    early = operator.undo(done.operation)
    with opened(database) as connection:
        call(connection, layout, "pop_batch", "4")
        call(connection, layout, "complete", "1, 2")
        call(connection, layout, "fail", "2, 2")
        assert early.plan.count == 10
        late = operator.undo(done.operation)
        assert late.plan.count == 6
        assert [(each.why, each.count) for each in late.plan.left_out] == [(ExclusionText.CHANGED, 4)]
        result = applied(early)
        assert (result.state, result.done, result.changed) == (OperationState.DONE, 6, 4)
    assert query(database, "SELECT id, status FROM orders WHERE id < 6 ORDER BY id") == [(2, 1), (3, 2), (4, 2), (5, 2)]
    assert operator.read_operations()[1].undo_state is UndoState.PARTLY_UNDONE


def test_what_changed_nothing_has_nothing_to_undo(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 1)
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.requeue(layout, Choice(owner_states=ANY_OWNER))
    query(database, "UPDATE orders SET status = 1")
    result = applied(prepared)
    assert (result.done, result.changed) == (0, 1)
    assert operator.undo(result.operation).plan.refused == UndoText.CHANGED_NOTHING


def test_a_part_is_undone_and_what_is_locked_is_left(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 6)
    operator = Operator(desk_at(database, tmp_path))
    done = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
    assert applied(operator.undo(done.operation, Choice(ids=("2", "3", "99")))).done == 2
    with connected(database, autocommit=False) as holder:
        holder.execute("SELECT 1 FROM orders WHERE id = 5 FOR UPDATE").fetchall()
        result = applied(operator.undo(done.operation))
        assert (result.done, result.skipped) == (3, 1)
    assert query(database, "SELECT id FROM orders WHERE status = 1") == [(5,)]
    with pytest.raises(BadInput, match=pattern(UndoText.IDS_ONLY)):
        operator.undo(done.operation, Choice(state="ready"))


def test_a_requeue_that_was_stopped_is_undone_as_far_as_it_went(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 300)
    operator = Operator(desk_at(database, tmp_path))
    told: list[int] = []
    done = applied(
        operator.requeue(layout, Choice(owner_states=ANY_OWNER)),
        tell=lambda now: told.append(now.done),
        stopped=lambda: bool(told),
    )
    assert applied(operator.undo(done.operation)).done == done.done
    assert query(database, "SELECT count(*) FROM orders WHERE status = 2 AND owner = '1/1'") == [(300,)]


ACTS = st.lists(
    st.sampled_from(["push", "pop", "complete", "fail", "requeue", "purge", "undo", "undo purge"]),
    min_size=3,
    max_size=14,
)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_whatever_is_done_every_message_is_in_exactly_one_place(database: str, tmp_path: Path, acts: list[str]) -> None:
    """Pushed = in the queue + in the trash + completed, after any mixture of actions."""
    with opened(database) as connection:
        if query(database, "SELECT to_regclass('orders') IS NOT NULL") == [(True,)]:
            uninstall_queue(connection, ENGINE, "orders")
    query(database, "DROP SCHEMA IF EXISTS qmon CASCADE")
    layout = replace(made(database, "status"), owner=OwnerColumn("owner", "name"))
    operator = Operator(desk_at(database, tmp_path))
    expected: set[int] = set()
    last: dict[str, str] = {}
    with opened(database) as connection:
        for act in ["push", "push", "pop", *acts]:
            ids = [int(str(row[0])) for row in query(database, "SELECT id FROM orders WHERE status = 2 ORDER BY id")]
            if act == "push":
                call(connection, layout, "push_batch", "ARRAY['a', 'b', 'c']::bytea[]")
                expected |= {int(str(row[0])) for row in query(database, "SELECT id FROM orders")}
            elif act == "pop":
                call(connection, layout, "pop_batch", "2")
            elif act in ("complete", "fail") and ids:
                call(connection, layout, act, f"{ids[0]}, (SELECT attempts FROM orders WHERE id = {ids[0]})")
                expected -= set(ids[:1]) if act == "complete" else set()
            elif act in ("requeue", "purge"):
                choice = Choice(owner_states=frozenset(OwnerState), older_than_s=0.0)
                ready = Choice(state="ready")
                plan = operator.requeue(layout, choice) if act == "requeue" else operator.purge(layout, ready)
                if plan.plan.refused is None:
                    last[act] = applied(plan).operation
            elif act.startswith("undo") and (of := last.get("purge" if act == "undo purge" else "requeue")):
                plan = operator.undo(of)
                if plan.plan.refused is None:
                    applied(plan)
    held = [row[0] for row in query(database, "SELECT id FROM orders")]
    trashes = "SELECT oid::regclass::text FROM pg_class WHERE relname LIKE 'trash%' AND relkind = 'r'"
    for (table,) in query(database, trashes):
        held += [row[0] for row in query(database, f"SELECT id FROM {table}")]
    assert sorted(held, key=str) == sorted(expected, key=str)
    assert len(held) == len(set(held))


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=30))
def test_frozen_rows_are_what_was_frozen(marks: list[tuple[str, str]]) -> None:
    kept = pack_rows(marks)
    assert (kept.count, list(kept)) == (len(marks), marks)
    assert list(kept.in_reverse()) == marks[::-1]
    assert kept.first(3) == marks[:3]


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, max_size=8))
def test_an_array_is_read_as_it_was_written(database: str, texts: list[str]) -> None:
    read = "SELECT t FROM unnest(CAST(? AS text[])) WITH ORDINALITY AS u(t, n) ORDER BY n"
    found = query(database, read, array_literal(texts))
    assert [row[0] for row in found] == texts
