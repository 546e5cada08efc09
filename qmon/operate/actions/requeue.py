"""Requeue: makes messages ready again whose consumer is dead, or that are stuck."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout, StateColumn, Write
from qmon.model.operations import Choice, Kind, Nothing, OwnerState, Plan, Undo
from qmon.model.text import counted
from qmon.operate.actions import undo_tables
from qmon.operate.actions.requeue_sessions import prepare_requeue_sessions
from qmon.operate.context import OperatorContext
from qmon.operate.plan import allowed
from qmon.operate.plan.preview import called, estimated_s, first_rows, ids_of
from qmon.operate.plan.rights import REQUEUE, queue_tables, unkept, why_not
from qmon.operate.plan.selection import (
    Criteria,
    MessageQuery,
    Selection,
    State,
    check,
    column_names,
    needs_pushed,
    value_of,
    zoneless,
)
from qmon.operate.plan.transitions import Transition, in_the_way, place_words, transition
from qmon.operate.row_set import CHUNK, Mark, RowSet, marks_for
from qmon.operate.run.batches import BatchWork, Move, lock
from qmon.operate.run.failures import FailureWatch
from qmon.operate.run.operation import Record, Running, Tally, audit_access
from qmon.operate.run.pacing import LARGEST
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.run.table_identity import TableIdentity, read_place
from qmon.operate.run.verification import TriggerWatch, Written, check_written
from qmon.operate.sql import Sql
from qmon.operate.table import Structure, read_structure, unkeyed

_MAYBE_AT_WORK: Final = {
    OwnerState.ALIVE: "a popper that is alive",
    OwnerState.UNKNOWN: "a popper that nothing is known of",
    OwnerState.NONE: "a popper that nothing but their age speaks of (the queue names no owner)",
}


def prepare_requeue(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Select and freeze the messages to requeue. If a pop deletes, plan to end sessions instead.

    Raises ``BadInput`` for a choice that makes no sense, and server errors.
    """
    deny = partial(refused, context, Kind.REQUEUE, layout.queue, f"Requeue messages of {layout.queue}")
    if (why := allowed.why_not(layout, Kind.REQUEUE)) is not None:
        return deny(why)
    if layout.deletes_on_pop or layout.state is None:
        return prepare_requeue_sessions(context, layout, choice)
    check(layout, choice)
    if (why := _impossible(layout, choice)) is not None:
        return deny(why)
    wanted = _wanted(layout, choice)
    with context.sql("requeue plan") as sql:
        why = why_not(context, sql, REQUEUE, layout.table)
        place = read_place(sql, layout.table)
        structure = read_structure(sql, layout.table, layout.state.column)
        if (never := unfit(context, structure)) is not None:
            return deny(never)
        strategy = RequeueStrategy(layout, layout.state, structure, wanted, place)
        if (never := unkept(sql, layout.table, strategy.kept)) is not None:
            return deny(never)
        query = MessageQuery(sql, layout, structure, choice, wanted)
        chosen = query.choose()
        count = chosen.rows.count
        undo = undo_of(sql, strategy, chosen)
        why = why or strategy.in_the_way(sql) or (None if count else Nothing.NO_MESSAGE)
        plan = Plan(
            Kind.REQUEUE,
            context.target.name,
            layout.queue,
            title=f"Requeue {chosen.words} of {layout.queue}",
            count=count,
            predicate=chosen.predicate,
            sql=strategy.statements(sql),
            first=first_rows(context, query, chosen),
            left_out=chosen.left_out,
            batch=LARGEST,
            seconds=estimated_s(sql, Kind.REQUEUE, layout, count),
            undo=undo,
            consequences=strategy.consequences(),
            risks=strategy.risks(chosen),
            consent=context.consent(count),
            refused=why,
        )
    frozen: dict[str, object] = {"clock": chosen.facts.clock, "owners": sorted(chosen.owner_states)}
    frozen |= strategy.shown()
    record = Record(table_to_text(layout.table), frozen, undoable=undo.possible, tables=queue_tables(layout))
    return PreparedAction(
        context, plan, BatchWork(chosen.rows, strategy.begin, strategy.named) if count else None, record
    )


class RequeueStrategy:
    """Requeue messages of one layout. ``extra_writes``: writes for columns that the layout does not mention."""

    def __init__(
        self,
        layout: Layout,
        state: StateColumn,
        structure: Structure,
        wanted: Criteria,
        place: TableIdentity,
        also: Sequence[Write] = (),
    ) -> None:
        self._layout, self.structure, self._wanted, self._place = layout, structure, wanted, place
        self.ready = transition(layout, state, structure, "ready", also)
        counted = layout.attempts is not None and state.dead is not None and wanted.states == ("in_progress",)
        self._most = layout.max_attempts if counted else None
        self.dead = transition(layout, state, structure, "dead") if self._most is not None else None
        changed = (*self.ready.columns, *(self.dead.columns if self.dead is not None else ()))
        called_by = structure.called_by(layout)
        lasting = (key for key in structure.keys if not set(key) & set(changed))
        # Columns that identify a message afterwards: a key that does not change, or the unchanged columns of its key.
        self.known = next(lasting, tuple(each for each in structure.key or called_by if each not in changed))
        kept = (*self.known, *called_by, *changed, layout.attempts)
        self.kept = tuple(dict.fromkeys(each for each in kept if each is not None))
        since = layout.started_at if wanted.states == ("in_progress",) else layout.enqueued_at
        self.names: dict[str, Name] = {
            **column_names(layout, structure, since),
            "known": tuple(each for each in structure.key or called_by if each not in changed) or None,
            "columns": self.kept,
            "most": self._most if isinstance(self._most, str) else None,
        }

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that may occur."""
        return (self.ready,) if self.dead is None else (self.ready, self.dead)

    def statements(self, sql: Sql) -> tuple[str, ...]:
        """Return the texts of the statements of a batch."""
        made = {each.statement: self.names | each.names for each in reversed(self.transitions)}
        return tuple(sql.statement(name, names).text for name, names in {"lock": self.names, **made}.items())

    def in_the_way(self, sql: Sql) -> str | None:
        """Return why the requeue is impossible, or ``None``."""
        if isinstance(self._most, str) and not self.structure.type_of(self._most):
            return f"max_attempts: the column {self._most} does not exist"
        (source,) = self._wanted.states
        found = (in_the_way(sql, self._layout, each, source) for each in self.transitions)
        return next((why for why in found if why is not None), None)

    def shown(self) -> dict[str, object]:
        """Return the columns that an undo finds as the requeue left them, without those that it writes a value into."""
        given = {each.column for made in self.transitions for each in made.writes if each.what != "null"}
        names = column_names(self._layout, self.structure, None) | {"since": self._layout.started_at}
        slots = ("called", "state", "since", "owner", "attempts", "payload")
        columns = {slot: None if names[slot] in given else names[slot] for slot in slots}
        clocked = [column for made in self.transitions for column in made.clocked]
        return {"columns": columns, "known": self.known, "clocked": clocked}

    @property
    def called(self) -> str:
        """The columns that identify a message afterwards, for people."""
        return ", ".join(self.known)

    def alike(self, sql: Sql, rows: RowSet) -> int | None:
        """Return how many of the rows an undo cannot tell from others; for many rows an upper limit.

        ``None`` means all of them: SQL Server finds rows by a key that does not change, and there is none.
        """
        if self.structure.known_by(self.known):
            return 0
        if not sql.exists("alike"):
            return None
        some = rows.count <= CHUNK
        (source,) = self._wanted.states
        marks = marks_for(sql.engine.name, rows.first(CHUNK) if some else [])
        values: dict[str, Value] = {**marks, "some": some, "state": value_of(self._layout, source)}
        found = sql.count("alike", {**self.names, "known": self.known}, values)
        return min(found, rows.count)

    def begin(self, sql: Sql, operation: Running, watch: FailureWatch | None = None) -> Move:
        """Create the table that keeps the old values, if permitted. Return the function that requeues one batch.

        ``watch``: receives the ids of the messages.
        """
        names, key, engine = dict(self.names), self.structure.key, sql.engine.name
        self._place.check(sql)
        keeping = operation.recorded and bool(self.known) and not set(self.structure.kept) & set(undo_tables.OWN)
        if keeping:
            names["kept"] = undo_tables.ensure(sql, "kept", self.structure, self.kept, self.known[-1]).parts

        # one for all batches, so the messages keep their order
        place = cache(partial(self.ready.place, sql, self._layout))

        def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
            own, held = lock(sql, "lock", names, marks_for(engine, marks, key), marks, tally)
            if own:
                values: dict[str, Value] = {**marks_for(engine, own, key), "operation": operation.id}
                if watch is not None:
                    watch.batch(partial(ids_of, sql, names, values))
                if keeping:
                    sql.execute("keep", names, values)
                triggers = TriggerWatch(sql, "update", self.structure)
                made = [
                    row
                    for each in self.transitions
                    for row in self._make(sql, each, names, values, None if each.front is None else place())
                ]
                written = dict.fromkeys(column for each in self.transitions for column in each.columns)
                check_written(sql, names, made, len(own), (*written,), self.structure.named("trigger"))
                triggers.check_updated(len(own))
                tally.done = len(made)
            self._place.check(sql, marks)
            return held

        return move

    def _make(
        self, sql: Sql, made: Transition, names: dict[str, Name], values: dict[str, Value], place: str | None
    ) -> list[Written]:
        written = made.values(sql.engine.name, place)
        limit: dict[str, Value] = {
            "dead": made.state == "dead",
            "max_attempts": self._most if isinstance(self._most, int) else None,
        }
        return sql.fetch(Written, made.statement, names | made.names, values | written | limit)

    def named(self, sql: Sql, mark: Mark) -> str:
        """Return the readable name of a message."""
        return called(sql, self.names, marks_for(sql.engine.name, [mark], self.structure.key))

    def consequences(self) -> tuple[str, ...]:
        """Describe the effects that consumers will notice."""
        lines = [place_words(self._layout, self.ready)]
        if isinstance(self._most, str):
            lines.append(f"those with as many attempts as their {self._most} become dead letters")
        elif self._most is not None:
            lines.append(f"those with {counted(self._most, 'attempt')} or more become dead letters")
        written = (each.text() for each in self.transitions)
        return (*lines, *(each for each in written if each is not None), *self._foreseen())

    def _foreseen(self) -> tuple[str, ...]:
        """Describe which messages may be left alone, and why."""
        out = []
        if unique := self.structure.named("unique"):
            out.append(f"a message whose place in a unique index is taken is left alone: {', '.join(unique)}")
        if before := self.structure.named("before update"):
            out.append(f"what these triggers keep from being written is left alone: {', '.join(before)}")
        if after := self.structure.named("after update"):
            out.append(f"what these triggers write once more, or take away, is left alone: {', '.join(after)}")
        out += self.structure.unseen
        return tuple(out)

    def risks(self, chosen: Selection) -> tuple[str, ...]:
        """Describe the risks of the requeue."""
        if self._wanted.states != ("in_progress",):
            return ("they were popped before: whoever had them gets them delivered twice", *self._worn())
        if not (risky := chosen.owner_states - {OwnerState.DEAD}):
            return ()
        who = " or ".join(_MAYBE_AT_WORK[state] for state in sorted(risky))
        return (f"{who} may be at work on them still: then they are delivered twice",)

    def _worn(self) -> tuple[str, ...]:
        attempts, most = self._layout.attempts, self._layout.max_attempts
        if attempts is None or most is None or attempts in self.ready.columns:
            return ()
        return (
            f"they keep their {attempts}: what has had too many is dead again when it fails once more; redrive"
            " gives them new ones",
        )


def _impossible(layout: Layout, choice: Choice) -> str | None:
    if choice.state == "ready":
        return "ready messages are in the queue already"
    if choice.state is None and value_of(layout, "in_progress") is None:
        return "messages of this queue are never in progress; to have processed ones again, give the state: done"
    if layout.tells(layout.started_at) or choice.ids or choice.state in ("done", "dead"):
        return None
    # Without the time of the pop, only a dead owner or the operator can tell that a message is stuck.
    if layout.started_at is not None and (choice.aged or layout.owner is None):
        return f"{zoneless(layout.started_at)}, so that no age is known; or give ids"
    if choice.aged:
        return "no column says since when messages are in progress; give their ids"
    if layout.owner is None or choice.owner_states - {OwnerState.DEAD}:
        return "no column says since when messages are in progress, and no owner proves them dead; give their ids"
    return None


def _wanted(layout: Layout, choice: Choice) -> Criteria:
    state: State = choice.state or "in_progress"  # type: ignore[assignment]
    if state != "in_progress":
        if choice.aged:
            needs_pushed(layout)
        return Criteria((state,), layout.enqueued_at, choice.older_than_s, None)
    by_age = choice.older_than_s is None and not choice.ids and layout.tells(layout.started_at)
    return Criteria((state,), layout.started_at, choice.older_than_s, layout.timeout_s if by_age else None)


def unfit(context: OperatorContext, structure: Structure) -> str | None:
    """Return why a row cannot be written reliably, or ``None`` if it can."""
    if context.engine.name == "sqlserver" and (why := unkeyed(structure)):
        return why
    if rules := structure.named("rule update"):
        return f"{structure.table} has rules in whose stead something else may happen: {', '.join(rules)}"
    return None


def undo_of(sql: Sql, strategy: RequeueStrategy, chosen: Selection) -> Undo:
    """Return whether the changes can be undone, and which cannot."""
    if not strategy.known:
        return Undo(possible=False, notes=("nothing makes a message known: the queue has neither a key nor ids",))
    if taken := set(strategy.structure.kept) & set(undo_tables.OWN):
        return Undo(possible=False, notes=(f"the table has a column called {min(taken)}, as qmon's own has",))
    if not audit_access(sql).possible:
        return Undo(possible=False, notes=("this role cannot keep what an undo needs: qmon setup --role operator",))
    lost = strategy.alike(sql, chosen.rows)
    if lost is None:
        why = f"the requeue changes the key, and {strategy.called} may not identify a message"
        return Undo(possible=False, notes=(why,))
    notes = ("only what has not been popped again by then",)
    if lost == 0:
        return Undo(possible=True, notes=notes)
    count = chosen.rows.count
    which = f"{'up to ' if count > CHUNK else ''}{lost:,} of {counted(count, 'message')} cannot be undone"
    why = f"others have the same {strategy.called}, or it is NULL"
    return Undo(possible=lost < count, notes=(f"{which}: {why}", *notes[: lost < count]))
