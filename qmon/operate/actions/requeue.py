"""Requeues messages: makes messages ready again if they are stuck or their consumer is dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.formatting import count_text
from qmon.model.layout.layout import Layout, RequeueWrite, StateColumn
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import Choice, Nothing, OperationKind, OwnerState, Plan, Undo
from qmon.operate.actions import undo_tables
from qmon.operate.actions.requeue_sessions import prepare_requeue_sessions
from qmon.operate.context import AccessText, OperatorContext
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.preview import estimate_seconds, read_first_rows, read_ids, read_message_name
from qmon.operate.plan.required_rights import REQUEUE_PRIVILEGES, queue_tables, unmasked_copy_risks, why_not_permitted
from qmon.operate.plan.selection import (
    Criteria,
    MessageQuery,
    Selection,
    State,
    check_choice,
    check_push_time,
    column_names,
    state_value,
    zone_advice,
)
from qmon.operate.plan.transitions import Transition, place_text, transition_for, why_no_transition
from qmon.operate.row_set import CHUNK_ROWS, Mark, RowSet, marks_for
from qmon.operate.run.batches import BatchWork, MoveBatch, lock_rows
from qmon.operate.run.failure_watch import FailureWatch
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
from qmon.operate.run.verification import TriggerWatch, WrittenRow, check_written
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure, read_structure, why_no_key
from qmon.texts import Text


class RequeueText(Text):
    """Texts of plans that requeue messages."""

    CONSUMER_ALIVE = "a consumer that is alive"
    CONSUMER_UNKNOWN = "a consumer that qmon cannot see"
    CONSUMER_UNCHECKED = "a consumer that qmon cannot check (the queue has no owner column, so qmon only knows ages)"
    TITLE_ALL = "Requeue messages of {queue}"
    TITLE = "Requeue {messages} of {queue}"
    NO_LIMIT_COLUMN = "max_attempts: the column {column} does not exist"
    DEAD_BY_COLUMN = "messages with as many attempts as their {column} become dead letters"
    DEAD_BY_LIMIT = "messages with {attempts} or more become dead letters"
    SKIPPED_UNIQUE = "messages are skipped if their key in a unique index is already taken: {indexes}"
    SKIPPED_BEFORE = "messages are skipped if these triggers do not let qmon change them: {triggers}"
    SKIPPED_AFTER = "messages are skipped if these triggers change them again or delete them: {triggers}"
    TWICE = "consumers may process these messages twice: they were popped before"
    OWNER_WORKS = "{who} may still be working on the messages, and the messages may be processed twice"
    KEEP_ATTEMPTS = (
        "the messages keep their {attempts}: a message with too many attempts is dead again after one more failure;"
        " redrive resets the attempts"
    )
    READY = "ready messages are already in the queue"
    NEVER_IN_PROGRESS = (
        "messages of this queue are never in progress; to process done messages again, give the state: done"
    )
    NO_ZONE = "{advice}; or give ids (without a time zone, ages are unknown)"
    NO_START = "no column contains the time at which messages were popped; give the ids of the messages"
    NO_START_NO_OWNER = (
        "no column contains the time at which messages were popped, and no dead owner proves that messages are stuck;"
        " give the ids of the messages"
    )
    RULES = "{table} has rules that may replace qmon's statements: {rules}"
    UNIDENTIFIED = "messages cannot be identified: the queue has neither a key nor ids"
    COLUMN_TAKEN = "the table has a column {column}, a name that qmon's own table uses"
    CANNOT_STORE = "your role cannot store the data for an undo; {advice}"
    KEY_CHANGES = "the requeue changes the key, and {columns} may not identify a message"
    NOT_POPPED_AGAIN = "an undo only restores messages that have not been popped again"
    UP_TO = "up to "
    PARTLY_COUNT = "{up_to}{lost:,} of {messages} cannot be undone"
    SAME_VALUES = "other messages have the same {columns}, or the value is NULL"
    PARTLY = "{which}: {why}"


_OWNER_TEXTS: Final = {
    OwnerState.ALIVE: RequeueText.CONSUMER_ALIVE,
    OwnerState.UNKNOWN: RequeueText.CONSUMER_UNKNOWN,
    OwnerState.NONE: RequeueText.CONSUMER_UNCHECKED,
}


def prepare_requeue(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Select and freeze the messages to requeue. If pops delete messages, plan to end sessions instead.

    Raises server errors, and ``BadInput`` for a choice that makes no sense.
    """
    deny = partial(
        refused_action, context, OperationKind.REQUEUE, layout.queue, RequeueText.TITLE_ALL.render(queue=layout.queue)
    )
    if (why := allowed_actions.why_not_allowed(layout, OperationKind.REQUEUE)) is not None:
        return deny(why)
    if layout.deletes_on_pop or layout.state is None:
        return prepare_requeue_sessions(context, layout, choice)
    check_choice(layout, choice)
    if (why := _why_impossible(layout, choice)) is not None:
        return deny(why)
    wanted = _criteria_for(layout, choice)
    planned = plan_table_requeue(
        context, layout, layout.state, OperationKind.REQUEUE, RequeueText.TITLE, choice, wanted
    )
    if isinstance(planned, str):
        return deny(planned)
    chosen, requeue = planned.chosen, planned.requeue
    work = BatchWork(chosen.rows, requeue.create_mover, requeue.read_message_name)
    frozen = {"owners": sorted(chosen.owner_states)}
    return PreparedAction(context, planned.plan, work if planned.plan.count else None, planned.record_with(frozen))


@dataclass(frozen=True, slots=True)
class PlannedRequeue:
    """The plan to make messages of a table ready, and the messages."""

    layout: Layout
    plan: Plan
    requeue: TableRequeue
    chosen: Selection

    def record_with(self, frozen: Mapping[str, object]) -> OperationRecord:
        """Return the record of the operation. ``frozen``: further values that the plan froze."""
        return OperationRecord(
            table_to_text(self.layout.table),
            {"clock": self.chosen.facts.clock, **frozen, **self.requeue.columns_for_undo()},
            undoable=self.plan.undo.possible,
            tables=queue_tables(self.layout),
        )


def plan_table_requeue(
    context: OperatorContext,
    layout: Layout,
    state: StateColumn,
    kind: OperationKind,
    title: Text,
    choice: Choice,
    criteria: Criteria,
    extra_writes: Sequence[RequeueWrite] = (),
) -> PlannedRequeue | str:
    """Select and freeze the messages to make ready, or return why this is impossible.

    Raises server errors. ``title``: a text with the fields ``messages`` and ``queue``.
    """
    with context.open_sql(f"{kind} plan") as sql:
        why = why_not_permitted(context, sql, REQUEUE_PRIVILEGES, layout.table)
        place = read_table_identity(sql, layout.table)
        structure = read_structure(sql, layout.table, state.column)
        if (never := why_update_unreliable(context, structure)) is not None:
            return never
        requeue = TableRequeue(layout, state, structure, criteria, place, extra_writes)
        query = MessageQuery(sql, layout, structure, choice, criteria)
        if (never := query.why_not_decidable(requeue.kept_columns)) is not None:
            return never
        chosen = query.select_messages()
        count = chosen.rows.count
        undo = describe_undo(sql, requeue, chosen.rows)
        copied = unmasked_copy_risks(sql, layout.table, requeue.kept_columns) if undo.possible else ()
        plan = Plan(
            kind,
            context.target.name,
            layout.queue,
            title=title.render(messages=chosen.counts_text, queue=layout.queue),
            count=count,
            predicate=chosen.predicate,
            sql=requeue.statement_texts(sql),
            first=read_first_rows(context, query, chosen),
            left_out=chosen.left_out,
            batch=LARGEST_BATCH,
            seconds=estimate_seconds(sql, kind, layout, count),
            undo=undo,
            consequences=requeue.describe_effects(),
            risks=(*requeue.describe_risks(chosen), *copied),
            consent=context.required_consent(count),
            refused=why or requeue.why_impossible(sql) or (None if count else Nothing.NO_MESSAGE),
        )
    return PlannedRequeue(layout, plan, requeue, chosen)


class TableRequeue:
    """Requeue messages of one layout. ``extra_writes``: writes for columns that the layout does not mention."""

    def __init__(
        self,
        layout: Layout,
        state: StateColumn,
        structure: TableStructure,
        criteria: Criteria,
        place: TableIdentity,
        extra_writes: Sequence[RequeueWrite] = (),
    ) -> None:
        self._layout, self.structure, self._criteria, self._place = layout, structure, criteria, place
        self.ready = transition_for(layout, state, structure, "ready", extra_writes)
        counted = layout.attempts is not None and state.dead is not None and criteria.states == ("in_progress",)
        self._max_attempts = layout.max_attempts if counted else None
        self.dead = transition_for(layout, state, structure, "dead") if self._max_attempts is not None else None
        changed = (*self.ready.columns, *(self.dead.columns if self.dead is not None else ()))
        called_by = structure.id_columns(layout)
        lasting = (key for key in structure.keys if not set(key) & set(changed))
        # Columns that identify a message after the requeue: a key that the requeue does not change or, if no such key
        # exists, the unchanged columns of the key.
        self.identifying_columns = next(
            lasting, tuple(each for each in structure.key or called_by if each not in changed)
        )
        kept = (*self.identifying_columns, *called_by, *changed, layout.attempts)
        self.kept_columns = tuple(dict.fromkeys(each for each in kept if each is not None))
        age_column = layout.started_at if criteria.states == ("in_progress",) else layout.enqueued_at
        self.names: dict[str, Name] = {
            **column_names(layout, structure, age_column),
            "known": tuple(each for each in structure.key or called_by if each not in changed) or None,
            "columns": self.kept_columns,
            "most": self._max_attempts if isinstance(self._max_attempts, str) else None,
        }

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that may occur in this requeue."""
        return (self.ready,) if self.dead is None else (self.ready, self.dead)

    def statement_texts(self, sql: Sql) -> tuple[str, ...]:
        """Return the texts of the statements of a batch."""
        made = {each.statement_name: self.names | each.names for each in reversed(self.transitions)}
        return tuple(sql.statement(name, names).text for name, names in {"lock": self.names, **made}.items())

    def why_impossible(self, sql: Sql) -> str | None:
        """Return why the requeue is impossible, or ``None``."""
        if isinstance(self._max_attempts, str) and not self.structure.column_type(self._max_attempts):
            return RequeueText.NO_LIMIT_COLUMN.render(column=self._max_attempts)
        (source,) = self._criteria.states
        found = (why_no_transition(sql, self._layout, each, source) for each in self.transitions)
        return next((why for why in found if why is not None), None)

    def columns_for_undo(self) -> dict[str, object]:
        """Return the columns by which an undo finds and shows messages.

        Columns to which the requeue writes a value are left out.
        """
        given = {each.column for made in self.transitions for each in made.writes if each.what != "null"}
        names = column_names(self._layout, self.structure, None) | {"since": self._layout.started_at}
        slots = ("called", "state", "since", "owner", "attempts", "payload")
        columns = {slot: None if names[slot] in given else names[slot] for slot in slots}
        clocked = [column for made in self.transitions for column in made.clock_columns]
        return {"columns": columns, "known": self.identifying_columns, "clocked": clocked}

    @property
    def identifying_columns_text(self) -> str:
        """The columns that identify a message after the requeue, as text."""
        return ", ".join(self.identifying_columns)

    def count_indistinguishable(self, sql: Sql, rows: RowSet) -> int | None:
        """Return how many of the rows an undo cannot distinguish from other rows. For many rows, return an upper limit.

        ``None`` means all rows. It is returned on SQL Server if the requeue changes every key, because SQL Server needs
        an unchanged key to find rows.
        """
        if self.structure.is_identified_by(self.identifying_columns):
            return 0
        if not sql.has_statement("alike"):
            return None
        some = rows.count <= CHUNK_ROWS
        (source,) = self._criteria.states
        marks = marks_for(sql.engine.name, rows.first(CHUNK_ROWS) if some else [])
        values: dict[str, Value] = {**marks, "some": some, "state": state_value(self._layout, source)}
        found = sql.fetch_count("alike", {**self.names, "known": self.identifying_columns}, values)
        return min(found, rows.count)

    def create_mover(self, sql: Sql, operation: RunningOperation, watch: FailureWatch | None = None) -> MoveBatch:
        """Create the table for the old values if our role may create it. Return the function that requeues one batch.

        ``watch``: receives the ids of the messages.
        """
        names, key, engine = dict(self.names), self.structure.key, sql.engine.name
        self._place.check_unchanged(sql)
        keeping = (
            operation.recorded
            and bool(self.identifying_columns)
            and not set(self.structure.kept_columns) & set(undo_tables.OWN_COLUMNS)
        )
        if keeping:
            names["kept"] = undo_tables.ensure_store(
                sql, "kept", self.structure, self.kept_columns, self.identifying_columns[-1]
            ).parts

        # all batches use the same place, so the messages keep their order
        place = cache(partial(self.ready.read_front_place, sql, self._layout))

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            own, held = lock_rows(sql, "lock", names, marks_for(engine, marks, key), marks, tally)
            if own:
                values: dict[str, Value] = {**marks_for(engine, own, key), "operation": operation.id}
                if watch is not None:
                    watch.record_batch(partial(read_ids, sql, names, values))
                if keeping:
                    sql.execute("keep", names, values)
                triggers = TriggerWatch(sql, "update", self.structure)
                made = [
                    row
                    for each in self.transitions
                    for row in self._write_state(
                        sql, each, names, values, None if each.front_column is None else place()
                    )
                ]
                written = dict.fromkeys(column for each in self.transitions for column in each.columns)
                check_written(sql, names, made, len(own), (*written,), self.structure.obstacle_names("trigger"))
                triggers.check_updated(len(own))
                tally.done = len(made)
            self._place.check_unchanged(sql, marks)
            return held

        return move

    def _write_state(
        self, sql: Sql, transition: Transition, names: dict[str, Name], values: dict[str, Value], place: str | None
    ) -> list[WrittenRow]:
        written = transition.values(sql.engine.name, place)
        limit: dict[str, Value] = {
            "dead": transition.state == "dead",
            "max_attempts": self._max_attempts if isinstance(self._max_attempts, int) else None,
        }
        return sql.fetch(WrittenRow, transition.statement_name, names | transition.names, values | written | limit)

    def read_message_name(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        return read_message_name(sql, self.names, marks_for(sql.engine.name, [mark], self.structure.key))

    def describe_effects(self) -> tuple[str, ...]:
        """Describe the effects that consumers will notice."""
        lines = [place_text(self._layout, self.ready)]
        if isinstance(self._max_attempts, str):
            lines.append(RequeueText.DEAD_BY_COLUMN.render(column=self._max_attempts))
        elif self._max_attempts is not None:
            lines.append(RequeueText.DEAD_BY_LIMIT.render(attempts=count_text(self._max_attempts, "attempt")))
        written = (each.writes_text() for each in self.transitions)
        return (*lines, *(each for each in written if each is not None), *self._describe_skipped())

    def describe_writes(self) -> tuple[str, ...]:
        """Describe all written columns, and which messages may be skipped."""
        return (self.ready.writes_text(with_state=True) or "", *self._describe_skipped())

    def _describe_skipped(self) -> tuple[str, ...]:
        """Describe which messages may be skipped, and why."""
        out = []
        if unique := self.structure.obstacle_names("unique"):
            out.append(RequeueText.SKIPPED_UNIQUE.render(indexes=", ".join(unique)))
        if before := self.structure.obstacle_names("before update"):
            out.append(RequeueText.SKIPPED_BEFORE.render(triggers=", ".join(before)))
        if after := self.structure.obstacle_names("after update"):
            out.append(RequeueText.SKIPPED_AFTER.render(triggers=", ".join(after)))
        out += self.structure.hidden_rows_notes
        return tuple(out)

    def describe_risks(self, chosen: Selection) -> tuple[str, ...]:
        """Describe the risks of the requeue."""
        if self._criteria.states != ("in_progress",):
            return (RequeueText.TWICE, *self._attempts_risks())
        if not (risky := chosen.owner_states - {OwnerState.DEAD}):
            return ()
        who = " or ".join(_OWNER_TEXTS[state] for state in sorted(risky))
        return (RequeueText.OWNER_WORKS.render(who=who),)

    def _attempts_risks(self) -> tuple[str, ...]:
        attempts, most = self._layout.attempts, self._layout.max_attempts
        if attempts is None or most is None or attempts in self.ready.columns:
            return ()
        return (RequeueText.KEEP_ATTEMPTS.render(attempts=attempts),)


def _why_impossible(layout: Layout, choice: Choice) -> str | None:
    if choice.state == "ready":
        return RequeueText.READY
    if choice.state is None and state_value(layout, "in_progress") is None:
        return RequeueText.NEVER_IN_PROGRESS
    if layout.has_known_time(layout.started_at) or choice.ids or choice.state in ("done", "dead"):
        return None
    # If the time of the pop is unknown, only a dead owner or the operator can show that a message is stuck.
    if layout.started_at is not None and (choice.has_age_limit or layout.owner is None):
        return RequeueText.NO_ZONE.render(advice=zone_advice(layout.started_at))
    if choice.has_age_limit:
        return RequeueText.NO_START
    if layout.owner is None or choice.owner_states - {OwnerState.DEAD}:
        return RequeueText.NO_START_NO_OWNER
    return None


def _criteria_for(layout: Layout, choice: Choice) -> Criteria:
    state: State = choice.state or "in_progress"  # type: ignore[assignment]
    if state != "in_progress":
        if choice.has_age_limit:
            check_push_time(layout)
        return Criteria((state,), layout.enqueued_at, choice.older_than_s, None)
    by_age = choice.older_than_s is None and not choice.ids and layout.has_known_time(layout.started_at)
    return Criteria((state,), layout.started_at, choice.older_than_s, layout.timeout_s if by_age else None)


def why_update_unreliable(context: OperatorContext, structure: TableStructure) -> str | None:
    """Return why rows cannot be written reliably, or ``None`` if they can."""
    if context.engine.name == "sqlserver" and (why := why_no_key(structure)):
        return why
    if rules := structure.obstacle_names("rule update"):
        return RequeueText.RULES.render(table=structure.table, rules=", ".join(rules))
    return None


def describe_undo(sql: Sql, requeue: TableRequeue, chosen: RowSet) -> Undo:
    """Return whether the requeue can be undone, and which messages an undo cannot restore."""
    if not requeue.identifying_columns:
        return Undo(possible=False, notes=(RequeueText.UNIDENTIFIED,))
    if taken := set(requeue.structure.kept_columns) & set(undo_tables.OWN_COLUMNS):
        return Undo(possible=False, notes=(RequeueText.COLUMN_TAKEN.render(column=min(taken)),))
    if not read_audit_access(sql).can_record:
        return Undo(possible=False, notes=(RequeueText.CANNOT_STORE.render(advice=AccessText.SETUP_ADVICE),))
    lost = requeue.count_indistinguishable(sql, chosen)
    if lost is None:
        why = RequeueText.KEY_CHANGES.render(columns=requeue.identifying_columns_text)
        return Undo(possible=False, notes=(why,))
    notes = (RequeueText.NOT_POPPED_AGAIN,)
    if lost == 0:
        return Undo(possible=True, notes=notes)
    count = chosen.count
    which = RequeueText.PARTLY_COUNT.render(
        up_to=RequeueText.UP_TO if count > CHUNK_ROWS else "", lost=lost, messages=count_text(count, "message")
    )
    why = RequeueText.SAME_VALUES.render(columns=requeue.identifying_columns_text)
    return Undo(possible=lost < count, notes=(RequeueText.PARTLY.render(which=which, why=why), *notes[: lost < count]))
