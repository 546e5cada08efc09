"""Determines the columns that a requeue writes: the state of a message and the columns that depend on the state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree

from qmon.engines.base import EngineName, Value
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout, RequeueWrite, StateColumn, StateValue
from qmon.model.layout.time_zones import UTC_ZONE
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure
from qmon.texts import Text


class TransitionText(Text):
    """Texts about the columns that a requeue writes."""

    WRITE = "{column} = {value}"
    WRITES = "messages that become {state} get: {writes}"
    CONSTRAINT = "the constraint {constraint} checks {other} together with {column}"
    END_TIME = "{column} looks like the time at which a message ended"
    NO_VALUE = (
        "{column} prevents this: {why}, and no value is configured for messages that become {state}; set one in the"
        ' configuration: writes = {{ {state} = {{ "{column}" = "null" }} }}. Instead of "null", you can write "now",'
        ' "keep" or a value'
    )
    COMPUTED_STATE = (
        "the server computes {column} from other columns, so qmon cannot make a message {state}: use the application's"
        " own means"
    )
    DOES_NOT_EXIST = "does not exist"
    IS_COMPUTED = "is computed by the server"
    COLUMN_FAULT = "writes.{state}: the column {column} {fault}"
    NOT_NULL = "writes.{state}: the column {column} does not allow NULL"
    WRONG_TYPE = "writes.{state}: {write} is only for times and numbers, but {column} has the type {type}"
    NOT_UTC = "writes.{state}: qmon writes the time in UTC, but {column} does not contain UTC"
    OLD_PLACE = (
        "the messages keep their old place; qmon does not know when consumers take them, because no order is"
        " configured (set order in the configuration)"
    )
    TO_FRONT = "the messages go to the front: consumers take them next"
    TO_FRONT_OF = "the messages go to the front of all messages with the same {columns}"
    NEW_PLACE = (
        "the new place of the messages depends on {column}, which becomes {value}: consumers take messages in the"
        " order of {order}"
    )
    NOT_BEFORE = ", not before their {column}"
    OLD_PLACE_BEFORE = (
        "the messages return to their old place by {column}, before messages that were pushed later{later}"
    )
    OLD_PLACE_BY = "the messages return to their old place by {columns}{later}"
    LARGEST_FIRST = " (largest first)"
    BEFORE_FIRST = "a value before that of the first message never popped"
    CURRENT_TIME = "the current time"


# Words in the names of columns that store the time at which a message ended.
_END_WORDS: Final = re.compile(
    r"(?<![a-z])(finish|finaliz|finalis|complet|process|discard|fail|cancel|dead|died|expire|end|clos|succeed|abort)(ed)?"
    r"(?![a-z])"
)
_WORD_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TIME_TYPES: Final = re.compile(r"timestamp|date|time")
_NUMBER_TYPES: Final = re.compile(r"(small|big|tiny)?int(eger)?|numeric|decimal|double precision|real|float|money")

# SQL Server: smallest difference between two values of these types, in milliseconds.
_STEPS_MS: Final = {"datetime": 4, "smalldatetime": 60_000}


@dataclass(frozen=True, slots=True)
class TiedColumn:
    """A column that appears together with the state in a CHECK constraint."""

    name: str
    column_name: str


@dataclass(frozen=True, slots=True)
class _Place:
    place: str


@dataclass(frozen=True, slots=True)
class Transition:
    """The column values to write for a message that becomes ready or dead.

    ``value``: the value of the state; ``None`` for NULL. ``writes``: the written columns, without the state and without
    columns that keep their value. ``assigned``: all columns that the configuration mentions.
    """

    state: Literal["ready", "dead"]
    column: str
    value: StateValue | None
    writes: tuple[RequeueWrite, ...]
    assigned: frozenset[str]
    structure: TableStructure

    @property
    def columns(self) -> tuple[str, ...]:
        """The written columns, the state first."""
        return (self.column, *(each.column for each in self.writes))

    @property
    def state_write(self) -> RequeueWrite:
        """The write of the state."""
        return RequeueWrite(self.state, self.column, "null" if self.value is None else "value", self.value)

    @property
    def front_column(self) -> str | None:
        """The column whose new value moves the message to the front of the queue, or ``None``."""
        return next((each.column for each in self.writes if each.what == "front"), None)

    @property
    def clock_columns(self) -> tuple[str, ...]:
        """The columns set from the server's clock. A trigger may change these times."""
        return tuple(each.column for each in self.writes if each.what == "now")

    @property
    def statement_name(self) -> str:
        """The name of the statement that writes the columns."""
        return "requeue" if self.front_column is None else "requeue_front"

    @property
    def names(self) -> dict[str, Name]:
        """The names for that statement."""
        written = tuple(each for each in self.columns if each != self.front_column)
        certain = tuple(each for each in written if each not in self.clock_columns)
        return {"written": written, "certain": certain, "front": self.front_column}

    def values(self, engine: EngineName, place: str | None = None) -> dict[str, Value]:
        """Return the values for that statement. ``place``: the value of the front column."""
        given: dict[str, StateValue | None] = {self.column: self.value}
        clock: dict[str, str] = {}
        for each in self.writes:
            if each.what == "now":
                clock[each.column] = "time" if _is_time(self.structure.column_type(each.column)) else "seconds"
            else:
                given[each.column] = place if each.what == "front" else each.value
        if engine == "postgres":
            return {"written": json.dumps(given, ensure_ascii=False), "clock": json.dumps(clock, ensure_ascii=False)}
        rows = [
            {"c": column} if value is None else {"c": column, "v": str(value)} for column, value in given.items()
        ] + [{"c": column, "w": kind} for column, kind in clock.items()]
        return {"written": "".join(ElementTree.tostring(ElementTree.Element("w", row), "unicode") for row in rows)}

    def read_front_place(self, sql: Sql, layout: Layout) -> str | None:
        """Read the value that sorts before the first ready message that was never popped.

        Return ``None`` if there is no such message.
        """
        if self.front_column is None:
            return None
        kind = self.structure.column_type(self.front_column)
        names: dict[str, Name] = {
            "table": layout.table.parts,
            "state": self.structure.typed_column(self.column),
            "attempts": layout.attempts,
            "front": self.front_column,
        }
        values: dict[str, Value] = {"ready": self.value, "step": _STEPS_MS.get(_bare_type(kind), 1)}
        found = sql.fetch(_Place, "front" if _is_time(kind) else "front_number", names, values)
        return found[0].place if found else None

    def writes_text(self, *, with_state: bool = False) -> str | None:
        """Describe the written columns for a plan. ``with_state``: also the state."""
        written = (self.state_write, *self.writes) if with_state else self.writes
        parts = [TransitionText.WRITE.render(column=each.column, value=_write_text(each)) for each in written]
        return TransitionText.WRITES.render(state=self.state, writes=", ".join(parts)) if parts else None


def transition_for(
    layout: Layout,
    state: StateColumn,
    structure: TableStructure,
    target: Literal["ready", "dead"],
    extra_writes: Sequence[RequeueWrite] = (),
) -> Transition:
    """Return the configured writes for this state. Start time and owner become NULL if the table allows NULL.

    ``extra_writes``: writes for columns that the layout does not mention.
    """
    assigned = {each.column: each for each in layout.writes if each.state == target}
    assigned = {each.column: each for each in extra_writes} | assigned
    owner = None if layout.owner is None else layout.owner.column
    for column in (layout.started_at, owner):
        if column is not None and column not in assigned and structure.may_be_set_null(column):
            assigned[column] = RequeueWrite(target, column, "null")
    value = state.ready if target == "ready" or state.dead is None else state.dead
    writes = tuple(each for each in assigned.values() if each.what != "keep")
    return Transition(target, state.column, value, writes, frozenset(assigned), structure)


def why_no_transition(sql: Sql, layout: Layout, transition: Transition, source: str) -> str | None:
    """Return why a message cannot change from the state ``source`` to the transition's state, or ``None`` if it can.

    A column blocks the change if its new value is unknown and a CHECK constraint combines it with the state. A nullable
    time column blocks the change if its name looks like an end time (``finished_at``, ``discarded_on``), unless a
    message in progress becomes ready. A column that cannot be written also blocks the change.
    """
    if (wrong := _why_unwritable(transition) or _why_wrong_clock(layout, transition)) is not None:
        return wrong
    names: dict[str, Name] = {"table": layout.table.parts}
    for tie in sql.fetch(TiedColumn, "ties", names, {"state": transition.column}):
        if tie.column_name not in transition.assigned:
            return _missing_write_text(
                TransitionText.CONSTRAINT.render(constraint=tie.name, other=tie.column_name, column=transition.column),
                transition,
                tie.column_name,
            )
    if transition.state == "ready" and source == "in_progress":
        return None
    used = {layout.id, layout.started_at, layout.enqueued_at, layout.due_at, layout.owner and layout.owner.column}
    for each in transition.structure.columns:
        open_ = each.column_name not in transition.assigned and each.column_name not in used
        if open_ and not each.not_null and not each.generated and is_end_time(each.column_name, each.type_name):
            return _missing_write_text(
                TransitionText.END_TIME.render(column=each.column_name), transition, each.column_name
            )
    return None


def is_end_time(column: str, type_name: str) -> bool:
    """Return whether a column looks like the time at which a message ended, by its name and type."""
    return _is_time(type_name) and _END_WORDS.search(_WORD_BOUNDARY.sub("_", column).lower()) is not None


def _missing_write_text(why: str, transition: Transition, column: str) -> str:
    return TransitionText.NO_VALUE.render(column=column, why=why, state=transition.state)


def _why_unwritable(transition: Transition) -> str | None:
    columns = {each.column_name: each for each in transition.structure.columns}
    if (state := columns.get(transition.column)) is not None and state.generated:
        return TransitionText.COMPUTED_STATE.render(column=transition.column, state=transition.state)
    for each in (*transition.writes, transition.state_write):
        found = columns.get(each.column)
        if found is None or found.generated or found.lost:
            what = TransitionText.DOES_NOT_EXIST if found is None else TransitionText.IS_COMPUTED
            return TransitionText.COLUMN_FAULT.render(state=transition.state, column=each.column, fault=what)
        if each.what == "null" and found.not_null:
            return TransitionText.NOT_NULL.render(state=transition.state, column=each.column)
        if each.what in ("now", "front") and not (_is_time(found.type_name) or _is_number(found.type_name)):
            return TransitionText.WRONG_TYPE.render(
                state=transition.state, write=each.what, column=each.column, type=found.type_name
            )
    return None


def _why_wrong_clock(layout: Layout, transition: Transition) -> str | None:
    """Return why the current time in UTC would be wrong in one of the written columns, or ``None``."""
    for each in transition.writes:
        zone = dict(layout.zones).get(each.column, UTC_ZONE)
        kind = transition.structure.column_type(each.column)
        zoned = not _is_time(kind) or kind.startswith("datetimeoffset") or kind.endswith("with time zone")
        other_clock = layout.times not in (None, "utc") and not zoned
        if each.what == "now" and (zone != UTC_ZONE or other_clock):
            return TransitionText.NOT_UTC.render(state=transition.state, column=each.column)
    return None


def place_text(layout: Layout, ready: Transition) -> str:
    """Describe, for a plan, at which position in the queue messages become ready."""
    if not layout.order:
        return TransitionText.OLD_PLACE
    written = {each.column: each for each in ready.writes}
    same = []
    for each in layout.order:
        if (write := written.get(each.column)) is None:
            same.append(each.column)
        elif write.what == "front" and not same:
            return TransitionText.TO_FRONT
        elif write.what == "front":
            return TransitionText.TO_FRONT_OF.render(columns=_join_names(same))
        else:
            return TransitionText.NEW_PLACE.render(
                column=each.column, value=_write_text(write), order=_order_text(layout)
            )
    later = (
        TransitionText.NOT_BEFORE.render(column=layout.due_at)
        if layout.due_at is not None and layout.due_at not in written
        else ""
    )
    if same[0] == layout.id and not layout.order[0].descending:
        return TransitionText.OLD_PLACE_BEFORE.render(column=same[0], later=later)
    return TransitionText.OLD_PLACE_BY.render(columns=_join_names(same), later=later)


def _order_text(layout: Layout) -> str:
    return _join_names(
        [each.column + (TransitionText.LARGEST_FIRST if each.descending else "") for each in layout.order]
    )


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(names)


def _write_text(write: RequeueWrite) -> str:
    if write.what == "front":
        return TransitionText.BEFORE_FIRST
    return {"null": "NULL", "now": TransitionText.CURRENT_TIME}.get(write.what, str(write.value))


def _bare_type(type_name: str) -> str:
    return type_name.partition("(")[0].strip()


def _is_time(type_name: str) -> bool:
    return _TIME_TYPES.match(_bare_type(type_name)) is not None


def _is_number(type_name: str) -> bool:
    return _NUMBER_TYPES.fullmatch(_bare_type(type_name)) is not None
