"""Conditions on a row, as data. They define the states of messages. ``engines.sql.condition_sql`` makes SQL of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final, Literal

from qmon.model.formatting import format_duration
from qmon.model.layout.layout import StateValue

Comparison = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The row of another table that a row refers to. Its ``key`` equals the ``referring_column`` of the referring row.

    ``pick``: the smallest or the greatest value is used if several rows match ``when``. ``also``: further pairs of such
    columns.
    """

    table: str
    key: str
    referring_column: str
    pick: Literal["min", "max"] | None = None
    when: Condition | None = None
    also: tuple[tuple[str, str], ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All pairs of columns that have the same value in both rows: the other row's first."""
        return ((self.key, self.referring_column), *self.also)


@dataclass(frozen=True, slots=True)
class Shift:
    """Add seconds to a time. ``amount``: seconds, or a column with seconds or an interval. ``back``: subtract them."""

    amount: float | ColumnRef
    back: bool = False


@dataclass(frozen=True, slots=True)
class LaterOf:
    """Take the later of a time and these times. A time that is NULL is ignored, unless all times are NULL."""

    others: tuple[ColumnRef, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """Replace texts. Each pair contains a pattern and the new text. ``*`` means the same characters in both."""

    names: tuple[tuple[str, str], ...]


# A change of a column's value before it is used.
Change = Shift | LaterOf | Renamed


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A value of the row: a column of the row, or of the row that it refers to (``lookup``), or a part of a column.

    Attributes:
        element: index into an array, from 1.
        path: the keys that lead to a value inside JSON.
        times: the meaning of the column's times, if it differs from the meaning in the group.
        changes: applied to the value, in this order.
    """

    name: str
    element: int | None = None
    lookup: Lookup | None = None
    path: tuple[str, ...] = ()
    times: str | None = None
    changes: tuple[Change, ...] = ()

    @property
    def is_plain(self) -> bool:
        """True if the value is that of a column of the row itself, so that an index on the column helps."""
        return self == ColumnRef(self.name, times=self.times)

    @property
    def is_computed_time(self) -> bool:
        """True if the value is a time in UTC that is computed from other times."""
        return any(isinstance(change, Shift | LaterOf) for change in self.changes)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column has one of these values. ``negated``: the column has none of these values or is NULL."""

    column: ColumnRef
    values: tuple[StateValue, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """The column is NULL. ``negated``: the column is not NULL."""

    column: ColumnRef
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """The column compared with a whole number or another column."""

    column: ColumnRef
    how: Comparison
    other: int | ColumnRef


@dataclass(frozen=True, slots=True)
class Timed:
    """A time plus seconds, compared with the current time. ``plus``: the seconds, or the column that contains them."""

    column: ColumnRef
    how: Literal["<=", ">"]
    plus: float | ColumnRef = 0.0


@dataclass(frozen=True, slots=True)
class AdvisoryLock:
    """A session of the database holds an advisory lock with the column's number as key.

    ``negated``: no session holds the lock.
    """

    column: ColumnRef
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """Another table has a row that fulfils ``when`` and whose ``key`` equals ``referring_column`` of this row.

    ``as_text``: the columns have different types and are compared as text. ``also``: further pairs of columns that have
    the same value in both rows.
    """

    table: str
    key: str
    referring_column: ColumnRef
    when: Condition | None = None
    negated: bool = False
    as_text: bool = False
    also: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Contains:
    """The column's text contains ``text``, ignoring case. ``binary``: the column contains the bytes of a text."""

    column: ColumnRef
    text: str
    binary: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these conditions are true."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these conditions is true."""

    conditions: tuple[Condition, ...]


Condition = OneOf | IsNull | Compared | Timed | AdvisoryLock | Exists | Contains | AllOf | AnyOf

ALWAYS: Final = AllOf(())
NEVER: Final = AnyOf(())


def without_locks(condition: Condition) -> Condition:
    """Return the condition without advisory locks, which may change while a statement reads rows."""
    match condition:
        case AdvisoryLock():
            return ALWAYS
        case AllOf(of):
            return AllOf(tuple(map(without_locks, of)))
        case AnyOf(of):
            return AnyOf(tuple(map(without_locks, of)))
        case Exists(when=when) if when is not None:
            return replace(condition, when=without_locks(when))
    return condition


def known_times(condition: Condition) -> Condition:
    """Return the condition that a row meets if the times that decide ``condition`` are not NULL."""
    match condition:
        case Timed(column, plus=plus):
            times = (column, plus) if isinstance(plus, ColumnRef) else (column,)
            return AllOf(tuple(IsNull(each, negated=True) for each in times))
        case AllOf(of):
            return AllOf(tuple(map(known_times, of)))
        case AnyOf(of):
            return AnyOf(tuple(map(known_times, of)))
    return ALWAYS


def ends_by_itself(condition: Condition) -> bool:
    """Return whether a row stops meeting the condition by itself: when a time has passed or a session has ended."""
    match condition:
        case Timed(how=how):
            return how == ">"
        case AdvisoryLock(negated=negated):
            return not negated
        case AllOf(of):
            return any(map(ends_by_itself, of))
    return False


# A table of the group's schema, and one of its columns.
TableColumn = tuple[str, str]


def table_column(column: ColumnRef, table: str) -> TableColumn:
    """Return the table and the name of a column that a row of ``table`` has or refers to."""
    return (table if column.lookup is None else column.lookup.table, column.name)


@dataclass(frozen=True, slots=True)
class ColumnsRead:
    """The columns that a condition or a group reads, each with its table.

    ``times``: the columns that contain times. ``json``: the columns that contain JSON, of which a part is read.
    """

    columns: frozenset[TableColumn] = frozenset()
    times: frozenset[TableColumn] = frozenset()
    json: frozenset[TableColumn] = frozenset()

    def __or__(self, other: ColumnsRead) -> ColumnsRead:
        return ColumnsRead(self.columns | other.columns, self.times | other.times, self.json | other.json)


def columns_read(source: Condition | ColumnRef | None, table: str, *, as_time: bool = False) -> ColumnsRead:
    """Return the columns that a condition or a column reference reads for a row of ``table``.

    ``as_time``: true if the column contains times. A column that says itself what its times mean (``times``), and a
    value inside JSON, are not among the ``times`` of the result, because their types need no check.
    """
    match source:
        case ColumnRef(lookup=lookup):
            own = frozenset({table_column(source, table)})
            known = source.times is None and not source.path
            times = own if known and (as_time or source.is_computed_time) else frozenset()
            out = ColumnsRead(own, times, own if source.path else frozenset())
            for change in source.changes:
                if isinstance(change, LaterOf):
                    out = reduce(or_, (columns_read(each, table, as_time=True) for each in change.others), out)
                elif isinstance(change, Shift) and isinstance(change.amount, ColumnRef):
                    out |= columns_read(change.amount, table)
            if lookup is not None:
                pairs = {each for key, by in lookup.pairs for each in ((lookup.table, key), (table, by))}
                out |= ColumnsRead(frozenset(pairs)) | columns_read(lookup.when, lookup.table)
            return out
        case Timed(column, plus=plus):
            return columns_read(column, table, as_time=True) | columns_read(
                plus if isinstance(plus, ColumnRef) else None, table
            )
        case OneOf(column) | IsNull(column) | AdvisoryLock(column) | Contains(column):
            return columns_read(column, table)
        case Compared(column, other=other):
            return columns_read(column, table) | columns_read(other if isinstance(other, ColumnRef) else None, table)
        case Exists(other_table, key, by, when, also=also):
            pairs = {each for other, own in also for each in ((other_table, other), (table, own))}
            out = ColumnsRead(frozenset({(other_table, key), *pairs}))
            return out | columns_read(by, table) | columns_read(when, other_table)
        case AllOf(of) | AnyOf(of):
            return reduce(or_, (columns_read(each, table) for each in of), ColumnsRead())
    return ColumnsRead()


def condition_text(condition: Condition) -> str:
    """Return the condition in words."""
    match condition:
        case OneOf(column, values, negated):
            said = " or ".join(map(str, values))
            return f"{column_text(column)} is {'not ' if negated else ''}{said}"
        case IsNull(column, negated):
            return f"{column_text(column)} is {'set' if negated else 'NULL'}"
        case AdvisoryLock(column, negated):
            return f"{'no session' if negated else 'a session'} holds an advisory lock on {column_text(column)}"
        case Compared(column, how, other):
            right = str(other) if isinstance(other, int) else column_text(other)
            return f"{column_text(column)} {how} {right}"
        case Timed(column, how, plus):
            when = "is in the past" if how == "<=" else "is in the future"
            later = f"{column_text(plus)} seconds" if isinstance(plus, ColumnRef) else format_duration(abs(plus or 1.0))
            sign = "-" if isinstance(plus, float) and plus < 0 else "+"
            return f"{column_text(column)}{f' {sign} {later}' if plus else ''} {when}"
        case Exists(table, key, by, when, negated, also=also):
            same = " and ".join(f"{other} is {own}" for other, own in ((key, column_text(by)), *also))
            more = f" where {_nested_text(when)}" if when is not None else ""
            return f"there is {'no' if negated else 'a'} row of {table} whose {same}{more}"
        case Contains(column, text):
            return f"{column_text(column)} contains {text!r}"
        case AllOf(of):
            return " and ".join(_nested_text(each) for each in of) or "any row"
        case AnyOf(of):
            return " or ".join(_nested_text(each) for each in of) or "no row"


def column_text(column: ColumnRef) -> str:
    """Return a column in words, including the table if it belongs to another table."""
    name = column.name if column.element is None else f"{column.name}[{column.element}]"
    name = ".".join((name, *column.path))
    text = name if column.lookup is None else f"{column.lookup.table}.{name} (by {column.lookup.referring_column})"
    for change in column.changes:
        match change:
            case Shift(by, back):
                seconds = column_text(by) if isinstance(by, ColumnRef) else format_duration(abs(by))
                text = f"{text} {'-' if back or (isinstance(by, float) and by < 0) else '+'} {seconds}"
            case LaterOf(others):
                text = f"the later of {' and '.join((text, *map(column_text, others)))}"
            case Renamed(names):
                text = f"{text} ({', '.join(f'{pattern} as {name}' for pattern, name in names)})"
    return text


def _nested_text(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, AnyOf | AllOf) and len(condition.conditions) > 1 else text
