"""Purge: moves messages into the trash in the same transaction that deletes them from the queue."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout
from qmon.model.operations import Choice, Kind, Nothing, Plan, Undo
from qmon.model.text import duration
from qmon.operate.actions import undo_tables
from qmon.operate.context import OperatorContext
from qmon.operate.plan import allowed
from qmon.operate.plan.preview import called, estimated_s, first_rows
from qmon.operate.plan.rights import PURGE, queue_tables, unkept, why_not
from qmon.operate.plan.selection import (
    CHOOSE_STATE,
    Criteria,
    MessageQuery,
    Selection,
    State,
    check,
    column_names,
    needs_pushed,
    shown_columns,
    value_of,
)
from qmon.operate.row_set import Mark, marks_for
from qmon.operate.run.batches import BatchWork, Move, RowRefused, lock
from qmon.operate.run.operation import Record, Running, Tally, audit_access
from qmon.operate.run.pacing import LARGEST
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.run.table_identity import TableIdentity, read_place
from qmon.operate.run.verification import TriggerWatch
from qmon.operate.sql import Names, Sql, Values
from qmon.operate.table import Structure, read_structure, unkeyed

_DAY_S: Final = 86400.0


def prepare_purge(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Select and freeze the messages to purge. Raises ``BadInput`` for a choice that makes no sense,
    and server errors.
    """
    deny = partial(refused, context, Kind.PURGE, layout.queue, f"Purge messages of {layout.queue}")
    if (why := allowed.why_not(layout, Kind.PURGE)) is not None:
        return deny(why)
    check(layout, choice)
    wanted = _wanted(layout, choice)
    with context.sql("purge plan") as sql:
        strategy = _strategy_for(sql, layout)
        if (why := _impossible(context, sql, layout, strategy)) is not None:
            return deny(why)
        why = why_not(context, sql, PURGE, *queue_tables(layout))
        query = MessageQuery(sql, layout, strategy.table, choice, wanted)
        chosen = query.choose()
        # Start at the far end: consumers at the near end then meet neither our locks nor the dead rows of the purge.
        rows = chosen.rows if layout.traits.order == "lifo" else chosen.rows.turned()
        count = rows.count
        plan = Plan(
            Kind.PURGE,
            context.target.name,
            layout.queue,
            title=f"Purge {chosen.words} of {layout.queue}",
            count=count,
            predicate=chosen.predicate,
            sql=tuple(sql.statement(name, strategy.shown).text for name in ("lock", *strategy.moves)),
            first=first_rows(context, query, chosen),
            left_out=chosen.left_out,
            batch=LARGEST,
            seconds=estimated_s(sql, Kind.PURGE, layout, count),
            undo=Undo(
                True,
                undo_tables.lost(*filter(None, (strategy.table, strategy.data))),
                time.time() + context.trash_days * _DAY_S,
            ),
            consequences=_consequences(context, layout, strategy),
            risks=_risks(wanted),
            consent=context.consent(count),
            refused=why or (None if count else Nothing.NO_MESSAGE),
        )
    record = Record(table_to_text(layout.table), _frozen(chosen, strategy), undoable=True, tables=queue_tables(layout))
    return PreparedAction(context, plan, BatchWork(rows, strategy.begin, strategy.named) if count else None, record)


@dataclass(frozen=True, slots=True)
class _Strategy:
    """Moves messages of one layout into the trash: for split messages first the second half, then the table's row.

    ``unwatched``: the server does not report rows written by triggers.
    """

    layout: Layout
    table: Structure
    data: Structure | None
    place: TableIdentity
    data_place: TableIdentity | None
    unwatched: bool = False

    @property
    def moves(self) -> tuple[str, ...]:
        """The statements of a batch."""
        return ("purge",) if self.data is None else ("purge_data", "purge")

    @property
    def shown(self) -> dict[str, Name]:
        """Names for showing the statements before the trash table has a number."""
        layout = self.layout
        return {
            **column_names(layout, self.table, layout.enqueued_at),
            "data_table": None if layout.data_table is None else layout.data_table.parts,
            "data_id": layout.data_id,
            "trash": ("qmon", "trash"),
            "columns": self.table.kept,
        }

    def begin(self, sql: Sql, operation: Running) -> Move:
        """Create the trash table if it is missing. Return the function that purges one batch."""
        layout, data, engine, key = self.layout, self.data, sql.engine.name, self.table.key
        self._check(sql, ())
        names = self.shown | {"trash": undo_tables.ensure(sql, "trash", self.table, self.table.kept).parts}
        data_names: dict[str, Name] = {}
        if data is not None and layout.data_id is not None:
            trash = undo_tables.ensure(sql, "trash", data, data.kept, layout.data_id).parts
            data_names = names | {"trash": trash, "columns": data.kept}

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            own, held = lock(sql, "lock", names, marks_for(engine, marks, key), marks, tally)
            if own:
                values: dict[str, Value] = {**marks_for(engine, own, key), "operation": operation.id}
                watch = TriggerWatch(sql, "delete", self.table, self.data)
                deleted = 0
                if data_names:
                    deleted = sql.execute("purge_data", data_names, values)
                    if sql.count("data_left", data_names, values):
                        raise RowRefused(f"the triggers or policies of {self.layout.data_table} keep its other half")
                tally.done = sql.execute("purge", names, values)
                self._check_gone(sql, names, values, len(own), tally.done)
                watch.check_deleted(deleted + tally.done)
            self._check(sql, marks)
            return held

        return move

    def _check_gone(self, sql: Sql, names: Names, values: Values, wanted: int, done: int) -> None:
        """Raise ``RowRefused`` unless the rows are in the trash and, by their key, no longer in the table."""
        if done != wanted:
            raise RowRefused("the table's triggers or policies keep it from being deleted")
        # SQL Server counts rows as deleted even if a trigger replaces the statement or puts them back.
        look = self.table.named("trigger") and sql.exists("still_there")
        if look and sql.count("still_there", names, {**values, "done": done}):
            raise RowRefused("the table's triggers put it back at once")

    def _check(self, sql: Sql, marks: Sequence[Mark]) -> None:
        self.place.check(sql, marks)
        if self.data_place is not None:
            self.data_place.check(sql)

    def named(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        return called(sql, self.shown, marks_for(sql.engine.name, [mark], self.table.key))

    def foreseen(self) -> tuple[str, ...]:
        """Describe messages that may be left alone, and effects that others will notice."""
        out = []
        for structure in filter(None, (self.table, self.data)):
            if others := structure.named("referred"):
                out.append(f"a message that rows of {', '.join(others)} refer to is left alone")
            if before := structure.named("before delete"):
                out.append(f"a message that a trigger keeps from being deleted is left alone: {', '.join(before)}")
            # SQL Server does not count the rows that a session writes: see ``TriggerWatch``.
            if self.unwatched and (after := structure.named("on delete")):
                out.append(f"qmon does not notice rows that these triggers insert under other keys: {', '.join(after)}")
            out += structure.unseen
        return tuple(out)


def _strategy_for(sql: Sql, layout: Layout) -> _Strategy:
    data = None
    if layout.data_table is not None:
        if layout.id is None or layout.data_id is None:
            raise BadInput(f"queue {layout.queue!r}: split tables move together only where both ids are known")
        data = read_structure(sql, layout.data_table)
    place = read_place(sql, layout.table)
    data_place = None if layout.data_table is None else read_place(sql, layout.data_table)
    return _Strategy(layout, read_structure(sql, layout.table), data, place, data_place, not TriggerWatch.possible(sql))


def _impossible(context: OperatorContext, sql: Sql, layout: Layout, strategy: _Strategy) -> str | None:
    if context.engine.name == "sqlserver" and (why := unkeyed(strategy.table)):
        return why
    if strategy.data is not None and layout.id is not None and not strategy.table.known_by((layout.id,)):
        table = strategy.table.table
        return f"{layout.id} alone makes no row of {table} known: the other half of a message cannot be told"
    for structure in filter(None, (strategy.table, strategy.data)):
        if others := structure.named("cascade"):
            named = ", ".join(others)
            return f"rows of {named} go or change with those of {structure.table}: no undo could restore that"
        if structure.named("uncounted") and (triggers := structure.named("on delete")):
            return f"track_counts is off: what the triggers of {structure.table} do is unknown: {', '.join(triggers)}"
        if rules := (*structure.named("rule delete"), *structure.named("rule insert")):
            return f"{structure.table} has rules in whose stead something else may happen: {', '.join(rules)}"
        if wide := structure.named("too wide"):
            return f"{structure.table} is too wide for the trash: {wide[0]}"
        if (why := unkept(sql, structure.table, structure.kept)) is not None:
            return why
        if taken := set(structure.kept) & set(undo_tables.OWN):
            return f"{structure.table} has a column called {min(taken)}, as the trash has"
    if strategy.data is not None and str(strategy.data.table) in strategy.table.named("refers"):
        return f"{strategy.table.table} refers to {strategy.data.table}: they cannot be moved one after the other"
    if not audit_access(sql).possible:
        return "there is no trash: this role may not write qmon's schema; this helps: qmon setup --role operator"
    return None


def _wanted(layout: Layout, choice: Choice) -> Criteria:
    """Return the criteria: the chosen state, all states but in progress for ids, else dead. Raises ``BadInput``."""
    if choice.aged:
        needs_pushed(layout)
    asked: tuple[State, ...] = ("ready", "done", "dead") if choice.ids else ("dead",)
    if choice.state is not None:
        asked = (choice.state,)  # type: ignore[assignment]  # ``check_choice`` has checked it
    states = tuple(state for state in asked if value_of(layout, state) is not None)
    if not states and "ready" not in asked:
        raise BadInput(f"queue {layout.queue!r} has no dead messages to purge: {CHOOSE_STATE}")
    return Criteria(states, layout.enqueued_at, choice.older_than_s, None)


def _consequences(context: OperatorContext, layout: Layout, strategy: _Strategy) -> tuple[str, ...]:
    out = [
        "no popper gets them",
        f"they are kept in the trash, {duration(context.trash_days * _DAY_S)} at least",
    ]
    if strategy.data is not None:
        out.append(f"rows of {layout.data_table} go with them")
    return (*out, *strategy.foreseen())


def _risks(wanted: Criteria) -> tuple[str, ...]:
    return ("a popper at work on one of them cannot complete it",) if "in_progress" in wanted.states else ()


def _frozen(chosen: Selection, strategy: _Strategy) -> dict[str, object]:
    layout = strategy.layout
    data = None if strategy.data is None else table_to_text(strategy.data.table)
    out: dict[str, object] = {"clock": chosen.facts.clock, "data_table": data, "data_id": layout.data_id}
    return out | shown_columns(layout, strategy.table, layout.enqueued_at)
