"""Conditions in words, for people to read."""

from __future__ import annotations

from qmon.model.groups.conditions import (
    AdvisoryLock,
    ColumnRef,
    Compared,
    Condition,
    Every,
    Exists,
    IsNull,
    OneOf,
    Some,
    Timed,
)
from qmon.model.text import format_duration


def in_words(condition: Condition) -> str:
    """What must be true of a row."""
    match condition:
        case OneOf(column, values, negated):
            said = " or ".join(map(str, values))
            return f"{column_in_words(column)} is {'not ' if negated else ''}{said}"
        case IsNull(column, negated):
            return f"{column_in_words(column)} is {'set' if negated else 'NULL'}"
        case AdvisoryLock(column, negated):
            return f"{'no session' if negated else 'a session'} holds an advisory lock on {column_in_words(column)}"
        case Compared(column, how, other):
            right = str(other) if isinstance(other, int) else column_in_words(other)
            return f"{column_in_words(column)} {how} {right}"
        case Timed(column, how, plus):
            when = "is past" if how == "<=" else "is to come"
            later = f"{column_in_words(plus)} seconds" if isinstance(plus, ColumnRef) else format_duration(plus)
            return f"{column_in_words(column)}{f' + {later}' if plus else ''} {when}"
        case Exists(table, key, by, when, negated):
            more = f" where {_inner(when)}" if when is not None else ""
            return f"there is {'no' if negated else 'a'} row of {table} whose {key} is {column_in_words(by)}{more}"
        case Every(of):
            return " and ".join(_inner(each) for each in of) or "any row"
        case Some(of):
            return " or ".join(_inner(each) for each in of) or "no row"


def column_in_words(column: ColumnRef) -> str:
    """A column, with the table where that is another one."""
    name = column.name if column.element is None else f"{column.name}[{column.element}]"
    return name if column.lookup is None else f"{column.lookup.table}.{name} (by {column.lookup.by})"


def _inner(condition: Condition) -> str:
    text = in_words(condition)
    return f"({text})" if isinstance(condition, Some | Every) and len(condition.of) > 1 else text
