"""Find out which values a state column takes and what each value means."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.sql import queries
from qmon.errors import BadInput, LockTimeout, QueryFailed
from qmon.model.config_reader import suggest_nearest
from qmon.model.layout.layout import Layout, StateColumn, StateValue
from qmon.model.layout.time_zones import NUMBER_ZONES
from qmon.monitor.catalog.catalog import Catalog, ColumnRow, TableDetails
from qmon.monitor.catalog.column_names import (
    BOOLEAN_TYPES,
    TEXT_TYPES,
    WHOLE_TYPES,
    column_for_role,
    is_named_as_kind,
    is_named_as_state,
    may_mean_in_progress,
    state_for_value,
    state_word_rank,
)
from qmon.monitor.catalog.predicate import parse_index_condition
from qmon.texts import Text


class StateValueText(Text):
    """The values of a state column, with their origin and meaning."""

    NOT_STORABLE = (
        "{column} cannot store the state value {value!r}: the column is too short, or the collation of the column or"
        " database lacks a character"
    )
    NO_LABEL = "{column} has no label {label!r}{hint}"
    ENUM_LABELS = "labels of the enum"
    PARTIAL_INDEXES = "partial indexes"
    STATISTICS = "statistics"
    EXISTING_ROWS = "existing rows"
    ITS_TYPE = "its type"
    ITS_DEFAULT = "its default"
    TRUE_IF_DONE = "`{column}` is true if a message is done"
    TOO_MANY = "`{column}` has too many values for a state"
    NO_READY_WORD = "none of the values of `{column}` ({values}) is a known word for ready messages"
    MEANINGS = "`{column}`: {meanings} (from {origin})"
    MEANING_UNKNOWN = (
        "`{column}`: no state has the value {values}; add each of these values to the state that it means (ready,"
        " in_progress, done, dead or blocked). Until then, figures that depend on them are unknown"
    )
    UNUSUAL_NUMBERS = "the numbers in `{column}` ({numbers}) have no usual meaning"
    PROBABLY = "`{column}`: probably {meanings} ({source})"
    VALUES = "values {values}"
    FROM_ORIGIN = " from {origin}"
    NEW_ROWS_GET = ", new rows get {value}"
    NO_VALUES = "none"


_KEPT_QUERY: Final = "catalog/state_kept"
_OPTIONAL: Final = ("in_progress", "done", "dead", "blocked")

# Maximum number of values that the catalog's statements list. A column with more values contains no states.
MAX_VALUES: Final = 33

# A column that is only named like a state column (``us_state``) contains no states if it has this many values.
_MANY_VALUES: Final = 12


# The years 2000 and 2100, in seconds since 1970.
_FIRST_S: Final = 946_684_800
_LAST_S: Final = 4_102_444_800


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
                StateValueText.NOT_STORABLE.render(column=f"{details.table.name}.{state.column}", value=text)
            )


def drop_missing_state_labels(layout: Layout, details: TableDetails) -> Layout:
    """Return the layout without the states whose value is not a label of the enum. No row can have such a value.

    Raises ``BadInput`` if the value of ready messages is not a label.
    """
    state = layout.state
    labels = enum_labels(details, state.column) if state is not None else ()
    if state is None or not labels:
        return layout
    if (ready := str(state.ready)) not in labels:
        column = f"{details.table.name}.{state.column}"
        raise BadInput(StateValueText.NO_LABEL.render(column=column, label=ready, hint=suggest_nearest(ready, labels)))
    missing: dict[str, Any] = {name: None for name in _OPTIONAL if str(getattr(state, name)) not in labels}
    done = [value for value in state.all_done if str(value) in labels]
    missing |= {"done": done[0] if done else None, "also_done": tuple(done[1:])}
    return replace(layout, state=replace(state, **missing))


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
    details: TableDetails, column: str, catalog: Catalog | None = None, seen_values: Collection[str] = ()
) -> KnownValues:
    """Return the values of a column: the values that a check or its type allows, or else all values found.

    The conditions of partial indexes and the statistics may lack a value. With ``catalog``, rows are therefore also
    read. If an index leads with the column, qmon reads one row per value. Otherwise, qmon reads about 4 MB of the
    table. ``seen_values``: values that polls have found. The order of the values does not depend on the statistics.
    """
    rows = [(row.origin, row.known) for row in details.values if row.column_name == column]
    default = _default_value(next((known for origin, known in rows if origin == "default"), None))
    for origin, known in rows:
        if origin == "check" and (allowed := parse_index_condition(known).values_if_only(column)):
            return KnownValues(_sort_values(v for v in allowed if v is not None), "check", default, closed=True)
    if labels := enum_labels(details, column):
        return KnownValues(labels, StateValueText.ENUM_LABELS, default, closed=True)
    conditions = (index.where.allowed.get(column, ()) for index in details.indexes if index.where is not None)
    sources = {
        StateValueText.PARTIAL_INDEXES: [value for values in conditions for value in values if value is not None],
        StateValueText.STATISTICS: [
            str(value) for origin, known in rows if origin == "statistics" for value in json.loads(known)
        ],
        StateValueText.EXISTING_ROWS: [
            *(_read_values(catalog, details, column) if catalog is not None and details.table.readable else ()),
            *seen_values,
        ],
    }
    found: set[str] = set()
    origins: list[str] = []
    for origin, values in sources.items():
        if not found.issuperset(values):
            origins.append(origin)
            found.update(values)
    return KnownValues(_sort_values(found), " and ".join(origins), default)


def _sort_values(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values without duplicates, whole numbers by their size."""
    return tuple(sorted(set(values), key=lambda value: (int(value) if _is_whole(value) else 0, value)))


def _is_whole(value: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,18}", value) is not None


def fill_gaps(before: StateColumn, now: StateColumn) -> StateColumn:
    """Return ``before`` and fill its states without a value from ``now``. A known value is never removed."""
    taken = set(before.values)
    gaps = {name: getattr(now, name) for name in _OPTIONAL if getattr(before, name) is None}
    filled: dict[str, Any] = {name: value for name, value in gaps.items() if value not in taken}
    done = before.done if before.done is not None else filled.get("done")
    more = [value for value in now.all_done if value not in taken and value != done]
    return replace(before, learnt=now.learnt, also_done=(*before.also_done, *more), **filled)


def state_meanings(
    column: ColumnRow, state_values: KnownValues, design: str, *, flag: bool = False
) -> tuple[StateColumn | None, tuple[str, ...]]:
    """Return the meaning of each value, with the reasons; ``None`` if no value is known to mean ready.

    ``flag``: the column only shows whether a message has been processed.
    """
    name = column.column_name
    if column.type_name in BOOLEAN_TYPES and column.type_name != "bit":
        return StateColumn(name, "false", done="true"), (StateValueText.TRUE_IF_DONE.render(column=name),)
    if len(state_values.values) >= MAX_VALUES:
        return None, (StateValueText.TOO_MANY.render(column=name),)
    numbers = column.type_name in WHOLE_TYPES or column.type_name == "bit"
    if column.type_name == "bit":
        state_values = replace(state_values, values=("0", "1"), origin=StateValueText.ITS_TYPE, closed=True)
    state, reasons = (
        _meanings_of_numbers(name, state_values, flag=flag or design == "flag")
        if numbers
        else _meanings_of_words(name, state_values)
    )
    if state is None:
        return None, reasons
    rest = [value for value in state_values.values if value not in map(str, state.values)]
    if rest:
        reasons = (*reasons, unexplained_values_text(name, rest))
    return replace(state, learnt=not state_values.closed or bool(rest)), reasons


def unexplained_values(
    state_values: KnownValues, values_by_state: Mapping[str, Sequence[StateValue]]
) -> tuple[str, ...]:
    """Return the known values that mean none of the states in ``values_by_state``."""
    explained = {str(value) for values in values_by_state.values() for value in values}
    return tuple(value for value in state_values.values if value not in explained)


def unexplained_values_text(column: str, values: Sequence[str]) -> str:
    """Return a line that names the values without a known meaning, and the remedy."""
    return StateValueText.MEANING_UNKNOWN.render(column=column, values=values_text(values))


def words_by_state(state_values: KnownValues) -> dict[str, tuple[str, ...]]:
    """Return the values that are known words, by state (see ``state_for_value``).

    If several words fit one state, the default is the first, then the most common word. ``consumed`` means in progress
    if there is another word for done messages, and none for messages in progress. Without either, its meaning is known
    only if the column can have no other value.
    """
    values = set(state_values.values)
    if state_values.default is not None and state_for_value(state_values.default) == "ready":
        values.add(state_values.default)
    found: dict[str, tuple[str, ...]] = {}
    for value in sorted(values, key=lambda value: (value != state_values.default, state_word_rank(value), value)):
        if (state := state_for_value(value)) is not None:
            found[state] = (*found.get(state, ()), value)
    unclear = tuple(value for value in found.get("done", ()) if may_mean_in_progress(value))
    if not unclear or "in_progress" in found:
        return found
    done = tuple(value for value in found.pop("done") if value not in unclear)
    if done:
        return found | {"in_progress": unclear, "done": done}
    return found | {"done": unclear} if state_values.closed else found


def needs_list_of_states(values_by_state: Mapping[str, Sequence[StateValue]]) -> bool:
    """Return whether a state column (``StateColumn``) cannot express these values (see ``words_by_state``).

    It has one value for each state, except for done messages, and none for scheduled messages.
    """
    return "ready" in values_by_state and (
        "scheduled" in values_by_state
        or any(len(values) > 1 for state, values in values_by_state.items() if state != "done")
    )


def _meanings_of_words(name: str, state_values: KnownValues) -> tuple[StateColumn | None, tuple[str, ...]]:
    words = words_by_state(state_values)
    if "ready" not in words:
        listed = values_text(state_values.values)
        return None, (StateValueText.NO_READY_WORD.render(column=name, values=listed),)
    # A state column has no value for scheduled messages: their due time shows them.
    first = {state: values[0] for state, values in words.items() if state != "scheduled"}
    done = words.get("done", ())
    column = StateColumn(
        name,
        first["ready"],
        first.get("in_progress"),
        first.get("done"),
        first.get("dead"),
        first.get("blocked"),
        also_done=done[1:],
    )
    meant: dict[StateValue, str] = {
        value: state for state, values in words.items() for value in values if value in column.values
    }
    meanings = StateValueText.MEANINGS.render(
        column=name, meanings=_meanings_text(meant), origin=state_values.origin or StateValueText.ITS_DEFAULT
    )
    return column, (meanings,)


def _meanings_of_numbers(
    name: str, state_values: KnownValues, *, flag: bool
) -> tuple[StateColumn | None, tuple[str, ...]]:
    """Return the usual meaning of numbers: 0 or 1 for ready, then in progress, then done. A flag has 0 and 1.

    Only numbers that are known can have a meaning. Without a default, 0 means ready, or 1 if 2 is known as well,
    because 1 alone may have any meaning.
    """
    default = (
        int(state_values.default) if state_values.default is not None and _is_whole(state_values.default) else None
    )
    numbers = {int(value) for value in state_values.values if _is_whole(value)}
    numbers |= set() if default is None else {default}
    ready = default
    if ready is None:
        ready = 0 if 0 in numbers else 1 if {1, 2} <= numbers and not flag else None
    if ready not in (0, 1) or (flag and ready == 1):
        return None, (StateValueText.UNUSUAL_NUMBERS.render(column=name, numbers=values_text(sorted(numbers))),)
    usual = {"ready": 0, "in_progress": None, "done": 1}
    if not flag:
        usual = {"ready": ready, "in_progress": ready + 1, "done": 2 if ready == 0 else None}
    meant: dict[str, int] = {state: number for state, number in usual.items() if number in numbers}
    source = StateValueText.VALUES.render(values=values_text(sorted(numbers)))
    source += StateValueText.FROM_ORIGIN.render(origin=state_values.origin) if state_values.origin else ""
    source += StateValueText.NEW_ROWS_GET.render(value=state_values.default) if state_values.default is not None else ""
    state = StateColumn(name, ready, meant.get("in_progress"), meant.get("done"))
    by_number: dict[StateValue, str] = {number: kind for kind, number in meant.items()}
    return state, (StateValueText.PROBABLY.render(column=name, meanings=_meanings_text(by_number), source=source),)


def values_text(values: Sequence[StateValue]) -> str:
    """Return the first eight values as text for the user."""
    listed = ", ".join(str(value) for value in values[:8]) or StateValueText.NO_VALUES
    return f"{listed}, …" if len(values) > 8 else listed


def _meanings_text(meanings: Mapping[StateValue, str]) -> str:
    return ", ".join(f"{value} {state.replace('_', ' ')}" for value, state in meanings.items())


def _default_value(expression: str | None) -> str | None:
    if expression is None:
        return None
    for brackets in (False, True):
        allowed = parse_index_condition(f"x = ({expression})", brackets=brackets).values_if_only("x")
        if allowed and len(allowed) == 1:
            return next(iter(allowed))
    return None


def states_due_never(catalog: Catalog, details: TableDetails, state: str, due: str) -> tuple[str, ...]:
    """Return the state values of rows that are due in more than five years: this means "never", or "no due time"."""
    if not details.table.readable:
        return ()
    columns = {"state": state, "due_at": due}
    return _peek_values(catalog, details, due, "catalog/peek_far", columns, table_id=details.table.table_id)


def existing_values(catalog: Catalog, details: TableDetails, column: str) -> tuple[str, ...]:
    """Return the values that rows have in a column, as far as a few reads show them."""
    return _read_values(catalog, details, column) if details.table.readable else ()


def unit_of_times(catalog: Catalog, details: TableDetails, column: str) -> str | None:
    """Return the unit of times in a column of numbers: a key of ``NUMBER_ZONES``. ``None``: the rows do not show it.

    All values must be times between 2000 and 2100 in this unit. 0 means that there is no time.
    """
    values = [value for value in existing_values(catalog, details, column) if value != "0"]
    if not values or not all(map(_is_whole, values)):
        return None
    fitting = (
        name
        for name, zone in NUMBER_ZONES.items()
        if zone.count is not None
        and all(_FIRST_S <= int(v) / zone.count.per_s - zone.count.zero_days * 86_400 < _LAST_S for v in values)
    )
    return next(fitting, None)


def _read_values(catalog: Catalog, details: TableDetails, column: str) -> tuple[str, ...]:
    leads = any(index.keys[:1] == (column,) and index.where is None for index in details.indexes)
    if leads:
        return _peek_values(catalog, details, column, "catalog/peek_index", {"column": column})
    return _peek_values(
        catalog, details, column, "catalog/peek_few", {"column": column}, table_id=details.table.table_id
    )


def _peek_values(
    catalog: Catalog, details: TableDetails, column: str, query: str, columns: Mapping[str, str], **values: int
) -> tuple[str, ...]:
    """Return the values that a query reads from a table; none if ``column`` is masked, or if they cannot be read.

    ``columns``, ``values``: the columns and the values of the query.
    """
    names = {"table": details.table.name.parts, **columns}
    try:
        if catalog.is_masked(details.table, column):
            return ()
        rows = catalog.read_records(ValueRow, query, names, **values)
    except LockTimeout:
        catalog.locked_tables.add(details.table.table_id)
        return ()
    except QueryFailed:
        return ()
    return tuple(row.value for row in rows)


def find_queue_state_column(details: TableDetails, design: str) -> tuple[ColumnRow, bool] | None:
    """Return the state column and whether it is only a flag.

    The column is found by its whole name, or else by its values in the catalog, or else by the last word of its name. A
    column of words is taken before a column of numbers.
    """
    columns = [column for column in details.columns if not _is_foreign_key(column, details)]
    pairs = [(c.column_name, c.type_name) for c in columns]
    flag = details.column(column_for_role("flag", pairs))
    state = details.column(column_for_role("state", [pair for pair in pairs if pair[1] in TEXT_TYPES]))
    if design == "flag" and flag is not None:
        return flag, True
    texts = [column for column in columns if column.type_name in TEXT_TYPES]
    state = state or next((column for column in texts if _has_words_for_states(column, details)), None)
    number = details.column(column_for_role("state", pairs))
    if state is None and (number is not None or flag is None):
        state = next((column for column in texts if is_named_as_state(column.column_name)), number)
    if state is not None:
        return state, False
    return None if flag is None else (flag, True)


def _is_foreign_key(column: ColumnRow, details: TableDetails) -> bool:
    """Return whether a column points to a row of another table. Words that such a column contains may be states."""
    return column.column_name in details.foreign_columns and column.type_name not in TEXT_TYPES


def _has_words_for_states(column: ColumnRow, details: TableDetails) -> bool:
    meant = {state_for_value(value) for value in known_values(details, column.column_name).values}
    return {"ready", "in_progress"} <= meant and None not in meant and not is_named_as_kind(column.column_name)


def is_not_a_state(column: str, state_values: KnownValues) -> bool:
    """Return whether a column has too many values for a state. ``us_state`` is only named like a state column."""
    exact = column_for_role("state", [(column, "text")]) is not None or column_for_role("flag", [(column, "int")])
    return len(state_values.values) >= (MAX_VALUES if exact else _MANY_VALUES)
