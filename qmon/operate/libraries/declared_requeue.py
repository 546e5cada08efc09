"""Requeues and redrives messages of a group that declares its ``writes``.

The messages are chosen and locked by the group's conditions, as for a library. The columns are written, saved and
restored as for a design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import PermissionMissing, QueryFailed
from qmon.model.groups.group import Group, State
from qmon.model.layout.layout import Layout, ObjectName, RequeueWrite, StateColumn, StateValue
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import Choice, OperationKind, RedriveLimits
from qmon.operate.actions.requeue import TableRequeue, describe_undo, why_update_unreliable
from qmon.operate.context import OperatorContext
from qmon.operate.libraries.chosen_messages import ChosenMessages
from qmon.operate.libraries.library_plan import build_plan, work_for
from qmon.operate.plan.library_queue import LibraryQueue, Verb
from qmon.operate.plan.required_rights import (
    REQUEUE_PRIVILEGES,
    queue_tables,
    unmasked_copy_risks,
    why_not_keepable,
    why_not_permitted,
)
from qmon.operate.plan.selection import Criteria
from qmon.operate.row_set import Mark, pack_rows
from qmon.operate.run.batches import MoveBatch, RowRefused
from qmon.operate.run.failure_watch import FailureWatch
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, Tally
from qmon.operate.run.table_identity import read_table_identity
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure, read_structure
from qmon.texts import Text


class DeclaredText(Text):
    """Texts of plans that write the declared values of a group."""

    NOT_ON_ENGINE = "qmon acts on queues with states by conditions only on PostgreSQL"
    NO_COLUMN = "{table} has no column {column}, which the configuration of the queue names"
    NOT_UTC = '{column} has no time zone: qmon acts on this queue only if these times are UTC and times = "utc" is set'
    NO_KEY = "{id} does not identify a row of {table}: it needs a primary key or a unique index"
    WRITES_KEY = "writes.ready: {id} identifies a message, so it cannot be written"
    BAD_VALUE = "writes.ready: {problem}"
    NOT_READY = "writes.ready: {count:,} of {total:,} messages would not be ready with these values"
    NOT_READY_NOW = "the written values do not make the message ready"


# Maximum number of messages for which a plan tests whether the written values make them ready.
_TESTED: Final = 1000
_WAITING_KINDS: Final = ("ready", "scheduled", "blocked")


@dataclass(frozen=True, slots=True)
class _Place:
    key: str
    version: str


def why_declaration_unfit(sql: Sql, group: Group) -> str | None:
    """Return why the group does not fit its tables, or ``None`` if it does.

    It does not fit if a column is missing, or if times may not be UTC. The declaration contains no zones of columns.
    """
    uses = group.columns_read
    tables: dict[str, TableStructure] = {}
    for table, column in sorted(uses.columns):
        structure = tables.get(table) or read_structure(sql, ObjectName(group.schema, table))
        tables[table] = structure
        if not (kind := structure.column_type(column)):
            return DeclaredText.NO_COLUMN.render(table=structure.table, column=column)
        zoned = kind.endswith("with time zone") or not kind.startswith(("timestamp", "datetime"))
        if (table, column) in uses.times and not zoned and group.times != "utc":
            return DeclaredText.NOT_UTC.render(column=f"{structure.table}.{column}")
    return None


def prepare_declared_requeue(
    context: OperatorContext,
    queue: LibraryQueue,
    choice: Choice,
    kind: OperationKind,
    verb: Verb,
    limits: RedriveLimits | None,
    deny: Callable[[str], PreparedAction],
) -> PreparedAction:
    """Plan to make messages in progress (requeue) or dead messages (redrive) ready, with the declared values.

    ``deny``: returns a refused plan. Also raises server errors.
    """
    rows, layout = ChosenMessages(queue, choice, verb), queue.layout
    if (why := rows.why_impossible()) is not None:
        return deny(why)
    with context.open_sql(f"{kind} plan") as sql:
        if not sql.has_statement("library/locate"):
            return deny(DeclaredText.NOT_ON_ENGINE)
        if (why := why_declaration_unfit(sql, queue.group)) is not None:
            return deny(why)
        change = _DeclaredRequeue.create(sql, queue, rows, verb)
        never = why_update_unreliable(context, change.requeue.structure) or change.why_not_identified()
        never = never or why_not_keepable(sql, layout.table, change.requeue.kept_columns)
        if (never := never or change.requeue.why_impossible(sql)) is not None:
            return deny(never)
        chosen, left_out = rows.choose_rows(sql)
        if (never := change.why_not_ready(sql, [row.id for row in chosen[:_TESTED]])) is not None:
            return deny(never)
        marks = pack_rows((row.id, row.version) for row in chosen)
        undo = describe_undo(sql, change.requeue, marks)
        plan = build_plan(
            context,
            sql,
            layout,
            kind,
            rows,
            chosen,
            limits,
            left_out=left_out,
            change=change.requeue.statement_texts(sql),
            effects=change.requeue.describe_writes(),
            undo=undo,
            copied=unmasked_copy_risks(sql, layout.table, change.requeue.kept_columns) if undo.possible else (),
            refused=why_not_permitted(context, sql, REQUEUE_PRIVILEGES, layout.table),
        )
    frozen = change.requeue.columns_for_undo()
    record = OperationRecord(table_to_text(layout.table), frozen, undoable=undo.possible, tables=queue_tables(layout))
    work = work_for(marks, change.create_mover, rows, limits)
    return PreparedAction(context, plan, work if plan.count else None, record)


@dataclass(frozen=True, slots=True)
class _DeclaredRequeue:
    """The change of the chosen messages. ``waiting``: the states in which a message waits for a consumer."""

    queue: LibraryQueue
    rows: ChosenMessages
    requeue: TableRequeue
    waiting: tuple[State, ...]

    @classmethod
    def create(cls, sql: Sql, queue: LibraryQueue, rows: ChosenMessages, verb: Verb) -> _DeclaredRequeue:
        """Read the structure of the table. A redrive also resets the number of attempts."""
        group, table = queue.group, queue.layout.table
        assert group.writes is not None  # noqa: S101 - see the caller
        # `TableRequeue` writes one column as the state. It needs a value, or NULL.
        first = min(group.writes.ready, key=lambda each: (each.what != "value", each.what != "null"))
        attempts = group.attempts.name if group.attempts is not None and group.attempts.is_plain else None
        again = (RequeueWrite("ready", attempts, "value", 0),) if verb == "retry" and attempts else ()
        rest = tuple(each for each in group.writes.ready if each is not first)
        flat = Layout(
            queue.layout.queue, "status", table, id=group.id, attempts=attempts, writes=rest, times=group.times
        )
        requeue = TableRequeue(
            flat,
            StateColumn(first.column, cast("StateValue", first.value)),  # None writes NULL
            read_structure(sql, table, first.column),
            Criteria(("dead" if verb == "retry" else "in_progress",), None, None, None),
            read_table_identity(sql, table),
            again,
        )
        return cls(queue, rows, requeue, queue.states_of(*_WAITING_KINDS))

    def why_not_identified(self) -> str | None:
        """Return why the id does not identify a message before and after the change, or ``None`` if it does."""
        id_column, structure = self.queue.group.id, self.requeue.structure
        if not structure.is_identified_by((id_column,)):
            return DeclaredText.NO_KEY.render(id=id_column, table=structure.table)
        if not structure.is_identified_by(self.requeue.identifying_columns):
            return DeclaredText.WRITES_KEY.render(id=id_column)
        return None

    def why_not_ready(self, sql: Sql, ids: Sequence[str]) -> str | None:
        """Return why some of these messages would not be ready with the written values, or ``None`` if all would."""
        if not ids:
            return None
        values = self.rows.values_for(ids) | self.requeue.ready.values(sql.engine.name)
        try:
            count = sql.fetch_count("library/would_wait", self._names, values)
        except PermissionMissing:
            raise
        except QueryFailed as problem:
            if problem.sqlstate[:2] == "22":  # the server cannot convert a value
                return DeclaredText.BAD_VALUE.render(problem=problem)
            raise
        if count == len(ids):
            return None
        return DeclaredText.NOT_READY.render(count=len(ids) - count, total=len(ids))

    @property
    def _names(self) -> Mapping[str, Name]:
        return {**self.queue.names.row_names(self.waiting), "key": self.queue.group.id}

    def create_mover(self, sql: Sql, operation: RunningOperation, watch: FailureWatch | None = None) -> MoveBatch:
        """Return the function that changes one batch. ``watch``: receives the ids of the messages."""
        write = self.requeue.create_mover(sql, operation, watch)

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            ours, held = self.rows.lock_marks(sql, marks, tally)
            if ours:
                values: dict[str, Value] = self.rows.values_for([id for id, _ in ours])
                found = sql.fetch(_Place, "library/locate", self.requeue.names, values)
                write([(each.key, each.version) for each in found], tally)
                if sql.fetch_count("library/waiting", self._names, values) != tally.done:
                    raise RowRefused(DeclaredText.NOT_READY_NOW)
            return held

        return move
