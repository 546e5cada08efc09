"""Undoes operations: restores purged messages, and reverses a requeue for messages that were not popped again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.formatting import count_text
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.layout_io import table_from_text
from qmon.model.operation_records import (
    MAX_PLAN_ROWS,
    Choice,
    LeftOut,
    OperationKind,
    OperationState,
    OwnerState,
    Plan,
    PlanRow,
    Undo,
    UndoState,
)
from qmon.operate.actions import undo_tables
from qmon.operate.actions.undo_tables import Store
from qmon.operate.context import OperatorContext
from qmon.operate.plan.exclusions import left_out_messages
from qmon.operate.plan.preview import PreviewRow, payload_shower, read_sized_column, read_typed_column
from qmon.operate.plan.required_rights import (
    PUT_BACK_PRIVILEGES,
    REQUEUE_PRIVILEGES,
    why_no_record,
    why_not_keepable,
    why_not_permitted,
)
from qmon.operate.plan.selection import MAX_MESSAGES, Matches, count_excluded, id_columns_for, id_names, pack_matches
from qmon.operate.row_set import CHUNK_ROWS, Mark, RowSet, ids_for, rows_for
from qmon.operate.run.batches import BatchWork, MoveBatch, RowRefused, lock_rows
from qmon.operate.run.operation_history import OperationRow, read_operations
from qmon.operate.run.pacing import LARGEST_BATCH
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, Tally
from qmon.operate.run.verification import TriggerWatch, WrittenRow, check_written, is_still_as_written
from qmon.operate.sql import Names, Sql
from qmon.operate.table_structure import TableStructure, read_structure
from qmon.texts import Text


class UndoText(Text):
    """Texts of plans that undo an operation."""

    IN_QUEUE = "in the queue"
    IDS_ONLY = "an undo restores all messages, or only messages whose ids you give"
    NO_OPERATION = "there is no operation {operation!r}; to list operations: qmon operations TARGET"
    SAVED_GONE = "the saved messages of the operation no longer exist"
    NOTHING = "no message can be restored"
    NOT_UNDOABLE = "{kind} {id} cannot be undone"
    RUNNING = "the operation is still running: stop it first"
    CHANGED_NOTHING = "the operation changed nothing"
    UNDONE = "the operation has already been undone"
    TRASH_EMPTIED = "the operation's trash was emptied"
    CHANGED_AGAIN = "the table's triggers change the row again, or delete it"
    INSERT_PREVENTED = "the table's triggers prevent the insertion"
    INSERT_CHANGED = "the table's triggers change the row during the insert"
    DELETED_AGAIN = "the table's triggers deleted the row again"
    NO_ID = "a message without an id"
    COLUMN_GONE = "the table no longer has the column {column}"
    TITLE_ALL = "Undo the {kind} of {queue} by {by}"
    PREDICATE = "operation {id}: {predicate}"
    REPEAT = "repeat the operation instead"
    OLD_STATE = "with their old state and owner"
    AS_BEFORE = "the messages are as they were before the operation: {before}"
    TITLE = "Undo the {kind} of {messages} of {queue} by {by}"


# State of the rows before these kinds of operations. A requeue may have changed rows of several states.
_STATE_BEFORE: Final[Mapping[str, str]] = {OperationKind.PURGE: UndoText.IN_QUEUE, OperationKind.REDRIVE: "dead"}


@dataclass(frozen=True, slots=True)
class _PutBack:
    done: int
    other: int
    altered: int
    places: str | None


@dataclass(frozen=True, slots=True)
class _OtherHalf:
    key: str


def prepare_undo(context: OperatorContext, operation: str, choice: Choice) -> PreparedAction:
    """Select and freeze the rows to undo. ``choice`` may contain ids and a limit.

    Raises ``BadInput`` if there is no such operation.
    """
    if choice.state is not None or choice.has_age_limit or choice.has_text_filter or choice.owner is not None:
        raise BadInput(UndoText.IDS_ONLY)
    with context.open_sql("undo plan") as sql:
        found = read_operations(sql, limit=1, id=operation)
        if not found:
            raise BadInput(UndoText.NO_OPERATION.render(operation=operation))
        (done,) = found
        if (why := _why_impossible(done) or why_no_record(sql)) is not None:
            return PreparedAction(context, _basic_plan(context, done, refused=why))
        undo = _read_table_undo(sql, done)
        if undo is None:
            why = UndoText.SAVED_GONE
            return PreparedAction(context, _basic_plan(context, done, refused=why))
        if (why := undo.why_not_comparable(sql)) is not None:
            return PreparedAction(context, _basic_plan(context, done, refused=why))
        rows, left = undo.choose_rows(sql, choice)
        halves = (undo,) if undo.data_undo is None else (undo, undo.data_undo)
        tables = tuple(each.table.table for each in halves)
        why = why_not_permitted(context, sql, PUT_BACK_PRIVILEGES if undo.is_purge else REQUEUE_PRIVILEGES, *tables)
        plan = _basic_plan(context, done, refused=why or (None if rows.count else UndoText.NOTHING))
        plan = _full_plan(context, sql, plan, undo, rows, left)
    record = OperationRecord(done.about, {"undo_of": done.id, "ids": len(choice.ids)}, undo_of=done.id, tables=tables)
    return PreparedAction(
        context,
        plan,
        BatchWork(rows, undo.create_mover, undo.read_message_name) if rows.count else None,
        record,
    )


def _why_impossible(done: OperationRow) -> str | None:
    if not done.undoable:
        return UndoText.NOT_UNDOABLE.render(kind=done.kind, id=done.id)
    if done.state == OperationState.RUNNING:
        return UndoText.RUNNING
    if done.done == 0:
        return UndoText.CHANGED_NOTHING
    reasons = {
        UndoState.UNDONE: UndoText.UNDONE,
        UndoState.GONE: UndoText.TRASH_EMPTIED,
    }
    return reasons.get(done.undo_state)


@dataclass(frozen=True, slots=True)
class _TableUndo:
    """Undoes one operation by moving rows from a store back into the table.

    If messages have rows in two tables, the undo also moves the row of the second table. For a requeue, ``known``
    contains the columns that identify a message, and ``clocked`` contains the columns set from the server's clock.
    """

    done: OperationRow
    store: Store
    table: TableStructure
    columns: Mapping[str, Any]
    known: tuple[str, ...] = ()
    clocked: tuple[str, ...] = ()
    data_undo: _TableUndo | None = None
    data_id: str | None = None

    @property
    def is_purge(self) -> bool:
        return self.done.kind == OperationKind.PURGE

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns in the store or, for a requeue, the recorded columns that identify a message."""
        if not self.is_purge:
            return self.known
        return next((key for key in self.table.keys if set(key) <= set(self.store.columns)), ())

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The columns that make up a message's id."""
        return tuple(each for each in self.columns.get("called") or () if each in self.store.columns)

    @property
    def names(self) -> dict[str, Name]:
        """The names for the statements."""
        back = tuple(each for each in self.store.columns if each in self.table.writable_columns)
        out: dict[str, Name] = {slot: column for slot, column in self.columns.items() if slot != "called"}
        given = tuple(each for each in back if each not in self.key)
        return out | {
            "table": self.table.table.parts,
            "trash": self.store.parts,
            "kept": self.store.parts,
            "store": self.store.parts,
            "called": self.id_columns or None,
            "key": self.key or None,
            "columns": back if self.is_purge else given,
            "certain": self._unchanging_columns(back)
            if self.is_purge
            else tuple(each for each in given if each not in self.clocked),
        }

    @property
    def shown_names(self) -> dict[str, Name]:
        """The names for showing rows of the store. The store may lack columns that a plan shows."""
        slots = ("state", "since", "owner", "attempts", "payload")
        there = self.store.columns
        return self.names | {slot: column if (column := self.columns.get(slot)) in there else None for slot in slots}

    def _unchanging_columns(self, back: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns that must come back unchanged.

        These are the columns that identify a message or, if there are none, all columns.
        """
        if not self.key or self.columns.get("payload") is None:
            return back
        known = {*self.key, *self.id_columns, self.columns.get("state"), self.columns.get("payload")}
        return tuple(each for each in back if each in known)

    @property
    def statement_words(self) -> tuple[str, ...]:
        """The statements of a batch."""
        return (
            ("put_back", "take_out" if self.key else "take_out_bulk") if self.is_purge else ("lock_kept", "take_back")
        )

    def why_not_comparable(self, sql: Sql) -> str | None:
        """Return why a column cannot be compared with its saved value, or ``None`` if all can."""
        why = why_not_keepable(sql, self.table.table, self.store.columns)
        return why if why is not None or self.data_undo is None else self.data_undo.why_not_comparable(sql)

    def choose_rows(self, sql: Sql, choice: Choice) -> tuple[RowSet, tuple[LeftOut, ...]]:
        """Count and freeze the rows that can be undone. Also return why other rows are left out."""
        called = self.id_columns
        # SQL Server's statements need the id columns even if no ids were chosen.
        named = id_columns_for(called, called[-1] if called else None, choice.ids) if choice.ids else self.key
        values: dict[str, Value] = {
            "operation": self.done.id,
            "ids": ids_for(sql.engine.name, named, choice.ids) if choice.ids else None,
            "some": bool(choice.ids),
            "limit": min(choice.limit or MAX_MESSAGES, MAX_MESSAGES),
            "chunk": CHUNK_ROWS,
        }
        names = self.names | id_names(named)
        found = sql.fetch(Matches, "choose_trash" if self.is_purge else "choose_kept", names, values)
        return pack_matches(sql, found), left_out_messages(count_excluded(found))

    def create_mover(self, sql: Sql, operation: RunningOperation) -> MoveBatch:
        """Return the function that undoes one batch."""
        names, engine = self.names, sql.engine.name
        given_back = tuple(
            each for each in self.store.columns if each in self.table.writable_columns and each not in self.key
        )

        def put_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            values: dict[str, Value] = {"operation": self.done.id}
            own, held = lock_rows(sql, "lock_trash", names, values | rows_for(engine, marks), marks, tally)
            if own:
                halves = self._read_other_halves(sql, own)
                back = self._put_back(sql, names, own)
                if self.data_undo is not None and halves:
                    back += self.data_undo._put_back(sql, self.data_undo.names, halves)
                tally.done = len(own)
                operation.record_altered(back)
                sql.execute("undone", {}, {"done": tally.done, "id": self.done.id})
            return held

        def take_back(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            values: dict[str, Value] = {"operation": self.done.id}
            own, held = lock_rows(sql, "lock_kept", names, values | rows_for(engine, marks), marks, tally)
            if own:
                values |= rows_for(engine, own)
                watch = TriggerWatch(sql, "update", self.table)
                back = sql.fetch(WrittenRow, "take_back", names, values)
                check_written(sql, names, back, len(own), given_back, self.table.obstacle_names("trigger"))
                watch.check_updated(len(own))
                tally.done = len(back)
                sql.execute("forget_kept", names, values)
                sql.execute("undone", {}, {"done": tally.done, "id": self.done.id})
            return held

        return put_back if self.is_purge else take_back

    def _read_other_halves(self, sql: Sql, own: Sequence[Mark]) -> list[Mark]:
        """Return the rows of the second table's trash that belong to these messages."""
        if self.data_undo is None or not self.id_columns:
            return []
        names: dict[str, Name] = {
            "trash": self.store.parts,
            "id": self.id_columns[-1],
            "data_trash": self.data_undo.store.parts,
            "data_id": self.data_id,
        }
        values: dict[str, Value] = {**rows_for(sql.engine.name, own), "operation": self.done.id}
        return [(each.key, "") for each in sql.fetch(_OtherHalf, "other_halves", names, values)]

    def _put_back(self, sql: Sql, names: Names, own: Sequence[Mark]) -> int:
        """Put exactly these rows back and delete them from the trash.

        Return the number of rows whose values a trigger changed. Raises ``RowRefused`` if a row is not in the table
        afterwards, or if an important value differs.
        """
        values: dict[str, Value] = {**rows_for(sql.engine.name, own), "operation": self.done.id}
        watch = TriggerWatch(sql, "insert", self.table)
        back = sql.fetch(_PutBack, "put_back", names, values)[0]
        if back.done == len(own) and self.table.obstacle_names("trigger"):
            untouched = is_still_as_written(sql, names["table"], json.loads(back.places or "[]"))
            if not untouched and not self.key:
                raise RowRefused(UndoText.CHANGED_AGAIN)
            watch.check_inserted(back.done, touched=not untouched)
            if not untouched:
                back = sql.fetch(_PutBack, "came_back", names, values)[0]
        if back.done != len(own):
            raise RowRefused(UndoText.INSERT_PREVENTED)
        if back.other:
            raise RowRefused(UndoText.INSERT_CHANGED)
        if sql.execute(self.statement_words[-1], names, values) != len(own):
            raise RowRefused(UndoText.DELETED_AGAIN)
        return back.altered

    def read_message_name(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        found = sql.fetch(
            PreviewRow,
            "first_kept",
            self.shown_names | {"payload": None, "sized": None},
            rows_for(sql.engine.name, [mark]),
        )
        return next((row.id for row in found if row.id), UndoText.NO_ID)

    def describe_lost(self) -> tuple[str, ...]:
        """Describe the values that an undo cannot restore, because the table no longer has their columns."""
        columns = self.table.kept_columns
        return tuple(UndoText.COLUMN_GONE.render(column=each) for each in self.store.columns if each not in columns)


def _read_table_undo(sql: Sql, done: OperationRow) -> _TableUndo | None:
    frozen = json.loads(done.frozen)
    table = table_from_text(done.about)
    columns: dict[str, Any] = frozen.get("columns", {})
    kind: undo_tables.StoreKind = "trash" if done.kind == OperationKind.PURGE else "kept"
    store = _find_store(sql, kind, table, done.id)
    if store is None:
        return None
    structure = read_structure(sql, table)
    if not frozen.get("data_table"):
        return _TableUndo(
            done, store, structure, columns, tuple(frozen.get("known", ())), tuple(frozen.get("clocked", ()))
        )
    second = table_from_text(frozen["data_table"])
    if (data_store := _find_store(sql, "trash", second, done.id)) is None:
        return _TableUndo(done, store, structure, columns)
    data_columns = {"called": [frozen["data_id"]], "payload": columns.get("payload")}
    data_undo = _TableUndo(done, data_store, read_structure(sql, second), data_columns)
    return _TableUndo(done, store, structure, columns, data_undo=data_undo, data_id=frozen["data_id"])


def _find_store(sql: Sql, kind: undo_tables.StoreKind, table: ObjectName, operation: str) -> Store | None:
    """Return the store that contains rows of the operation. The table's columns may have changed since."""
    for store in reversed(undo_tables.read_stores(sql, kind, table)):
        if sql.fetch_count("held", {"store": store.parts}, {"operation": operation}):
            return store
    return None


def _basic_plan(context: OperatorContext, done: OperationRow, refused: str | None) -> Plan:
    return Plan(
        kind=OperationKind.UNDO,
        target=context.target.name,
        queue=done.queue,
        title=UndoText.TITLE_ALL.render(kind=done.kind, queue=done.queue, by=done.by),
        count=0,
        unit="messages",
        predicate=UndoText.PREDICATE.render(id=done.id, predicate=done.predicate),
        sql=(),
        undo=Undo(possible=False, notes=(UndoText.REPEAT,)),
        refused=refused,
    )


def _full_plan(
    context: OperatorContext, sql: Sql, plan: Plan, undo: _TableUndo, rows: RowSet, left_out: tuple[LeftOut, ...]
) -> Plan:
    done = undo.done
    before = _STATE_BEFORE.get(done.kind, UndoText.OLD_STATE)
    restored = UndoText.AS_BEFORE.render(before=before)
    return replace(
        plan,
        count=rows.count,
        title=UndoText.TITLE.render(
            kind=done.kind, messages=count_text(rows.count, "message"), queue=done.queue, by=done.by
        ),
        sql=tuple(sql.statement(name, undo.names).text for name in undo.statement_words),
        first=_first_rows(context, sql, undo, rows),
        left_out=left_out,
        batch=LARGEST_BATCH,
        consequences=(restored,),
        risks=undo.describe_lost(),
        consent=context.required_consent(rows.count),
    )


def _first_rows(context: OperatorContext, sql: Sql, undo: _TableUndo, rows: RowSet) -> tuple[PlanRow, ...]:
    marks = rows.first(MAX_PLAN_ROWS)
    store = ObjectName(*undo.store.parts)
    payload: str | None = undo.columns.get("payload")
    payload = payload if payload in undo.store.columns else None
    names = undo.shown_names | {
        "payload": read_typed_column(sql, store, payload),
        "sized": read_sized_column(sql, store, payload),
    }
    found = {row.key: row for row in sql.fetch(PreviewRow, "first_kept", names, rows_for(sql.engine.name, marks))}
    show = payload_shower(context, sql, store, payload)
    return tuple(
        PlanRow(row.id or "", row.state or "", row.age_s, row.owner, OwnerState.NONE, row.attempts, show(row.payload))
        for key, _ in marks
        if (row := found.get(key)) is not None
    )
