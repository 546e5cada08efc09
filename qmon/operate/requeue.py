"""Requeue: messages whose popper is dead, or stuck without a popper to ask for, are ready again at the front."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.queries import Name
from qmon.errors import BadInput
from qmon.model.layout import DEFAULT_MAX_ATTEMPTS, Layout, StateColumn
from qmon.model.layout_io import table_to_text
from qmon.model.operations import Choice, Kind, OwnerState, Plan, Undo
from qmon.operate import stores
from qmon.operate.acting import Desk
from qmon.operate.batches import Move
from qmon.operate.choosing import Chosen, State, Wanted, check, choose, column_names, shown_columns
from qmon.operate.frozen import Mark, marks_for
from qmon.operate.operation import Record, Running, Tally, standing
from qmon.operate.pacing import LARGEST
from qmon.operate.prepared import PreparedRows, Work, lock
from qmon.operate.preview import consent, estimated_s, first_rows
from qmon.operate.rights import REQUEUE, why_not
from qmon.operate.sql import Sql
from qmon.operate.table import Structure, read_structure
from qmon.operate.words import counted

_MAYBE_AT_WORK: Final = {
    OwnerState.ALIVE: "a popper that is alive",
    OwnerState.UNKNOWN: "a popper that nothing is known of",
    OwnerState.NONE: "a popper that nothing but their age speaks of (the queue names no owner)",
}


def prepare_requeue(desk: Desk, layout: Layout, choice: Choice) -> PreparedRows:
    """Read and freeze. Raises ``BadInput`` for a choice that makes no sense, and what the server says."""
    check(layout, choice)
    why = _impossible(layout, choice)
    if why is None and desk.engine.name == "sqlserver" and layout.id is None:
        why = "SQL Server leads to a row by its id alone, and this queue has none"
    if why is not None or layout.state is None:
        return PreparedRows(desk, _plan(desk, layout, refused=desk.read_only or why), None)
    wanted = _wanted(layout, choice)
    with contextlib.closing(desk.connect("requeue plan")) as connection:
        sql = Sql(connection, desk.engine)
        why = why_not(desk, sql, REQUEUE, layout.table)
        way = _Way(layout, layout.state, read_structure(sql, layout.table), wanted)
        chosen = choose(sql, layout, choice, wanted)
        count = chosen.rows.count
        undo = _undo(desk, sql, layout)
        plan = replace(
            _plan(desk, layout, refused=why or (None if count else "no message matches: nothing to do")),
            title=f"Requeue {counted(count, 'message')} of {layout.queue}",
            count=count,
            predicate=chosen.predicate,
            sql=tuple(sql.statement(name, way.names).text for name in ("lock", "requeue")),
            first=first_rows(desk, sql, layout, choice, wanted, chosen),
            left_out=chosen.left_out,
            batch=LARGEST,
            seconds=estimated_s(sql, Kind.REQUEUE, layout, count),
            undo=undo,
            consequences=way.consequences(),
            risks=way.risks(chosen),
            consent=consent(desk, count),
        )
    frozen: dict[str, object] = {"clock": chosen.facts.clock, "owners": sorted(chosen.owner_states)}
    frozen |= shown_columns(layout, layout.started_at)
    record = Record(table_to_text(layout.table), frozen, undoable=undo.possible)
    return PreparedRows(desk, plan, Work(chosen.rows, record, way.begin) if count else None)


def _plan(desk: Desk, layout: Layout, refused: str | None) -> Plan:
    title = f"Requeue messages of {layout.queue}"
    return Plan(Kind.REQUEUE, desk.target.name, layout.queue, title, 0, "messages", "", (), refused=refused)


class _Way:
    """How messages of one layout are requeued."""

    def __init__(self, layout: Layout, state: StateColumn, structure: Structure, wanted: Wanted) -> None:
        self._layout, self._structure, self._wanted = layout, structure, wanted
        owner = None if layout.owner is None else layout.owner.column
        cleared = tuple(each for each in (layout.started_at, owner) if each is not None and structure.takes_null(each))
        counted = layout.attempts is not None and state.dead is not None and wanted.states == ("in_progress",)
        self._max_attempts = (layout.max_attempts or DEFAULT_MAX_ATTEMPTS) if counted else None
        self._kept = tuple(each for each in (layout.id, state.column, *cleared, layout.attempts) if each is not None)
        self.names: dict[str, Name] = {
            **column_names(layout, layout.started_at if wanted.states == ("in_progress",) else layout.enqueued_at),
            "cleared": cleared,
            "columns": self._kept,
        }
        # A row with nothing but a state, as JSON: PostgreSQL gives it the column's own type.
        self._values: dict[str, Value] = {
            "ready": json.dumps({state.column: state.ready}),
            "dead": json.dumps({state.column: state.ready if state.dead is None else state.dead}),
            "ready_value": state.ready,
            "dead_value": state.ready if state.dead is None else state.dead,
            "max_attempts": self._max_attempts,
        }

    def begin(self, sql: Sql, operation: Running) -> Move:
        """Make the table for what is changed, where it can be had; returns what requeues one batch."""
        names = dict(self.names)
        keeping = operation.recorded and self._layout.id is not None
        if keeping:
            names["kept"] = stores.ensure(sql, "kept", self._structure, self._kept, self._layout.id).parts

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            ours, locked = lock(sql, "lock", names, marks, tally)
            if ours:
                values = self._values | marks_for(sql.engine.name, ours) | {"operation": operation.id}
                if keeping:
                    sql.execute("keep", names, values)
                tally.done = sql.execute("requeue", names, values)
                tally.changed += len(ours) - tally.done
            return locked

        return move

    def consequences(self) -> tuple[str, ...]:
        """What consumers will notice."""
        front = "they go to the front: poppers take them next"
        if self._max_attempts is None:
            return (front,)
        return front, f"those with {counted(self._max_attempts, 'attempt')} or more become dead letters"

    def risks(self, chosen: Chosen) -> tuple[str, ...]:
        """What may go wrong by it."""
        if self._wanted.states != ("in_progress",):
            return ("they were popped before: whoever had them gets them delivered twice",)
        if not (risky := chosen.owner_states - {OwnerState.DEAD}):
            return ()
        who = " or ".join(_MAYBE_AT_WORK[state] for state in sorted(risky))
        return (f"{who} may be at work on them still: then they are delivered twice",)


def _impossible(layout: Layout, choice: Choice) -> str | None:
    if layout.ring is not None:
        return "a ring's messages are popped for good; its orphans are requeued by: repair"
    if layout.traits.deletes_on_pop or layout.state is None:
        return "a message in progress is an open transaction here; ending that session requeues it: end-blocker"
    if choice.state == "ready":
        return "ready messages are in the queue already"
    if choice.state is None and layout.state.in_progress is None:
        return "messages of this queue are never in progress; to have processed ones again, give the state: done"
    if layout.started_at is not None or choice.ids or choice.state in ("done", "dead"):
        return None
    # Without a time of the pop, only a dead owner or the operator's own eyes say that a message is stuck.
    if choice.older_than_s is not None:
        return "no column says since when messages are in progress; give their ids"
    if layout.owner is None or choice.owner_states - {OwnerState.DEAD}:
        return "no column says since when messages are in progress, and no owner proves them dead; give their ids"
    return None


def _wanted(layout: Layout, choice: Choice) -> Wanted:
    state: State = choice.state or "in_progress"  # type: ignore[assignment]
    if state != "in_progress":
        if choice.older_than_s is not None and layout.enqueued_at is None:
            raise BadInput(f"queue {layout.queue!r} has no column that says when a message was pushed; give ids")
        return Wanted((state,), layout.enqueued_at, choice.older_than_s, None)
    by_age = choice.older_than_s is None and not choice.ids and layout.started_at is not None
    return Wanted((state,), layout.started_at, choice.older_than_s, layout.timeout_s if by_age else None)


def _undo(desk: Desk, sql: Sql, layout: Layout) -> Undo:
    if layout.id is None:
        return Undo(possible=False, notes=("the queue has no ids",))
    if not standing(sql.connection, desk.engine).possible:
        return Undo(possible=False, notes=("this role cannot keep what an undo needs: qmon setup --role operator",))
    return Undo(possible=True, notes=("only what has not been popped again by then",))
