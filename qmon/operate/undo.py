"""Undo: what a purge moved is put back, and what a requeue changed is taken back where nobody has popped it again."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qmon.engines.base import Value
from qmon.engines.queries import Name
from qmon.errors import BadInput
from qmon.model.layout import TableName
from qmon.model.layout_io import table_from_text
from qmon.model.operations import MAX_FIRST, Choice, Kind, LeftOut, OwnerState, Plan, Row, State, Undo
from qmon.operate import stores
from qmon.operate.acting import Desk
from qmon.operate.batches import Move
from qmon.operate.choosing import MOST, Found, frozen_of
from qmon.operate.frozen import CHUNK, Frozen, Mark, marks_for, texts_for
from qmon.operate.operation import Record, Running, Tally
from qmon.operate.operations import Recorded, recorded
from qmon.operate.pacing import LARGEST
from qmon.operate.payloads import shown
from qmon.operate.prepared import PreparedRows, Work, lock
from qmon.operate.preview import First, consent
from qmon.operate.rights import PUT_BACK, REQUEUE, unwritten, why_not
from qmon.operate.sql import Sql
from qmon.operate.stores import Store
from qmon.operate.table import Structure, read_structure
from qmon.operate.words import counted


@dataclass(frozen=True, slots=True)
class _Done:
    done: int


@dataclass(frozen=True, slots=True)
class _Id:
    id: str | None


def prepare_undo(desk: Desk, operation: str, choice: Choice) -> PreparedRows:
    """Read and freeze; ``choice`` may name ids and a limit. Raises ``BadInput`` where there is no such operation."""
    if choice.state is not None or choice.older_than_s is not None or choice.owner is not None:
        raise BadInput("an undo takes back all, or the messages whose ids are given")
    with contextlib.closing(desk.connect("undo plan")) as connection:
        sql = Sql(connection, desk.engine)
        found = recorded(connection, desk.engine, limit=1, id=operation)
        if not found:
            raise BadInput(f"there is no operation {operation!r} here; qmon operations lists them")
        (done,) = found
        if (why := _impossible(done) or unwritten(sql)) is not None:
            return PreparedRows(desk, _plan(desk, done, refused=desk.read_only or why), None)
        way = _way(sql, done)
        if way is None:
            why = "nothing of it is kept any more"
            return PreparedRows(desk, _plan(desk, done, refused=desk.read_only or why), None)
        rows, left = way.choose(sql, choice)
        tables = (way.table.table, None if way.data is None else way.data.table)
        why = why_not(desk, sql, PUT_BACK if way.purged else REQUEUE, *tables)
        plan = _plan(desk, done, refused=why or (None if rows.count else "nothing of it can be undone"))
        plan = _filled(desk, sql, plan, way, rows, left)
    record = Record(done.about, {"undo_of": done.id, "ids": len(choice.ids)}, undo_of=done.id)
    return PreparedRows(desk, plan, Work(rows, record, way.begin) if rows.count else None)


def _impossible(done: Recorded) -> str | None:
    if not done.undoable:
        return f"{done.kind} {done.id} cannot be undone"
    if done.state == State.RUNNING:
        return "it is still under way: stop it first"
    if done.done == 0:
        return "it changed nothing"
    return {"undone": "it is undone already", "gone": "its trash was emptied"}.get(done.undo_state)


@dataclass(frozen=True, slots=True)
class _Way:
    """How one operation is undone: from which store, into which table; of split messages also the second half."""

    done: Recorded
    store: Store
    table: Structure
    columns: Mapping[str, str | None]
    data: Structure | None = None
    data_id: str | None = None
    data_store: Store | None = None

    @property
    def purged(self) -> bool:
        return self.done.kind == Kind.PURGE

    @property
    def names(self) -> dict[str, Name]:
        """What stands for the names in the statements."""
        id = self.columns.get("id")
        back = tuple(each for each in self.store.columns if each in self.table.written)
        return {
            **{slot: column if column in back else None for slot, column in self.columns.items()},
            "table": self.table.table.parts,
            "trash": self.store.parts,
            "kept": self.store.parts,
            "id": id,
            "columns": back if self.purged else tuple(each for each in back if each != id),
        }

    @property
    def moves(self) -> tuple[str, ...]:
        """The statements of a batch."""
        if self.purged:
            return ("put_back" if self.columns.get("id") else "put_back_bulk",)
        return ("lock_kept", "take_back")

    def choose(self, sql: Sql, choice: Choice) -> tuple[Frozen, tuple[LeftOut, ...]]:
        """Count and freeze what can be undone; the rest with its reasons."""
        if choice.ids and self.columns.get("id") is None:
            raise BadInput("these messages have no ids: undo the whole operation")
        values: dict[str, Value] = {
            "operation": self.done.id,
            "ids": texts_for(sql.engine.name, choice.ids) if choice.ids else None,
            "some": bool(choice.ids),
            "limit": min(choice.limit or MOST, MOST),
            "chunk": CHUNK,
        }
        found = sql.fetch(Found, "choose_trash" if self.purged else "choose_kept", self.names, values)
        left: Counter[str] = Counter()
        left.update({row.what: row.count for row in found if row.what != "chosen"})
        return frozen_of(sql, found), tuple(LeftOut(why, count) for why, count in sorted(left.items()))

    def begin(self, sql: Sql, operation: Running) -> Move:
        """Returns what undoes one batch."""
        names = self.names

        def put_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            trash = {"table": self.store.parts, "id": names["id"]}
            ours, locked = lock(sql, "lock_trash", trash, marks, tally, self.done.id)
            if ours:
                values = {**marks_for(sql.engine.name, ours), "operation": self.done.id}
                ids = [row.id or "" for row in sql.fetch(_Id, "trash_ids", names, values)] if self.data else []
                tally.done = sql.fetch(_Done, self.moves[0], names, values)[0].done
                self._put_data_back(sql, ids)
                self._count(sql, tally, len(ours))
            return locked

        def take_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            ours, locked = lock(sql, "lock_kept", names, marks, tally, self.done.id)
            if ours:
                values = {**marks_for(sql.engine.name, ours), "operation": self.done.id}
                tally.done = sql.execute("take_back", names, values)
                sql.execute("forget_kept", names, values)
                self._count(sql, tally, len(ours))
            return locked

        return put_back if self.purged else take_back

    def _put_data_back(self, sql: Sql, ids: Sequence[str]) -> None:
        data, store = self.data, self.data_store
        if data is None or store is None or not ids:
            return
        names: dict[str, Name] = {
            "table": self.table.table.parts,
            "id": self.columns.get("id"),
            "trash": self.store.parts,
            "data_table": data.table.parts,
            "data_id": self.data_id,
            "data_trash": store.parts,
            "columns": tuple(each for each in store.columns if each in data.written),
        }
        values = {"operation": self.done.id, "ids": texts_for(sql.engine.name, ids)}
        sql.fetch(_Done, "put_back_data", names, values)

    def _count(self, sql: Sql, tally: Tally, ours: int) -> None:
        tally.changed += ours - tally.done
        sql.execute("undone", {}, {"done": tally.done, "id": self.done.id})

    def lost(self) -> tuple[str, ...]:
        """What does not come back: columns that the table no longer has."""
        columns = self.table.kept
        return tuple(f"the table has no column {each} any more" for each in self.store.columns if each not in columns)


def _way(sql: Sql, done: Recorded) -> _Way | None:
    frozen = json.loads(done.frozen)
    table = table_from_text(done.about)
    columns: dict[str, str | None] = frozen.get("columns", {})
    kind: stores.StoreKind = "trash" if done.kind == Kind.PURGE else "kept"
    store = _holding(sql, kind, table, done.id)
    if store is None:
        return None
    structure = read_structure(sql, table)
    if not frozen.get("data_table"):
        return _Way(done, store, structure, columns)
    second = table_from_text(frozen["data_table"])
    data_store = _holding(sql, "trash", second, done.id)
    return _Way(done, store, structure, columns, read_structure(sql, second), frozen["data_id"], data_store)


def _holding(sql: Sql, kind: stores.StoreKind, table: TableName, operation: str) -> Store | None:
    """The store of the table that holds rows of the operation: the table's columns may have changed since."""
    for store in reversed(stores.stores(sql, kind, table)):
        if sql.fetch(_Done, "held", {"store": store.parts}, {"operation": operation})[0].done:
            return store
    return None


def _plan(desk: Desk, done: Recorded, refused: str | None) -> Plan:
    return Plan(
        kind=Kind.UNDO,
        target=desk.target.name,
        queue=done.queue,
        title=f"Undo the {done.kind} of {done.queue} by {done.by}",
        count=0,
        unit="messages",
        predicate=f"operation {done.id}: {done.predicate}",
        sql=(),
        undo=Undo(possible=False, notes=("an undo is not undone: do it again instead",)),
        refused=refused,
    )


def _filled(desk: Desk, sql: Sql, plan: Plan, way: _Way, rows: Frozen, left: tuple[LeftOut, ...]) -> Plan:
    told = "they are as they were before: " + ("in the queue" if way.purged else "in progress, with their old owner")
    return replace(
        plan,
        count=rows.count,
        title=f"Undo the {way.done.kind} of {counted(rows.count, 'message')} of {way.done.queue} by {way.done.by}",
        sql=tuple(sql.statement(name, way.names).text for name in way.moves),
        first=_first(desk, sql, way, rows),
        left_out=left,
        batch=LARGEST,
        consequences=(told,),
        risks=way.lost(),
        consent=consent(desk, rows.count),
    )


def _first(desk: Desk, sql: Sql, way: _Way, rows: Frozen) -> tuple[Row, ...]:
    marks = rows.first(MAX_FIRST)
    there = {slot: column if column in way.store.columns else None for slot, column in way.columns.items()}
    names: dict[str, Name] = {"table": way.store.parts, **there}
    found = {row.key: row for row in sql.fetch(First, "first", names, marks_for(sql.engine.name, marks))}
    show = shown(desk, sql, TableName(*way.store.parts), there.get("payload"))
    return tuple(
        Row(row.id or "", row.state or "", row.age_s, row.owner, OwnerState.NONE, row.attempts, show(row.payload))
        for key, _ in marks
        if (row := found.get(key)) is not None
    )
