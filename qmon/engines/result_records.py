"""Convert rows of a result set to records. Columns and fields must match exactly, including their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import cache
from math import isfinite
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from qmon.engines.base import Rows, Statement
from qmon.errors import QueryFailed
from qmon.texts import Text


class ResultText(Text):
    """Errors of results that do not match their record."""

    WRONG_COLUMNS = "{query} returned {given} instead of {declared}"
    MISSING_COLUMNS = "{query}: the result lacks the column {columns}"
    EXTRA_COLUMNS = "{query}: the result has an unexpected column: {columns}"
    COLUMN_TWICE = "{query}: the result has a column twice: {columns}"
    WRONG_TYPE = "{query}: the column {column} is {given}, not {wanted}"


Record = TypeVar("Record")
Cast = Callable[[Any], object]


class _WrongTypeError(Exception):
    """Raised for a value that does not fit the field."""


def read_results(cursor: Any) -> list[Rows]:
    """Return all result sets of the statements that a driver's cursor has run."""
    out: list[Rows] = []
    while True:
        if description := cursor.description:  # a result without a description is a row count, which is not needed
            columns = tuple(column[0].lower() for column in description)
            out.append(Rows(columns, tuple(map(tuple, cursor.fetchall()))))
        if not cursor.nextset():
            return out


def check_columns(rows: Rows, statement: Statement) -> None:
    """Raise ``QueryFailed`` if the statement declares columns and the result has other columns."""
    if statement.columns and rows.columns != statement.columns:
        given, declared = ", ".join(rows.columns), ", ".join(statement.columns)
        raise QueryFailed(
            ResultText.WRONG_COLUMNS.render(query=statement.name, given=given, declared=declared), query=statement.name
        )


def to_records(record_type: type[Record], rows: Rows) -> list[Record]:
    """Return a record of the dataclass ``record_type`` for each row.

    A whole number becomes a float if the field is a float. A decimal becomes a float or, if it is whole, an integer.
    Floats that are infinite or NaN become NULL. No other value is converted. Raises ``QueryFailed`` if a column is
    missing, unexpected or of another type than its field. The message contains the column's name.
    """
    key: Any = record_type
    plan = _plan_for(key, rows.columns)
    known, arrange = plan.known, plan.arrange
    out: list[Record] = []
    for row in rows.rows:
        values = arrange(row)
        signature = tuple(map(type, values))
        if signature in known:
            casts, floats = known[signature]
        else:
            casts, floats = known[signature] = plan.casts_for(signature, values), plan.float_positions(signature)
        if not all(isfinite(values[place]) for place in floats):
            values = plan.without_infinite(values)
            casts = plan.casts_for(tuple(map(type, values)), values)
        out.append(record_type(*values) if casts is None else record_type(*plan.convert_row(casts, values)))
    return out


class _RecordPlan:
    """Converts the rows of one statement to records. ``known``: the conversions for each combination of types."""

    def __init__(self, kind: type[Any], columns: tuple[str, ...]) -> None:
        self.kind = kind.__name__
        self.names = tuple(field.name for field in fields(kind))
        hints = get_type_hints(kind)
        self.types = tuple(_field_types(hints[name]) for name in self.names)
        if missing := [name for name in self.names if name not in columns]:
            raise QueryFailed(ResultText.MISSING_COLUMNS.render(query=self.kind, columns=", ".join(missing)))
        if extra := [name for name in columns if name not in self.names]:
            raise QueryFailed(ResultText.EXTRA_COLUMNS.render(query=self.kind, columns=", ".join(extra)))
        if len(set(columns)) < len(columns):
            raise QueryFailed(ResultText.COLUMN_TWICE.render(query=self.kind, columns=", ".join(columns)))
        self.known: dict[tuple[type, ...], tuple[tuple[Cast | None, ...] | None, tuple[int, ...]]] = {}
        order = [columns.index(name) for name in self.names]
        pick = itemgetter(*order)
        self.arrange: Callable[[Sequence[Any]], tuple[Any, ...]]
        if order == list(range(len(order))):
            self.arrange = tuple
        else:
            self.arrange = pick

    def casts_for(self, signature: tuple[type, ...], values: tuple[object, ...]) -> tuple[Cast | None, ...] | None:
        """Return the conversion of each value in a row of these types, or ``None`` if no value needs a conversion."""
        found: list[Cast | None] = []
        for name, allowed, given, value in zip(self.names, self.types, signature, values, strict=True):
            if given in allowed:
                found.append(None)
                continue
            cast = next((_CASTS[given, wanted] for wanted in allowed if (given, wanted) in _CASTS), None)
            if cast is None:
                raise QueryFailed(self._refusal(name, allowed, value))
            found.append(cast)
        return tuple(found) if any(found) else None

    @staticmethod
    def float_positions(signature: tuple[type, ...]) -> tuple[int, ...]:
        """Return the positions of the floats in a row of these types."""
        return tuple(place for place, given in enumerate(signature) if given is float)

    @staticmethod
    def without_infinite(values: tuple[object, ...]) -> tuple[object, ...]:
        """Replace infinite floats and NaN by NULL, because qmon can neither show nor compute with these values."""
        return tuple(None if isinstance(value, float) and not isfinite(value) else value for value in values)

    def convert_row(self, casts: tuple[Cast | None, ...], values: tuple[object, ...]) -> list[object]:
        """Return the values of one row converted to the types of the fields."""
        out: list[object] = []
        for index, (cast, value) in enumerate(zip(casts, values, strict=True)):
            try:
                out.append(value if cast is None else cast(value))
            except _WrongTypeError:
                raise QueryFailed(self._refusal(self.names[index], self.types[index], value)) from None
        return out

    def _refusal(self, name: str, allowed: tuple[type, ...], value: object) -> str:
        wanted = " or ".join("NULL" if kind is NoneType else kind.__name__ for kind in allowed)
        given = "NULL" if value is None else f"{type(value).__name__} {value!r:.40}"
        return ResultText.WRONG_TYPE.render(query=self.kind, column=name, given=given, wanted=wanted)


@cache
def _plan_for(kind: type[Any], columns: tuple[str, ...]) -> _RecordPlan:
    return _RecordPlan(kind, columns)


def _field_types(hint: Any) -> tuple[type, ...]:
    """Return the types that a field accepts, from its annotation such as ``int`` or ``float | None``."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _to_int(value: Decimal) -> int:
    if value != value.to_integral_value():
        raise _WrongTypeError
    return int(value)


_CASTS: Final[dict[tuple[type, type], Cast]] = {
    (int, float): float,
    (Decimal, float): float,
    (Decimal, int): _to_int,
    (bytearray, bytes): bytes,
}
