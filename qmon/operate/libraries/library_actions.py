"""Requeues, redrives and purges messages of a library's queue with the same statements as the library."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import Choice, OperationKind, RedriveLimits, Undo
from qmon.operate.actions import undo_tables
from qmon.operate.actions.redrive import check_limits, dead_only
from qmon.operate.context import NO_TRASH, OperatorContext
from qmon.operate.libraries.chosen_messages import ChosenMessages
from qmon.operate.libraries.declared_requeue import prepare_declared_requeue, why_declaration_unfit
from qmon.operate.libraries.library_plan import build_plan, work_for
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.library_queue import LibraryQueue, Verb, library_queue_for
from qmon.operate.plan.required_rights import (
    missing_rights,
    queue_tables,
    unmasked_copy_risks,
    why_not_keepable,
    why_not_permitted,
)
from qmon.operate.row_set import pack_rows
from qmon.operate.run.batches import MoveBatch
from qmon.operate.run.failure_watch import FailureWatch
from qmon.operate.run.running_operation import (
    OperationRecord,
    PreparedAction,
    RunningOperation,
    read_audit_access,
    refused_action,
)
from qmon.operate.sql import Sql, Values
from qmon.operate.table_structure import TableStructure, read_structure
from qmon.texts import Text


class LibraryActionText(Text):
    """Texts of plans for messages of a library."""

    TITLE_ALL = "{kind} messages of {queue}"
    NOT_A_LIBRARY = "{queue} is not a library queue"
    SEVERAL_QUEUES = "{queue} is a table with several queues; name one of these queues"
    NOT_ON_ENGINE = "qmon does not {kind} messages of {library} on this engine: use the library's own tools"
    TAKEN_AT_ONCE = "the library's workers take the messages immediately"
    NO_UNDO_TABLES = "no undo is possible: rows of {tables} change with the messages"
    NO_UNDO_WIDE = "no undo is possible: the table is too wide for the trash: {why}"


_DAY_S: Final = 86400.0

# Maximum number of ids in the audit.
_MAX_AUDIT_IDS: Final = 100


def prepare_library_requeue(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Plan to make messages in progress or dead messages ready. Raises ``BadInput`` for an impossible choice."""
    return _prepare_action(
        context, layout, choice, OperationKind.REQUEUE, "retry" if choice.state == "dead" else "requeue"
    )


def prepare_library_redrive(
    context: OperatorContext, layout: Layout, choice: Choice, limits: RedriveLimits
) -> PreparedAction:
    """Plan to retry dead messages at a limited rate. Raises ``BadInput`` for an impossible choice."""
    check_limits(limits)
    return _prepare_action(context, layout, dead_only(choice), OperationKind.REDRIVE, "retry", limits)


def prepare_library_purge(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Plan to discard messages that are not in progress. Raises ``BadInput`` for an impossible choice."""
    return _prepare_action(context, layout, choice, OperationKind.PURGE, "discard")


def _prepare_action(
    context: OperatorContext,
    layout: Layout,
    choice: Choice,
    kind: OperationKind,
    verb: Verb,
    limits: RedriveLimits | None = None,
) -> PreparedAction:
    """Select and freeze the messages. Also raises server errors."""
    deny = partial(
        refused_action,
        context,
        kind,
        layout.queue,
        LibraryActionText.TITLE_ALL.render(kind=str(kind).capitalize(), queue=layout.queue),
    )
    queue = library_queue_for(layout)
    if (why := allowed_actions.why_not_allowed(layout, kind)) is not None or queue is None:
        return deny(why or LibraryActionText.NOT_A_LIBRARY.render(queue=layout.queue))
    if queue.value is None and queue.group.queue is not None:
        return deny(LibraryActionText.SEVERAL_QUEUES.render(queue=layout.queue))
    if queue.group.writes is not None and verb != "discard":
        return prepare_declared_requeue(context, queue, choice, kind, verb, limits, deny)
    rows = ChosenMessages(queue, choice, verb)
    if (why := rows.why_impossible()) is not None:
        return deny(why)
    with context.open_sql(f"{kind} plan") as sql:
        if (why := _why_not_planned(sql, queue, rows.statement_name, kind)) is not None:
            return deny(why)
        copied: tuple[str, ...] = ()
        trash, undo = None, Undo(possible=False, notes=(LibraryActionText.TAKEN_AT_ONCE,))
        if verb == "discard":
            found = find_trash(sql, queue, rows.statement_name)
            if isinstance(found, LibraryTrash):
                if (why := why_not_keepable(sql, found.structure.table, found.structure.kept_columns)) is not None:
                    return deny(why)
                copied = unmasked_copy_risks(sql, found.structure.table, found.structure.kept_columns)
                until = time.time() + context.trash_days * _DAY_S
                trash, undo = found, Undo(True, undo_tables.describe_lost(found.structure), until)
            else:
                undo = Undo(possible=False, notes=(found,))
        chosen, left_out = rows.choose_rows(sql)
        why = why_not_permitted(context, sql) or missing_rights(sql, rows.needed_privileges(sql))
        if trash is not None and not read_audit_access(sql).can_record:
            why = why or NO_TRASH
        plan = build_plan(
            context,
            sql,
            layout,
            kind,
            rows,
            chosen,
            limits,
            left_out=left_out,
            change=(sql.statement(rows.statement_name, queue.names_for(sql, rows.statement_name)).text,),
            effects=(queries.load_query(sql.engine.name, rows.statement_name, sql.connection.version).purpose,),
            undo=undo,
            copied=copied,
            refused=why,
        )
    about: dict[str, object] = {"statement": rows.statement_name, "ids": [row.id for row in chosen[:_MAX_AUDIT_IDS]]}
    about |= {} if trash is None else trash.undo_columns()
    record = OperationRecord(
        table_to_text(layout.table), about, undoable=trash is not None, tables=queue_tables(layout)
    )
    marks = pack_rows((row.id, row.version) for row in chosen)

    def create_mover(sql: Sql, operation: RunningOperation, watch: FailureWatch | None = None) -> MoveBatch:
        return rows.create_mover(sql, None if trash is None else trash.prepare_trash(sql, operation), watch)

    work = work_for(marks, create_mover, rows, limits)
    return PreparedAction(context, plan, work if plan.count else None, record)


def _why_not_planned(sql: Sql, queue: LibraryQueue, statement: str, kind: OperationKind) -> str | None:
    """Return why the server or the tables do not allow a plan, or ``None`` if they do."""
    group = queue.group
    if not sql.has_statement(statement):
        return LibraryActionText.NOT_ON_ENGINE.render(kind=kind, library=group.library or group.name)
    return why_declaration_unfit(sql, group) if group.writes is not None else None


@dataclass(frozen=True, slots=True)
class LibraryTrash:
    """Copies rows into the trash in the transaction that deletes them."""

    queue: LibraryQueue
    structure: TableStructure

    def prepare_trash(self, sql: Sql, operation: RunningOperation) -> Callable[[Values], None]:
        """Create a missing trash table. Return the function that copies the rows of one batch into the trash."""
        group, columns = self.queue.group, self.structure.kept_columns
        store = undo_tables.ensure_store(sql, "trash", self.structure, columns)
        rows = self.queue.names.row_names(group.states)
        own: dict[str, Name] = {"table": rows["table"], "queue": rows["queue"], "key": group.id}
        names = own | {"trash": store.parts, "columns": columns}

        def save_rows(values: Values) -> None:
            sql.execute("library/keep", names, {**values, "operation": operation.id})

        return save_rows

    def undo_columns(self) -> dict[str, object]:
        """Return the columns by which the undo finds and shows the rows."""
        group, there = self.queue.group, self.structure.kept_columns
        shown = {"attempts": group.attempts, "payload": group.payload}
        columns: dict[str, object] = {
            name: column.name if column is not None and column.lookup is None and column.name in there else None
            for name, column in shown.items()
        }
        none = {"state": None, "since": None, "owner": None}
        return {"columns": {"called": [group.id]} | columns | none, "data_table": None, "data_id": None}


def find_trash(sql: Sql, queue: LibraryQueue, statement: str) -> LibraryTrash | str:
    """Return the trash, or why there is no trash.

    A trash is impossible if other tables change with the messages, because an undo cannot restore the other tables.
    """
    structure = read_structure(sql, queue.group.table)
    written = (str(table) for table in queue.written_tables(sql, statement))
    if others := {*written, *structure.obstacle_names("cascade")} - {str(structure.table)}:
        return LibraryActionText.NO_UNDO_TABLES.render(tables=", ".join(sorted(others)))
    if wide := structure.obstacle_names("too wide"):
        return LibraryActionText.NO_UNDO_WIDE.render(why=wide[0])
    return LibraryTrash(queue, structure)
