"""Requeue, redrive and purge for a library's queue, in the way the library itself does it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout
from qmon.model.operations import Choice, Kind, Nothing, Plan, RedriveLimits, Undo
from qmon.operate.actions import undo_tables
from qmon.operate.actions.redrive import RedriveWork, check_limits, dead_alone, limit_words, seconds
from qmon.operate.context import OperatorContext
from qmon.operate.libraries.rows import ChosenMessages, named
from qmon.operate.plan import allowed
from qmon.operate.plan.library_queue import LibraryQueue, Verb, library_queue
from qmon.operate.plan.preview import estimated_s
from qmon.operate.plan.rights import lacking, queue_tables, unkept, why_not
from qmon.operate.row_set import frozen
from qmon.operate.run.batches import BatchWork, Move
from qmon.operate.run.failures import FailureWatch
from qmon.operate.run.operation import Record, Running, audit_access
from qmon.operate.run.pacing import largest_at
from qmon.operate.run.prepared import PreparedAction, Work, refused
from qmon.operate.sql import Sql, Values
from qmon.operate.table import Structure, read_structure

_DAY_S: Final = 86400.0

# Maximum number of ids in the audit.
_IDS: Final = 100


def prepare_library_requeue(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Plan to make messages in progress, or dead ones, ready again. Raises ``BadInput`` for an impossible choice."""
    return _prepare(context, layout, choice, Kind.REQUEUE, "retry" if choice.state == "dead" else "requeue")


def prepare_library_redrive(
    context: OperatorContext, layout: Layout, choice: Choice, limits: RedriveLimits
) -> PreparedAction:
    """Plan to retry dead messages at a limited rate. Raises ``BadInput`` for an impossible choice."""
    check_limits(limits)
    return _prepare(context, layout, dead_alone(choice), Kind.REDRIVE, "retry", limits)


def prepare_library_purge(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Plan to discard messages that are not in progress. Raises ``BadInput`` for an impossible choice."""
    return _prepare(context, layout, choice, Kind.PURGE, "discard")


def _prepare(
    context: OperatorContext,
    layout: Layout,
    choice: Choice,
    kind: Kind,
    verb: Verb,
    limits: RedriveLimits | None = None,
) -> PreparedAction:
    """Select and freeze the messages. Also raises server errors."""
    deny = partial(refused, context, kind, layout.queue, f"{str(kind).capitalize()} messages of {layout.queue}")
    queue = library_queue(layout)
    if (why := allowed.why_not(layout, kind)) is not None or queue is None:
        return deny(why or f"{layout.queue} is no queue of a library")
    if queue.value is None and queue.group.queue is not None:
        return deny(f"which of its queues? {layout.queue} is a table of several")
    rows = ChosenMessages(queue, choice, verb)
    if (why := rows.impossible()) is not None:
        return deny(why)
    with context.sql(f"{kind} plan") as sql:
        if not sql.exists(rows.statement):
            return deny(f"qmon does not {kind} messages of {queue.group.library} on this engine: use its own tools")
        trash, undo = None, Undo(possible=False, notes=("the library's workers take them at once",))
        if verb == "discard":
            found = find_trash(sql, queue, rows.statement)
            if isinstance(found, Trash):
                if (why := unkept(sql, found.structure.table, found.structure.kept)) is not None:
                    return deny(why)
                until = time.time() + context.trash_days * _DAY_S
                trash, undo = found, Undo(True, undo_tables.lost(found.structure), until)
            else:
                undo = Undo(possible=False, notes=(found,))
        chosen, left_out = rows.choose(sql)
        count = len(chosen)
        why = why_not(context, sql) or lacking(sql, rows.needed(sql))
        if trash is not None and not audit_access(sql).possible:
            why = (
                why
                or "there is no trash: this role may not write qmon's schema; this helps: qmon setup --role operator"
            )
        takes_s = estimated_s(sql, kind, layout, count)
        plan = Plan(
            kind,
            context.target.name,
            layout.queue,
            title=f"{str(kind).capitalize()} {rows.counted(chosen)} of {layout.queue}",
            count=count,
            predicate=rows.words(),
            sql=(rows.lock(sql), sql.statement(rows.statement, queue.names_for(sql, rows.statement)).text),
            first=rows.first(context, sql, chosen),
            left_out=left_out,
            batch=largest_at(None if limits is None else limits.rate),
            seconds=takes_s if limits is None else seconds(takes_s, count, limits),
            undo=undo,
            consequences=(
                *(() if limits is None else (limit_words(limits),)),
                queries.load(sql.engine.name, rows.statement, sql.connection.version).purpose,
            ),
            risks=rows.risks(chosen),
            consent=context.consent(count),
            refused=why or (None if count else Nothing.NO_MESSAGE),
        )
    about: dict[str, object] = {"statement": rows.statement, "ids": [row.id for row in chosen[:_IDS]]}
    about |= {} if trash is None else trash.frozen()
    record = Record(table_to_text(layout.table), about, undoable=trash is not None, tables=queue_tables(layout))
    marks = frozen((row.id, row.version) for row in chosen)

    def begin(sql: Sql, operation: Running, watch: FailureWatch | None = None) -> Move:
        return rows.move(sql, None if trash is None else trash.begin(sql, operation), watch)

    if limits is None:
        work: Work = BatchWork(marks, begin, named)
    else:
        work = RedriveWork(marks, begin, named, limits, rows.outcomes)
    return PreparedAction(context, plan, work if count else None, record)


@dataclass(frozen=True, slots=True)
class Trash:
    """Keeps copies of rows, in the transaction that deletes them."""

    queue: LibraryQueue
    structure: Structure

    def begin(self, sql: Sql, operation: Running) -> Callable[[Values], None]:
        """Create the trash table if it is missing. Return the function that keeps the rows of one batch."""
        group, columns = self.queue.group, self.structure.kept
        store = undo_tables.ensure(sql, "trash", self.structure, columns)
        rows = self.queue.names.rows(group.states)
        own: dict[str, Name] = {"table": rows["table"], "queue": rows["queue"], "key": group.id}
        names = own | {"trash": store.parts, "columns": columns}

        def keep(values: Values) -> None:
            sql.execute("library/keep", names, {**values, "operation": operation.id})

        return keep

    def frozen(self) -> dict[str, object]:
        """Return the columns by which the undo finds and shows the rows."""
        group, there = self.queue.group, self.structure.kept
        shown = {"attempts": group.attempts, "payload": group.payload}
        columns: dict[str, object] = {
            name: column.name if column is not None and column.lookup is None and column.name in there else None
            for name, column in shown.items()
        }
        none = {"state": None, "since": None, "owner": None}
        return {"columns": {"called": [group.id]} | columns | none, "data_table": None, "data_id": None}


def find_trash(sql: Sql, queue: LibraryQueue, statement: str) -> Trash | str:
    """Return the trash, or why there can be none: an undo cannot restore other tables that change with the messages."""
    structure = read_structure(sql, queue.group.table)
    written = (str(table) for table in queue.writes(sql, statement))
    if others := {*written, *structure.named("cascade")} - {str(structure.table)}:
        return f"there is no undo: rows of {', '.join(sorted(others))} change with them"
    if wide := structure.named("too wide"):
        return f"there is no undo: the table is too wide for the trash: {wide[0]}"
    return Trash(queue, structure)
