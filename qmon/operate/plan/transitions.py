"""The columns that a requeue writes: the new state of a message and the columns that depend on it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree

from qmon.engines.base import EngineName, Value
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout, StateColumn, StateValue, Write
from qmon.model.layout.zones import UTC_ZONE
from qmon.operate.sql import Sql
from qmon.operate.table import Structure

# Words in the name of a column that stores when a message ended.
_ENDED: Final = re.compile(
    r"(?<![a-z])(finish|finaliz|finalis|complet|process|discard|fail|cancel|dead|died|expire|end|clos|succeed|abort)(ed)?"
    r"(?![a-z])"
)
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TIMES: Final = re.compile(r"timestamp|date|time")
_NUMBERS: Final = re.compile(r"(small|big|tiny)?int(eger)?|numeric|decimal|double precision|real|float|money")

# SQL Server: smallest difference between two values of these types, in milliseconds.
_STEPS_MS: Final = {"datetime": 4, "smalldatetime": 60_000}


@dataclass(frozen=True, slots=True)
class Tie:
    """A column that appears together with the state in a CHECK constraint."""

    name: str
    column_name: str


@dataclass(frozen=True, slots=True)
class _Place:
    place: str


@dataclass(frozen=True, slots=True)
class Transition:
    """The new column values of a message that becomes ready or dead.

    ``writes``: without the state, and without ``keep``. ``assigned``: all columns for which something is configured.
    """

    state: Literal["ready", "dead"]
    column: str
    value: StateValue
    writes: tuple[Write, ...]
    assigned: frozenset[str]
    structure: Structure

    @property
    def columns(self) -> tuple[str, ...]:
        """The written columns, the state first."""
        return (self.column, *(each.column for each in self.writes))

    @property
    def front(self) -> str | None:
        """The column that moves the message to the front, or ``None``."""
        return next((each.column for each in self.writes if each.what == "front"), None)

    @property
    def clocked(self) -> tuple[str, ...]:
        """The columns set from the server's clock. A trigger may write another time into them."""
        return tuple(each.column for each in self.writes if each.what == "now")

    @property
    def statement(self) -> str:
        """The name of the statement that writes the columns."""
        return "requeue" if self.front is None else "requeue_front"

    @property
    def names(self) -> dict[str, Name]:
        """The names for that statement."""
        written = tuple(each for each in self.columns if each != self.front)
        certain = tuple(each for each in written if each not in self.clocked)
        return {"written": written, "certain": certain, "front": self.front}

    def values(self, engine: EngineName, place: str | None = None) -> dict[str, Value]:
        """Return the values for that statement. ``place``: the value of the front column."""
        given: dict[str, StateValue | None] = {self.column: self.value}
        clock: dict[str, str] = {}
        for each in self.writes:
            if each.what == "now":
                clock[each.column] = "time" if _is_time(self.structure.type_of(each.column)) else "seconds"
            else:
                given[each.column] = place if each.what == "front" else each.value
        if engine == "postgres":
            return {"written": json.dumps(given, ensure_ascii=False), "clock": json.dumps(clock, ensure_ascii=False)}
        rows = [
            {"c": column} if value is None else {"c": column, "v": str(value)} for column, value in given.items()
        ] + [{"c": column, "w": kind} for column, kind in clock.items()]
        return {"written": "".join(ElementTree.tostring(ElementTree.Element("w", row), "unicode") for row in rows)}

    def place(self, sql: Sql, layout: Layout) -> str | None:
        """Read the place before the first ready message that was never popped; ``None`` if there is none."""
        if self.front is None:
            return None
        kind = self.structure.type_of(self.front)
        names: dict[str, Name] = {
            "table": layout.table.parts,
            "state": self.structure.typed(self.column),
            "attempts": layout.attempts,
            "front": self.front,
        }
        values: dict[str, Value] = {"ready": self.value, "step": _STEPS_MS.get(_bare(kind), 1)}
        found = sql.fetch(_Place, "front" if _is_time(kind) else "front_number", names, values)
        return found[0].place if found else None

    def text(self) -> str | None:
        """Describe the written columns besides the state, for a plan."""
        parts = [f"{each.column} {_word(each)}" for each in self.writes]
        return f"those that become {self.state} get: {', '.join(parts)}" if parts else None


def transition(
    layout: Layout,
    state: StateColumn,
    structure: Structure,
    target: Literal["ready", "dead"],
    also: Sequence[Write] = (),
) -> Transition:
    """Return the configured writes for this state. The owner becomes NULL if the table allows that.

    ``extra_writes``: writes for columns that the layout does not mention.
    """
    assigned = {each.column: each for each in layout.writes if each.state == target}
    assigned = {each.column: each for each in also} | assigned
    owner = None if layout.owner is None else layout.owner.column
    for column in (layout.started_at, owner):
        if column is not None and column not in assigned and structure.may_be_set_null(column):
            assigned[column] = Write(target, column, "null")
    value = state.ready if target == "ready" or state.dead is None else state.dead
    writes = tuple(each for each in assigned.values() if each.what != "keep")
    return Transition(target, state.column, value, writes, frozenset(assigned), structure)


def in_the_way(sql: Sql, layout: Layout, made: Transition, source: str) -> str | None:
    """Return why a message cannot change from the state ``source`` to this one, or ``None``.

    A column blocks the change if its new value is unknown and a CHECK constraint combines it with the state. A
    nullable time column also blocks it if its name says that a message ended (``finished_at``, ``discarded_on``) and
    the message ends or becomes ready after its end. Columns that cannot be written block it, too.
    """
    if (wrong := _unwritable(made) or _other_clock(layout, made)) is not None:
        return wrong
    names: dict[str, Name] = {"table": layout.table.parts}
    for tie in sql.fetch(Tie, "ties", names, {"state": made.column}):
        if tie.column_name not in made.assigned:
            return _ask(
                f"the constraint {tie.name} looks at {tie.column_name} together with {made.column}",
                made,
                tie.column_name,
            )
    if made.state == "ready" and source == "in_progress":
        return None
    used = {layout.id, layout.started_at, layout.enqueued_at, layout.due_at, layout.owner and layout.owner.column}
    for each in made.structure.columns:
        open_ = each.column_name not in made.assigned and each.column_name not in used
        if open_ and not each.not_null and not each.generated and is_end_time(each.column_name, each.type_name):
            return _ask(f"{each.column_name} looks like the time at which a message ended", made, each.column_name)
    return None


def is_end_time(column: str, type_name: str) -> bool:
    """Return whether a column looks like the time at which a message ended, by its name and type."""
    return _is_time(type_name) and _ENDED.search(_WORDS.sub("_", column).lower()) is not None


def _ask(why: str, made: Transition, column: str) -> str:
    return (
        f"{column} is in the way: {why}, and nothing says what it gets when a message becomes {made.state}; say it in"
        f' the configuration: writes = {{ {made.state} = {{ "{column}" = "null" }} }}, or "now", "keep" or a value'
    )


def _unwritable(made: Transition) -> str | None:
    columns = {each.column_name: each for each in made.structure.columns}
    if (state := columns.get(made.column)) is not None and state.generated:
        return (
            f"the server computes {made.column} from other columns, so qmon cannot make a message {made.state}:"
            " use the application's own way"
        )
    for each in made.writes:
        found = columns.get(each.column)
        if found is None or found.generated or found.lost:
            what = "does not exist" if found is None else "is computed by the server"
            return f"writes.{made.state}: the column {each.column} {what}"
        if each.what == "null" and found.not_null:
            return f"writes.{made.state}: the column {each.column} takes no NULL"
        if each.what in ("now", "front") and not (_is_time(found.type_name) or _is_number(found.type_name)):
            return f"writes.{made.state}: {each.what} is for times and numbers, and {each.column} is {found.type_name}"
    return None


def _other_clock(layout: Layout, made: Transition) -> str | None:
    """Return why writing the current time in UTC would be wrong for a column."""
    for each in made.writes:
        zone = dict(layout.zones).get(each.column, UTC_ZONE)
        kind = made.structure.type_of(each.column)
        zoned = not _is_time(kind) or kind.startswith("datetimeoffset") or kind.endswith("with time zone")
        other_clock = layout.times not in (None, "utc") and not zoned
        if each.what == "now" and (zone != UTC_ZONE or other_clock):
            return f"writes.{made.state}: the time now is written in UTC, and {each.column} does not hold UTC"
    return None


def place_words(layout: Layout, ready: Transition) -> str:
    """Describe for a plan which place in the queue the ready messages get."""
    if not layout.order:
        return (
            "they keep their old place; whether poppers take them next is not known, since nothing says what these go"
            " by (order in the configuration)"
        )
    written = {each.column: each for each in ready.writes}
    same = []
    for each in layout.order:
        if (write := written.get(each.column)) is None:
            same.append(each.column)
        elif write.what == "front" and not same:
            return "they go to the front: poppers take them next"
        elif write.what == "front":
            return f"they go to the front of those with the same {_listed(same)}"
        else:
            return f"they stand where {each.column} {_word(write)} puts them: poppers go by {_order(layout)}"
    later = f", not before their {layout.due_at}" if layout.due_at is not None and layout.due_at not in written else ""
    if same[0] == layout.id and not layout.order[0].descending:
        return f"they go to their old place by {same[0]}: before all that were pushed after them{later}"
    return f"they go to their old place by {_listed(same)}{later}"


def _order(layout: Layout) -> str:
    return _listed([each.column + (" (largest first)" if each.descending else "") for each in layout.order])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _word(write: Write) -> str:
    if write.what == "front":
        return "before that of the first that nobody has popped"
    return {"null": "NULL", "now": "the time now"}.get(write.what, str(write.value))


def _bare(type_name: str) -> str:
    return type_name.partition("(")[0].strip()


def _is_time(type_name: str) -> bool:
    return _TIMES.match(_bare(type_name)) is not None


def _is_number(type_name: str) -> bool:
    return _NUMBERS.fullmatch(_bare(type_name)) is not None
