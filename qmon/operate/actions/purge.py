"""Purges messages. One transaction deletes messages from the queue and moves them into the trash."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.formatting import duration
from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import Choice, Nothing, OperationKind, Plan, Undo
from qmon.operate.actions import undo_tables
from qmon.operate.context import NO_TRASH, OperatorContext
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.preview import estimate_seconds, read_first_rows, read_message_name
from qmon.operate.plan.required_rights import (
    PURGE_PRIVILEGES,
    queue_tables,
    unmasked_copy_risks,
    why_not_keepable,
    why_not_permitted,
)
from qmon.operate.plan.selection import (
    ChoiceText,
    Criteria,
    MessageQuery,
    Selection,
    State,
    check_choice,
    check_push_time,
    column_names,
    columns_for_undo,
    state_value,
)
from qmon.operate.row_set import Mark, marks_for
from qmon.operate.run.batches import BatchWork, MoveBatch, RowRefused, lock_rows
from qmon.operate.run.pacing import LARGEST_BATCH
from qmon.operate.run.running_operation import (
    OperationRecord,
    PreparedAction,
    RunningOperation,
    Tally,
    read_audit_access,
    refused_action,
)
from qmon.operate.run.table_identity import TableIdentity, read_table_identity
from qmon.operate.run.verification import TriggerWatch
from qmon.operate.sql import Names, Sql, Values
from qmon.operate.table_structure import TableStructure, read_structure, why_no_key
from qmon.texts import Text


class PurgeText(Text):
    """Texts of plans that purge messages."""

    TITLE_ALL = "Purge messages of {queue}"
    TITLE = "Purge {messages} of {queue}"
    DATA_KEPT = "the triggers or policies of {table} prevent the deletion of its row"
    KEPT = "the table's triggers or policies prevent the deletion"
    INSERTED_AGAIN = "the table's triggers inserted the row again"
    SKIPPED_REFERRED = "messages are skipped if rows of these tables refer to them: {tables}"
    SKIPPED_TRIGGERS = "messages are skipped if these triggers do not let qmon delete them: {triggers}"
    UNWATCHED = "qmon does not detect rows that these triggers insert under other keys: {triggers}"
    TWO_TABLES = "queue {queue!r}: the queue has two tables; to move its rows, qmon needs both `id` and `data_id`"
    NOT_IDENTIFIED = "{id} alone does not identify a row of {table}, so qmon cannot find the second row of a message"
    CASCADES = "deleting rows of {table} also deletes or changes rows of {tables}, which undo cannot restore"
    UNCOUNTED = "track_counts is off, so the effects of the triggers of {table} are unknown: {triggers}"
    RULES = "{table} has rules that may replace qmon's statements: {rules}"
    TOO_WIDE = "{table} is too wide for the trash: {why}"
    COLUMN_TAKEN = "{table} has a column {column}, a name that the trash uses"
    REFERS = "{table} refers to {data_table}, so qmon cannot delete rows of the second table"
    NO_DEAD = "queue {queue!r} has no dead messages to purge: {advice}"
    NOT_DELIVERED = "consumers no longer get the messages"
    KEPT_IN_TRASH = "the messages are kept in the trash for at least {duration}"
    DATA_PURGED = "the messages' rows of {table} are purged, too"
    CANNOT_COMPLETE = "a consumer that is processing one of the messages cannot complete the message"


_DAY_S: Final = 86400.0


def prepare_purge(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Select and freeze the messages to purge.

    Raises server errors, and ``BadInput`` for a choice that makes no sense.
    """
    deny = partial(
        refused_action, context, OperationKind.PURGE, layout.queue, PurgeText.TITLE_ALL.render(queue=layout.queue)
    )
    if (why := allowed_actions.why_not_allowed(layout, OperationKind.PURGE)) is not None:
        return deny(why)
    check_choice(layout, choice)
    wanted = _criteria_for(layout, choice)
    with context.open_sql("purge plan") as sql:
        purge = _read_table_purge(sql, layout, wanted.age_column)
        if (why := _why_impossible(context, sql, layout, purge)) is not None:
            return deny(why)
        why = why_not_permitted(context, sql, PURGE_PRIVILEGES, *queue_tables(layout))
        query = MessageQuery(sql, layout, purge.table, choice, wanted)
        chosen = query.select_messages()
        # Start with the messages that consumers would reach last. So consumers meet neither our locks nor the dead rows
        # of the purge.
        rows = chosen.rows if layout.traits.order == "lifo" else chosen.rows.in_reverse()
        count = rows.count
        plan = Plan(
            OperationKind.PURGE,
            context.target.name,
            layout.queue,
            title=PurgeText.TITLE.render(messages=chosen.counts_text, queue=layout.queue),
            count=count,
            predicate=chosen.predicate,
            sql=tuple(
                sql.statement(name, purge.statement_placeholders).text for name in ("lock", *purge.statement_words)
            ),
            first=read_first_rows(context, query, chosen),
            left_out=chosen.left_out,
            batch=LARGEST_BATCH,
            seconds=estimate_seconds(sql, OperationKind.PURGE, layout, count),
            undo=Undo(
                True,
                undo_tables.describe_lost(*filter(None, (purge.table, purge.data))),
                time.time() + context.trash_days * _DAY_S,
            ),
            consequences=_consequences(context, layout, purge),
            risks=(*_risks(wanted), *purge.describe_unmasked_copies(sql)),
            consent=context.required_consent(count),
            refused=why or (None if count else Nothing.NO_MESSAGE),
        )
    record = OperationRecord(
        table_to_text(layout.table), _values_to_record(chosen, purge), undoable=True, tables=queue_tables(layout)
    )
    return PreparedAction(
        context, plan, BatchWork(rows, purge.create_mover, purge.read_message_name) if count else None, record
    )


@dataclass(frozen=True, slots=True)
class _TablePurge:
    """Moves messages of one layout into the trash.

    If messages have rows in two tables, the purge first moves the row of the second table, and then the row of the
    queue's table.

    ``age_column``: the column from which the age of a message is counted. ``unwatched``: the server does not report
    rows written by triggers.
    """

    layout: Layout
    age_column: str | None
    table: TableStructure
    data: TableStructure | None
    place: TableIdentity
    data_place: TableIdentity | None
    unwatched: bool = False

    @property
    def statement_words(self) -> tuple[str, ...]:
        """The statements of a batch."""
        return ("purge",) if self.data is None else ("purge_data", "purge")

    def describe_unmasked_copies(self, sql: Sql) -> tuple[str, ...]:
        """Describe which values other roles can read in the trash."""
        tables = filter(None, (self.table, self.data))
        return tuple(risk for each in tables for risk in unmasked_copy_risks(sql, each.table, each.kept_columns))

    @property
    def statement_placeholders(self) -> dict[str, Name]:
        """Names for showing the statements before the trash table has a number."""
        layout = self.layout
        return {
            **column_names(layout, self.table, self.age_column),
            "data_table": None if layout.data_table is None else layout.data_table.parts,
            "data_id": layout.data_id,
            "trash": ("qmon", "trash"),
            "columns": self.table.kept_columns,
        }

    def create_mover(self, sql: Sql, operation: RunningOperation) -> MoveBatch:
        """Create the trash table if it is missing. Return the function that purges one batch."""
        layout, data, engine, key = self.layout, self.data, sql.engine.name, self.table.key
        self._check_tables_unchanged(sql, ())
        names = self.statement_placeholders | {
            "trash": undo_tables.ensure_store(sql, "trash", self.table, self.table.kept_columns).parts
        }
        data_names: dict[str, Name] = {}
        if data is not None and layout.data_id is not None:
            trash = undo_tables.ensure_store(sql, "trash", data, data.kept_columns, layout.data_id).parts
            data_names = names | {"trash": trash, "columns": data.kept_columns}

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            own, held = lock_rows(sql, "lock", names, marks_for(engine, marks, key), marks, tally)
            if own:
                values: dict[str, Value] = {**marks_for(engine, own, key), "operation": operation.id}
                watch = TriggerWatch(sql, "delete", self.table, self.data)
                deleted = 0
                if data_names:
                    deleted = sql.execute("purge_data", data_names, values)
                    if sql.fetch_count("data_left", data_names, values):
                        raise RowRefused(PurgeText.DATA_KEPT.render(table=self.layout.data_table))
                tally.done = sql.execute("purge", names, values)
                self._check_gone(sql, names, values, len(own), tally.done)
                watch.check_deleted(deleted + tally.done)
            self._check_tables_unchanged(sql, marks)
            return held

        return move

    def _check_gone(self, sql: Sql, names: Names, values: Values, expected: int, done: int) -> None:
        """Raise ``RowRefused`` if a row is not in the trash, or if the table still contains a row with its key."""
        if done != expected:
            raise RowRefused(PurgeText.KEPT)
        # SQL Server counts rows as deleted even if a trigger replaces the statement or puts the rows back.
        look = self.table.obstacle_names("trigger") and sql.has_statement("still_there")
        if look and sql.fetch_count("still_there", names, {**values, "done": done}):
            raise RowRefused(PurgeText.INSERTED_AGAIN)

    def _check_tables_unchanged(self, sql: Sql, marks: Sequence[Mark]) -> None:
        self.place.check_unchanged(sql, marks)
        if self.data_place is not None:
            self.data_place.check_unchanged(sql)

    def read_message_name(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        return read_message_name(sql, self.statement_placeholders, marks_for(sql.engine.name, [mark], self.table.key))

    def describe_obstacles(self) -> tuple[str, ...]:
        """Describe which messages may be skipped, and which effects other programs will notice."""
        out = []
        for structure in filter(None, (self.table, self.data)):
            if others := structure.obstacle_names("referred"):
                out.append(PurgeText.SKIPPED_REFERRED.render(tables=", ".join(others)))
            if before := structure.obstacle_names("before delete"):
                out.append(PurgeText.SKIPPED_TRIGGERS.render(triggers=", ".join(before)))
            # SQL Server does not count the rows that a session writes; see ``TriggerWatch``.
            if self.unwatched and (after := structure.obstacle_names("on delete")):
                out.append(PurgeText.UNWATCHED.render(triggers=", ".join(after)))
            out += structure.hidden_rows_notes
        return tuple(out)


def _read_table_purge(sql: Sql, layout: Layout, age_column: str | None) -> _TablePurge:
    data = None
    if layout.data_table is not None:
        if layout.id is None or layout.data_id is None:
            raise BadInput(PurgeText.TWO_TABLES.render(queue=layout.queue))
        data = read_structure(sql, layout.data_table)
    place = read_table_identity(sql, layout.table)
    data_place = None if layout.data_table is None else read_table_identity(sql, layout.data_table)
    return _TablePurge(
        layout,
        age_column,
        read_structure(sql, layout.table),
        data,
        place,
        data_place,
        not TriggerWatch.is_supported(sql),
    )


def _why_impossible(context: OperatorContext, sql: Sql, layout: Layout, purge: _TablePurge) -> str | None:
    if context.engine.name == "sqlserver" and (why := why_no_key(purge.table)):
        return why
    if purge.data is not None and layout.id is not None and not purge.table.is_identified_by((layout.id,)):
        table = purge.table.table
        return PurgeText.NOT_IDENTIFIED.render(id=layout.id, table=table)
    for structure in filter(None, (purge.table, purge.data)):
        if others := structure.obstacle_names("cascade"):
            named = ", ".join(others)
            return PurgeText.CASCADES.render(table=structure.table, tables=named)
        if structure.obstacle_names("uncounted") and (triggers := structure.obstacle_names("on delete")):
            named = ", ".join(triggers)
            return PurgeText.UNCOUNTED.render(table=structure.table, triggers=named)
        if rules := (*structure.obstacle_names("rule delete"), *structure.obstacle_names("rule insert")):
            return PurgeText.RULES.render(table=structure.table, rules=", ".join(rules))
        if wide := structure.obstacle_names("too wide"):
            return PurgeText.TOO_WIDE.render(table=structure.table, why=wide[0])
        if (why := why_not_keepable(sql, structure.table, structure.kept_columns)) is not None:
            return why
        if taken := set(structure.kept_columns) & set(undo_tables.OWN_COLUMNS):
            return PurgeText.COLUMN_TAKEN.render(table=structure.table, column=min(taken))
    if purge.data is not None and str(purge.data.table) in purge.table.obstacle_names("refers"):
        return PurgeText.REFERS.render(table=purge.table.table, data_table=purge.data.table)
    if not read_audit_access(sql).can_record:
        return NO_TRASH
    return None


def _criteria_for(layout: Layout, choice: Choice) -> Criteria:
    """Return the criteria.

    They select the chosen state. If ids but no state were chosen, they select all states except in progress. If neither
    was chosen, they select only dead messages. Raises ``BadInput``.
    """
    asked: tuple[State, ...] = ("ready", "done", "dead") if choice.ids else ("dead",)
    if choice.state is not None:
        asked = (choice.state,)  # type: ignore[assignment]  # ``check_choice`` has checked it
    states = tuple(state for state in asked if state_value(layout, state) is not None)
    # The age of a message in progress is counted from its start. The list of messages and a requeue do the same.
    by_start = states == ("in_progress",) and layout.has_known_time(layout.started_at)
    if choice.has_age_limit and not by_start:
        check_push_time(layout)
    if not states and "ready" not in asked:
        raise BadInput(PurgeText.NO_DEAD.render(queue=layout.queue, advice=ChoiceText.CHOOSE_STATE))
    age_column = layout.started_at if by_start else layout.enqueued_at
    return Criteria(states, age_column, choice.older_than_s, None)


def _consequences(context: OperatorContext, layout: Layout, purge: _TablePurge) -> tuple[str, ...]:
    out = [
        PurgeText.NOT_DELIVERED,
        PurgeText.KEPT_IN_TRASH.render(duration=duration(context.trash_days * _DAY_S)),
    ]
    if purge.data is not None:
        out.append(PurgeText.DATA_PURGED.render(table=layout.data_table))
    return (*out, *purge.describe_obstacles())


def _risks(criteria: Criteria) -> tuple[str, ...]:
    if "in_progress" not in criteria.states:
        return ()
    return (PurgeText.CANNOT_COMPLETE,)


def _values_to_record(chosen: Selection, purge: _TablePurge) -> dict[str, object]:
    layout = purge.layout
    data = None if purge.data is None else table_to_text(purge.data.table)
    out: dict[str, object] = {"clock": chosen.facts.clock, "data_table": data, "data_id": layout.data_id}
    return out | columns_for_undo(layout, purge.table, purge.age_column)
