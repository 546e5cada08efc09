"""Undo: restores purged messages, and takes back a requeue unless the messages were popped again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.io import table_from_text
from qmon.model.layout.layout import TableName
from qmon.model.operations import MAX_FIRST, Choice, Kind, LeftOut, OperationState, OwnerState, Plan, PlanRow, Undo
from qmon.model.text import counted
from qmon.operate.actions import undo_tables
from qmon.operate.actions.undo_tables import Store
from qmon.operate.context import OperatorContext
from qmon.operate.plan.preview import First, shown, sized, typed
from qmon.operate.plan.rights import PUT_BACK, REQUEUE, unkept, unwritten, why_not
from qmon.operate.plan.selection import MOST, Matches, frozen_of, named_columns, named_names
from qmon.operate.row_set import CHUNK, Mark, RowSet, ids_for, rows_for
from qmon.operate.run.batches import BatchWork, Move, RowRefused, lock
from qmon.operate.run.operation import Record, Running, Tally
from qmon.operate.run.operations import Recorded, recorded
from qmon.operate.run.pacing import LARGEST
from qmon.operate.run.prepared import PreparedAction
from qmon.operate.run.verification import TriggerWatch, Written, check_written, still_at
from qmon.operate.sql import Names, Sql
from qmon.operate.table import Structure, read_structure

# State of the rows before these kinds of operations. A requeue may have changed rows of several states.
_BEFORE: Final[Mapping[str, str]] = {Kind.PURGE: "in the queue", Kind.REDRIVE: "dead"}


@dataclass(frozen=True, slots=True)
class _Back:
    done: int
    other: int
    altered: int
    places: str | None


@dataclass(frozen=True, slots=True)
class _Half:
    key: str


def prepare_undo(context: OperatorContext, operation: str, choice: Choice) -> PreparedAction:
    """Select and freeze the rows to undo. ``choice`` may contain ids and a limit.

    Raises ``BadInput`` if there is no such operation.
    """
    if choice.state is not None or choice.aged or choice.texts or choice.owner is not None:
        raise BadInput("an undo takes back all, or the messages whose ids are given")
    with context.sql("undo plan") as sql:
        found = recorded(sql, limit=1, id=operation)
        if not found:
            raise BadInput(f"there is no operation {operation!r} here; qmon operations lists them")
        (done,) = found
        if (why := _impossible(done) or unwritten(sql)) is not None:
            return PreparedAction(context, _plan(context, done, refused=why))
        strategy = _strategy_for(sql, done)
        if strategy is None:
            why = "nothing of it is kept any more"
            return PreparedAction(context, _plan(context, done, refused=why))
        if (why := strategy.unkept(sql)) is not None:
            return PreparedAction(context, _plan(context, done, refused=why))
        rows, left = strategy.choose(sql, choice)
        halves = (strategy,) if strategy.data_strategy is None else (strategy, strategy.data_strategy)
        tables = tuple(each.table.table for each in halves)
        why = why_not(context, sql, PUT_BACK if strategy.purged else REQUEUE, *tables)
        plan = _plan(context, done, refused=why or (None if rows.count else "nothing of it can be undone"))
        plan = _filled(context, sql, plan, strategy, rows, left)
    record = Record(done.about, {"undo_of": done.id, "ids": len(choice.ids)}, undo_of=done.id, tables=tables)
    return PreparedAction(
        context, plan, BatchWork(rows, strategy.begin, strategy.named) if rows.count else None, record
    )


def _impossible(done: Recorded) -> str | None:
    if not done.undoable:
        return f"{done.kind} {done.id} cannot be undone"
    if done.state == OperationState.RUNNING:
        return "it is still under way: stop it first"
    if done.done == 0:
        return "it changed nothing"
    return {"undone": "it is undone already", "gone": "its trash was emptied"}.get(done.undo_state)


@dataclass(frozen=True, slots=True)
class _Strategy:
    """Undoes one operation: moves rows from a store into a table, for split messages also the second half.

    For a requeue, ``known`` are the columns that identify a message, and ``clocked`` the columns set from the
    server's clock.
    """

    done: Recorded
    store: Store
    table: Structure
    columns: Mapping[str, Any]
    known: tuple[str, ...] = ()
    clocked: tuple[str, ...] = ()
    data_strategy: _Strategy | None = None
    data_id: str | None = None

    @property
    def purged(self) -> bool:
        return self.done.kind == Kind.PURGE

    @property
    def key(self) -> tuple[str, ...]:
        """The key that finds a row of the table, as far as the store contains it; for a requeue as recorded."""
        if not self.purged:
            return self.known
        return next((key for key in self.table.keys if set(key) <= set(self.store.columns)), ())

    @property
    def called(self) -> tuple[str, ...]:
        """The columns that make up a message's id."""
        return tuple(each for each in self.columns.get("called") or () if each in self.store.columns)

    @property
    def names(self) -> dict[str, Name]:
        """The names for the statements."""
        back = tuple(each for each in self.store.columns if each in self.table.written)
        out: dict[str, Name] = {slot: column for slot, column in self.columns.items() if slot != "called"}
        given = tuple(each for each in back if each not in self.key)
        return out | {
            "table": self.table.table.parts,
            "trash": self.store.parts,
            "kept": self.store.parts,
            "store": self.store.parts,
            "called": self.called or None,
            "key": self.key or None,
            "columns": back if self.purged else given,
            "certain": self._certain(back)
            if self.purged
            else tuple(each for each in given if each not in self.clocked),
        }

    @property
    def shown(self) -> dict[str, Name]:
        """The names for showing rows of the store, which may lack columns that a plan shows."""
        slots = ("state", "since", "owner", "attempts", "payload")
        there = self.store.columns
        return self.names | {slot: column if (column := self.columns.get(slot)) in there else None for slot in slots}

    def _certain(self, back: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns that must come back unchanged: those that identify a message, or all if
        qmon knows none.
        """
        if not self.key or self.columns.get("payload") is None:
            return back
        known = {*self.key, *self.called, self.columns.get("state"), self.columns.get("payload")}
        return tuple(each for each in back if each in known)

    @property
    def moves(self) -> tuple[str, ...]:
        """The statements of a batch."""
        return ("put_back", "take_out" if self.key else "take_out_bulk") if self.purged else ("lock_kept", "take_back")

    def unkept(self, sql: Sql) -> str | None:
        """Return why a column cannot be compared with its saved value, or ``None`` if all can."""
        why = unkept(sql, self.table.table, self.store.columns)
        return why if why is not None or self.data_strategy is None else self.data_strategy.unkept(sql)

    def choose(self, sql: Sql, choice: Choice) -> tuple[RowSet, tuple[LeftOut, ...]]:
        """Count and freeze the rows that can be undone. Also return the rest with the reasons."""
        called = self.called
        # Statements of SQL Server need some columns for the ids even without ids.
        named = named_columns(called, called[-1] if called else None, choice.ids) if choice.ids else self.key
        values: dict[str, Value] = {
            "operation": self.done.id,
            "ids": ids_for(sql.engine.name, named, choice.ids) if choice.ids else None,
            "some": bool(choice.ids),
            "limit": min(choice.limit or MOST, MOST),
            "chunk": CHUNK,
        }
        names = self.names | named_names(named)
        found = sql.fetch(Matches, "choose_trash" if self.purged else "choose_kept", names, values)
        left: Counter[str] = Counter()
        left.update({row.what: row.count for row in found if row.what != "chosen"})
        return frozen_of(sql, found), tuple(LeftOut(why, count) for why, count in sorted(left.items()))

    def begin(self, sql: Sql, operation: Running) -> Move:
        """Return the function that undoes one batch."""
        names, engine = self.names, sql.engine.name
        given_back = tuple(each for each in self.store.columns if each in self.table.written and each not in self.key)

        def put_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            values: dict[str, Value] = {"operation": self.done.id}
            own, held = lock(sql, "lock_trash", names, values | rows_for(engine, marks), marks, tally)
            if own:
                halves = self._halves(sql, own)
                back = self._put_back(sql, names, own)
                if self.data_strategy is not None and halves:
                    back += self.data_strategy._put_back(sql, self.data_strategy.names, halves)
                tally.done = len(own)
                operation.alter(back)
                sql.execute("undone", {}, {"done": tally.done, "id": self.done.id})
            return held

        def take_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            values: dict[str, Value] = {"operation": self.done.id}
            own, held = lock(sql, "lock_kept", names, values | rows_for(engine, marks), marks, tally)
            if own:
                values |= rows_for(engine, own)
                watch = TriggerWatch(sql, "update", self.table)
                back = sql.fetch(Written, "take_back", names, values)
                check_written(sql, names, back, len(own), given_back, self.table.named("trigger"))
                watch.check_updated(len(own))
                tally.done = len(back)
                sql.execute("forget_kept", names, values)
                sql.execute("undone", {}, {"done": tally.done, "id": self.done.id})
            return held

        return put_back if self.purged else take_back

    def _halves(self, sql: Sql, own: Sequence[Mark]) -> list[Mark]:
        """Return the rows of the second table's trash that belong to these."""
        if self.data_strategy is None or not self.called:
            return []
        names: dict[str, Name] = {
            "trash": self.store.parts,
            "id": self.called[-1],
            "data_trash": self.data_strategy.store.parts,
            "data_id": self.data_id,
        }
        values: dict[str, Value] = {**rows_for(sql.engine.name, own), "operation": self.done.id}
        return [(each.key, "") for each in sql.fetch(_Half, "other_halves", names, values)]

    def _put_back(self, sql: Sql, names: Names, own: Sequence[Mark]) -> int:
        """Put exactly these rows back and delete them from the trash. Return how many were altered by triggers.

        Raises ``RowRefused`` if a row did not come back, or came back with other important values.
        """
        values: dict[str, Value] = {**rows_for(sql.engine.name, own), "operation": self.done.id}
        watch = TriggerWatch(sql, "insert", self.table)
        back = sql.fetch(_Back, "put_back", names, values)[0]
        if back.done == len(own) and self.table.named("trigger"):
            untouched = still_at(sql, names["table"], json.loads(back.places or "[]"))
            if not untouched and not self.key:
                raise RowRefused("the table's triggers write it once more, or take it away again")
            watch.check_inserted(back.done, touched=not untouched)
            if not untouched:
                back = sql.fetch(_Back, "came_back", names, values)[0]
        if back.done != len(own):
            raise RowRefused("the table's triggers keep it out")
        if back.other:
            raise RowRefused("the table's triggers change it on its way in")
        if sql.execute(self.moves[-1], names, values) != len(own):
            raise RowRefused("the table's triggers took it away again")
        return back.altered

    def named(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        found = sql.fetch(
            First, "first_kept", self.shown | {"payload": None, "sized": None}, rows_for(sql.engine.name, [mark])
        )
        return next((row.id for row in found if row.id), "one without an id")

    def lost(self) -> tuple[str, ...]:
        """Describe values that do not come back because the table no longer has their columns."""
        columns = self.table.kept
        return tuple(f"the table has no column {each} any more" for each in self.store.columns if each not in columns)


def _strategy_for(sql: Sql, done: Recorded) -> _Strategy | None:
    frozen = json.loads(done.frozen)
    table = table_from_text(done.about)
    columns: dict[str, Any] = frozen.get("columns", {})
    kind: undo_tables.StoreKind = "trash" if done.kind == Kind.PURGE else "kept"
    store = _holding(sql, kind, table, done.id)
    if store is None:
        return None
    structure = read_structure(sql, table)
    if not frozen.get("data_table"):
        return _Strategy(
            done, store, structure, columns, tuple(frozen.get("known", ())), tuple(frozen.get("clocked", ()))
        )
    second = table_from_text(frozen["data_table"])
    if (data_store := _holding(sql, "trash", second, done.id)) is None:
        return _Strategy(done, store, structure, columns)
    data_columns = {"called": [frozen["data_id"]], "payload": columns.get("payload")}
    data_strategy = _Strategy(done, data_store, read_structure(sql, second), data_columns)
    return _Strategy(done, store, structure, columns, data_strategy=data_strategy, data_id=frozen["data_id"])


def _holding(sql: Sql, kind: undo_tables.StoreKind, table: TableName, operation: str) -> Store | None:
    """Return the store that contains rows of the operation. The table's columns may have changed since."""
    for store in reversed(undo_tables.stores(sql, kind, table)):
        if sql.count("held", {"store": store.parts}, {"operation": operation}):
            return store
    return None


def _plan(context: OperatorContext, done: Recorded, refused: str | None) -> Plan:
    return Plan(
        kind=Kind.UNDO,
        target=context.target.name,
        queue=done.queue,
        title=f"Undo the {done.kind} of {done.queue} by {done.by}",
        count=0,
        unit="messages",
        predicate=f"operation {done.id}: {done.predicate}",
        sql=(),
        undo=Undo(possible=False, notes=("an undo is not undone: do it again instead",)),
        refused=refused,
    )


def _filled(
    context: OperatorContext, sql: Sql, plan: Plan, strategy: _Strategy, rows: RowSet, left: tuple[LeftOut, ...]
) -> Plan:
    done = strategy.done
    restored = f"they are as they were before: {_BEFORE.get(done.kind, 'with their old state and owner')}"
    return replace(
        plan,
        count=rows.count,
        title=f"Undo the {done.kind} of {counted(rows.count, 'message')} of {done.queue} by {done.by}",
        sql=tuple(sql.statement(name, strategy.names).text for name in strategy.moves),
        first=_first(context, sql, strategy, rows),
        left_out=left,
        batch=LARGEST,
        consequences=(restored,),
        risks=strategy.lost(),
        consent=context.consent(rows.count),
    )


def _first(context: OperatorContext, sql: Sql, strategy: _Strategy, rows: RowSet) -> tuple[PlanRow, ...]:
    marks = rows.first(MAX_FIRST)
    store = TableName(*strategy.store.parts)
    payload: str | None = strategy.columns.get("payload")
    payload = payload if payload in strategy.store.columns else None
    names = strategy.shown | {"payload": typed(sql, store, payload), "sized": sized(sql, store, payload)}
    found = {row.key: row for row in sql.fetch(First, "first_kept", names, rows_for(sql.engine.name, marks))}
    show = shown(context, sql, store, payload)
    return tuple(
        PlanRow(row.id or "", row.state or "", row.age_s, row.owner, OwnerState.NONE, row.attempts, show(row.payload))
        for key, _ in marks
        if (row := found.get(key)) is not None
    )
