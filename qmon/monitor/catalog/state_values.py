"""Find out which values a state column takes and what each value means."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.sql import queries
from qmon.errors import BadInput, LockTimeout, QueryFailed
from qmon.model.config_reader import suggest_nearest
from qmon.model.layout.layout import Layout, StateColumn, StateValue
from qmon.monitor.catalog.catalog import Catalog, ColumnRow, TableDetails
from qmon.monitor.catalog.column_names import (
    BOOLEAN_TYPES,
    TEXT_TYPES,
    WHOLE_TYPES,
    column_for_role,
    is_named_as_kind,
    is_named_as_state,
    state_for_value,
)
from qmon.monitor.catalog.predicate import parse_condition

_KEPT_QUERY: Final = "catalog/state_kept"
_OPTIONAL: Final = ("in_progress", "done", "dead", "blocked")

# Maximum number of values that the catalog's statements list.
_MAX_VALUES: Final = 12


@dataclass(frozen=True, slots=True)
class _Kept:
    kept: bool


def check_state(layout: Layout, details: TableDetails, catalog: Catalog) -> None:
    """Raise ``BadInput`` if the column cannot store the value of a state. No message could be in that state."""
    state = layout.state
    column = details.column(state.column) if state is not None else None
    if (
        state is None
        or column is None
        or not queries.has_query(catalog.engine.name, _KEPT_QUERY, catalog.connection.version)
    ):
        return
    if catalog.engine.text_type(column.type_name) != "varchar":
        return
    names: dict[str, queries.Name] = {"table": details.table.name.parts, "state": state.column}
    for text in map(str, state.values):
        if not text.isascii() and not catalog.read_records(_Kept, _KEPT_QUERY, names, value=text)[0].kept:
            raise BadInput(
                f"{details.table.name}.{state.column} cannot store the state value {text!r}: the column is too"
                " short, or the collation of the column or database lacks a character"
            )


def drop_missing_labels(layout: Layout, details: TableDetails) -> Layout:
    """Return the layout without the states whose value is not a label of the enum. No row can have such a value.

    Raises ``BadInput`` if the value of ready messages is not a label.
    """
    state = layout.state
    labels = enum_labels(details, state.column) if state is not None else ()
    if state is None or not labels:
        return layout
    if (ready := str(state.ready)) not in labels:
        raise BadInput(f"{details.table.name}.{state.column} has no label {ready!r}{suggest_nearest(ready, labels)}")
    missing: dict[str, Any] = {name: None for name in _OPTIONAL if str(getattr(state, name)) not in labels}
    return replace(layout, state=replace(state, **missing))


# Values of ready, in progress and done in the articles of Buschmann and Rusanu. Al Zabir's article uses 0, 1 and 2.
_ARTICLES = {"status": (1, 2, None), "flag": (0, None, 1)}


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The known values of a column, as text, and their origin. ``default``: the value of a new row.

    ``closed``: the column can have no other value.
    """

    values: tuple[str, ...] = ()
    origin: str = ""
    default: str | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value that rows have in a column."""

    value: str


def enum_labels(details: TableDetails, column: str) -> tuple[str, ...]:
    """Return the labels of an enum column in their order; empty for other types, or if a lock hid them."""
    found = next((row.known for row in details.values if (row.column_name, row.origin) == (column, "enum")), None)
    return () if found is None else tuple(str(value) for value in json.loads(found))


def known_values(
    details: TableDetails, column: str, catalog: Catalog | None = None, seen: Collection[str] = ()
) -> KnownValues:
    """Return the values of a column: the values that its type or a check allows, or else all values found.

    The statistics may be too old to contain a value. With ``catalog``, rows are therefore also read. If an index leads
    with the column, qmon reads one row per value. Otherwise, qmon reads the whole table if it has at most 4 MB.
    ``seen``: values that polls have found.
    """
    rows = [(row.origin, row.known) for row in details.values if row.column_name == column]
    default = _default_value(next((known for origin, known in rows if origin == "default"), None))
    if labels := enum_labels(details, column):
        return KnownValues(labels, "labels of the enum", default, closed=True)
    for origin, known in rows:
        if origin == "check" and (allowed := parse_condition(known).values_if_only(column)):
            return KnownValues(tuple(sorted(v for v in allowed if v is not None)), "check", default, closed=True)
    counted = tuple(str(value) for origin, known in rows if origin == "statistics" for value in json.loads(known))
    read = _read_values(catalog, details, column) if catalog is not None and details.table.readable else ()
    found = tuple(dict.fromkeys((*counted, *read, *sorted(seen))))
    origins = ("statistics" if counted else "", "existing rows" if set(found) - set(counted) else "")
    return KnownValues(found, " and ".join(filter(None, origins)), default)


def fill_gaps(before: StateColumn, now: StateColumn) -> StateColumn:
    """Return ``before`` and fill its states without a value from ``now``. A known value is never removed."""
    taken = set(before.values)
    gaps = {name: getattr(now, name) for name in _OPTIONAL if getattr(before, name) is None}
    filled = {name: value for name, value in gaps.items() if value not in taken}
    return replace(before, learnt=now.learnt, **filled)


def state_meanings(
    column: ColumnRow, known: KnownValues, design: str, *, flag: bool = False
) -> tuple[StateColumn | None, tuple[str, ...]]:
    """Return the meaning of each value, with the reasons; ``None`` if no value is known to mean ready.

    ``flag``: the column only shows whether a message has been processed.
    """
    name = column.column_name
    if column.type_name in BOOLEAN_TYPES and column.type_name != "bit":
        return StateColumn(name, "false", done="true"), (f"`{name}` is true if a message is done",)
    numbers = column.type_name in WHOLE_TYPES or column.type_name == "bit"
    state, reasons = (
        _meanings_of_numbers(name, known, "flag" if flag else design) if numbers else _meanings_of_words(name, known)
    )
    if state is None:
        return None, reasons
    others = set(known.values) - {str(value) for value in state.values}
    return replace(state, learnt=not known.closed or bool(others)), reasons


def _meanings_of_words(name: str, known: KnownValues) -> tuple[StateColumn | None, tuple[str, ...]]:
    values = sorted(known.values, key=lambda value: value != known.default)
    if known.default is not None and known.default not in values and state_for_value(known.default) == "ready":
        values.insert(0, known.default)
    meant: dict[str, str] = {}
    for value in values:
        if (state := state_for_value(value)) is not None:
            meant.setdefault(state, value)
    if "ready" not in meant:
        return None, (f"none of the values of `{name}` ({values_text(values)}) is a known word for ready messages",)
    reasons = [f"`{name}`: {_meanings_text(meant)} (from {known.origin or 'its default'})"]
    if rest := [value for value in values if value not in meant.values()]:
        reasons.append(f"`{name}`: the meaning of {values_text(rest)} is unknown")
    column = StateColumn(
        name, meant["ready"], meant.get("in_progress"), meant.get("done"), meant.get("dead"), meant.get("blocked")
    )
    return column, tuple(reasons)


def _meanings_of_numbers(name: str, known: KnownValues, design: str) -> tuple[StateColumn | None, tuple[str, ...]]:
    seen = sorted(int(value) for value in known.values if value.lstrip("-").isdigit())
    usual: tuple[int, int | None, int | None] = _ARTICLES.get(design, (0, 1, 2 if 2 in seen else None))
    if design != "flag":
        start = int(known.default) if known.default and known.default.isdigit() else min(seen, default=usual[0])
        if start in (0, 1):
            usual = (start, start + 1, 2 if start == 0 and 2 in seen else None)
    ready, busy, done = usual
    state = StateColumn(name, ready, busy, done)
    meant = {"ready": ready, "in_progress": busy, "done": done}
    source = f"values {values_text(seen)} found in {known.origin}" if seen else "no value found yet"
    if known.default is not None:
        source += f", new rows get {known.default}"
    return state, (f"`{name}`: probably {_meanings_text(meant)} ({source})",)


def values_text(values: Sequence[StateValue]) -> str:
    """Return the first eight values as text for the user."""
    listed = ", ".join(str(value) for value in values[:8]) or "none"
    return f"{listed}, …" if len(values) > 8 else listed


def _meanings_text(meant: dict[str, str] | dict[str, int | None]) -> str:
    pairs = ((state.replace("_", " "), value) for state, value in meant.items() if value is not None)
    return ", ".join(f"{value} {state}" for state, value in pairs)


def _default_value(expression: str | None) -> str | None:
    if expression is None:
        return None
    for brackets in (False, True):
        allowed = parse_condition(f"x = ({expression})", brackets=brackets).values_if_only("x")
        if allowed and len(allowed) == 1:
            return next(iter(allowed))
    return None


def _read_values(catalog: Catalog, details: TableDetails, column: str) -> tuple[str, ...]:
    names = {"table": details.table.name.parts, "column": column}
    leads = any(index.keys[:1] == (column,) and index.where is None for index in details.indexes)
    try:
        if catalog.is_masked(details.table, column):
            return ()
        if leads:
            rows = catalog.read_records(ValueRow, "catalog/peek_index", names)
        else:
            rows = catalog.read_records(ValueRow, "catalog/peek_few", names, table_id=details.table.table_id)
    except LockTimeout:
        catalog.locked_tables.add(details.table.table_id)
        return ()
    except QueryFailed:
        return ()
    return tuple(row.value for row in rows)


def find_state_column(details: TableDetails, design: str) -> tuple[ColumnRow, bool] | None:
    """Return the state column and whether it is only a flag.

    The column is found by its whole name, or else by its values in the catalog, or else by the last word of its name.
    """
    pairs = [(c.column_name, c.type_name) for c in details.columns]
    state, flag = column_for_role("state", pairs), column_for_role("flag", pairs)
    first, second = ((flag, True), (state, False)) if design == "flag" else ((state, False), (flag, True))
    for name, is_flag in (first, second):
        if (column := details.column(name)) is not None:
            return column, is_flag
    texts = [column for column in details.columns if column.type_name in TEXT_TYPES]
    for column in texts:
        meant = {state_for_value(value) for value in known_values(details, column.column_name).values}
        if {"ready", "in_progress"} <= meant and None not in meant and not is_named_as_kind(column.column_name):
            return column, False
    return next(((column, False) for column in texts if is_named_as_state(column.column_name)), None)


def is_not_a_state(column: str, known: KnownValues) -> bool:
    """Return whether a column is named like a state column but has too many values (``us_state``)."""
    return column_for_role("state", [(column, "text")]) is None and len(known.values) >= _MAX_VALUES
