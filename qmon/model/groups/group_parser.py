"""Read groups from dictionaries with the structure of TOML files. Every error names its key."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Final, Literal, cast

from qmon.errors import BadInput
from qmon.model.config_reader import Keys, Readers
from qmon.model.groups.conditions import (
    AdvisoryLock,
    AllOf,
    AnyOf,
    Change,
    ColumnRef,
    Compared,
    Condition,
    Exists,
    IsNull,
    LaterOf,
    Lookup,
    OneOf,
    Renamed,
    Shift,
    Timed,
)
from qmon.model.groups.group import STATE_KINDS, Blocker, Group, GroupWrites, State, StateKind, Step, StepTable, Workers
from qmon.model.layout.layout import DEFAULT_TIMEOUT_S, LayoutSource, ObjectName, StateValue
from qmon.model.layout.layout_io import check_distinct_values, parse_times
from qmon.model.layout.requeue_options import parse_ready_writes
from qmon.model.layout.time_zones import NUMBER_ZONES
from qmon.texts import Text


class GroupText(Text):
    """Errors of groups of tables."""

    NEEDS_READY = "{where}: needs a `state` table of the kind ready"
    SAME_NAME = "{where}: two states have the name {name!r}"
    SAME_CONDITION = "{where}: {first} and {second} have the same condition; give each state its own"
    NEEDS_KIND = "{where}: needs kind: {kinds} or {last}"
    NEEDS_WHEN = "{where}: needs when, the condition for its rows"
    BLOCKED_ONLY = "{where}: only blocked states have blocker and why"
    NEEDS_BLOCKER = "{where}: needs name, the column with the name of the blocker"
    NEEDS_STEP = "{where}: needs {steps}"
    NEEDS_ID_OR_TIME = "{where}: needs id (the column that numbers the rows) or at (the time of a step)"
    QUEUE_OF_OTHER_TABLE = "{where}: if `at` is given, `queue` must be a column of the same table"
    NEEDS_ALIVE = "{where}: needs alive, the condition for workers that are alive"
    EMPTY_CONDITION = "{where}: is empty; add a condition"
    NOT_CONDITIONS = "{path}: must be a list of conditions"
    NEEDS_TWO_TIMES = "{path}: needs at least two times"
    BAD_PATTERN = "{path}: a pattern may contain one `*`, and the new name only a `*` of the pattern"
    NOT_PAIRS = "{where}: `key` and `by` must have the same number of columns"
    NEEDS_TEST = "{where}: needs one of {tests}"
    NO_WRITES = '{where}: needs ready, the columns of messages that become ready, or purge = "delete"'
    NEEDS_SET_VALUE = '{where}: needs a column that is set to a value or to "null", which makes a message ready'


# Values of a group with names. They can be used like columns of the group's table.
Values = Mapping[str, ColumnRef]
NO_VALUES: Final[Values] = MappingProxyType({})

_STEPS: Final[tuple[Step, ...]] = ("pushed", "popped", "completed", "failed")
_TEST_NAMES: Final = ("null", "not", "past", "future", "below", "at_least", "plus", "advisory_lock")


def group_from_dict(
    raw: Mapping[str, object], table: ObjectName, *, where: str, source: LayoutSource = LayoutSource.CONFIGURATION
) -> Group:
    """Read a group. ``table``: the group's table with the schema, which the caller has read from the key ``table``.

    The message of a ``BadInput`` starts with ``where`` and the path of the key.
    """
    keys = Keys(raw, where)
    keys.text("table")
    values = _parse_values(keys)
    part = parse_condition(keys, "where", values)
    group = keys.record(
        Group,
        _readers(values),
        table=table,
        states=_parse_states(keys, values),
        steps=tuple(
            _parse_steps(Keys(one, f"{keys.path('steps')}[{n}]")) for n, one in enumerate(keys.tables("steps"), 1)
        ),
        workers=keys.parse_nested("workers", _parse_workers),
        times=parse_times(keys, tuple(NUMBER_ZONES)),
        timeout_s=keys.seconds("timeout") or DEFAULT_TIMEOUT_S,
        writes=keys.parse_nested("writes", partial(_parse_writes, raw=raw)),
        where=None,
        zones=(),
        types=(),
        version="",
        source=source,
    )
    return group if part is None else group.restrict_to(part)


def _parse_states(keys: Keys, values: Values) -> tuple[State, ...]:
    found = keys.tables("state")
    states = tuple(_parse_state(Keys(raw, f"{keys.path('state')}[{n}]"), values) for n, raw in enumerate(found, 1))
    if not any(state.kind == "ready" for state in states):
        raise BadInput(GroupText.NEEDS_READY.render(where=keys.where))
    names = [state.name for state in states]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(GroupText.SAME_NAME.render(where=keys.where, name=twice))
    _check_disjoint(keys.where, states)
    return states


def _check_disjoint(where: str, states: Sequence[State]) -> None:
    """Raise ``BadInput`` if two states have the same condition, or share a value of one column.

    Conditions on several columns may seem to overlap although no row meets both. Such conditions are an error only if
    they are equal.
    """
    for one, other in combinations(states, 2):
        if one.when == other.when:
            raise BadInput(GroupText.SAME_CONDITION.render(where=where, first=one.name, second=other.name))
    by_column: defaultdict[ColumnRef, list[tuple[str, tuple[StateValue, ...]]]] = defaultdict(list)
    for state in states:
        if isinstance(state.when, OneOf) and not state.when.negated:
            by_column[state.when.column].append((state.name, state.when.values))
    for alike in by_column.values():
        check_distinct_values(where, alike)


def _parse_state(keys: Keys, values: Values) -> State:
    name = keys.require_text("name")
    kind = keys.choice("kind", STATE_KINDS) or (name if name in STATE_KINDS else None)
    if kind is None:
        raise BadInput(
            GroupText.NEEDS_KIND.render(where=keys.where, kinds=", ".join(STATE_KINDS[:-1]), last=STATE_KINDS[-1])
        )
    when = parse_condition(keys, "when", values)
    if when is None:
        raise BadInput(GroupText.NEEDS_WHEN.render(where=keys.where))
    state = State(
        name,
        cast("StateKind", kind),
        when,
        parse_column(keys, "since", values),
        keys.parse_nested("blocker", partial(_parse_blocker, values=values), "name"),
        keys.text("why") or "",
    )
    keys.reject_unknown_keys()
    if kind != "blocked" and (state.blocker is not None or state.why):
        raise BadInput(GroupText.BLOCKED_ONLY.render(where=keys.where))
    return state


def _parse_blocker(keys: Keys, values: Values) -> Blocker:
    name = parse_column(keys, "name", values)
    if name is None:
        raise BadInput(GroupText.NEEDS_BLOCKER.render(where=keys.where))
    return keys.record(Blocker, _readers(values), name=name)


def _parse_steps(keys: Keys) -> StepTable:
    rows: list[tuple[Step, Condition | None]] = []
    for step in _STEPS:
        if keys.raw.get(step) is True:
            keys.is_set(step)
            rows.append((step, None))
        elif (condition := parse_condition(keys, step)) is not None:
            rows.append((step, condition))
    if not rows:
        raise BadInput(GroupText.NEEDS_STEP.render(where=keys.where, steps=" or ".join(_STEPS)))
    steps = keys.record(StepTable, _readers(NO_VALUES), steps=tuple(rows))
    if (steps.id is None) == (steps.at is None):
        raise BadInput(GroupText.NEEDS_ID_OR_TIME.render(where=keys.where))
    if steps.at is not None and (steps.queue is None or not steps.queue.is_plain):
        raise BadInput(GroupText.QUEUE_OF_OTHER_TABLE.render(where=keys.where))
    return steps


def _parse_workers(keys: Keys) -> Workers:
    alive = parse_condition(keys, "alive")
    if alive is None:
        raise BadInput(GroupText.NEEDS_ALIVE.render(where=keys.where))
    return keys.record(Workers, _readers(NO_VALUES), alive=alive)


def _parse_writes(keys: Keys, raw: Mapping[str, object]) -> GroupWrites:
    """Read ``writes``. ``raw``: the whole group."""
    writes = GroupWrites(
        parse_ready_writes(keys), keys.choice("purge", ("delete",)) is not None, json.dumps(raw, ensure_ascii=False)
    )
    keys.reject_unknown_keys()
    if not writes.ready and not writes.purge:
        raise BadInput(GroupText.NO_WRITES.render(where=keys.where))
    if writes.ready and not any(each.what in ("value", "null") for each in writes.ready):
        raise BadInput(GroupText.NEEDS_SET_VALUE.render(where=keys.where))
    return writes


def _parse_pairs(keys: Keys) -> list[tuple[str, str]]:
    """Read ``key`` and ``by``: one column of each table, or a list of as many columns of each."""
    key, by = keys.names("key") or ("id",), keys.names("by")
    if not by:
        raise keys.missing_key_error("by")
    if len(key) != len(by):
        raise BadInput(GroupText.NOT_PAIRS.render(where=keys.where))
    return list(zip(key, by, strict=True))


def _parse_values(keys: Keys) -> Values:
    """Read the values with names. A value may use the values before it."""
    inner = keys.nested_keys("values")
    found: dict[str, ColumnRef] = {}
    for name in () if inner is None else inner.raw:
        assert inner is not None  # noqa: S101 - it has keys
        column = parse_column(inner, name, found)
        assert column is not None  # noqa: S101 - the key exists
        found[name] = column
    return found


def parse_column(keys: Keys, name: str, values: Values = NO_VALUES) -> ColumnRef | None:
    """Read a value of a row: the name of a column or of one of ``values``, or a table of keys.

    The keys are those of ``ColumnRef``. Raises ``BadInput``.
    """
    inner = keys.nested_keys(name, shorthand_key="column")
    if inner is None:
        return None
    if "later_of" in inner.raw:
        entries = inner.entries("later_of")
        each = [parse_column(Keys({"later_of": one}, inner.where), "later_of", values) for one in entries]
        times = [column for column in each if column is not None]
        if len(times) < 2:
            raise BadInput(GroupText.NEEDS_TWO_TIMES.render(path=inner.path("later_of")))
        inner.reject_unknown_keys()
        return replace(times[0], changes=(*times[0].changes, LaterOf(tuple(times[1:]))))
    table, lookup = inner.text("table"), None
    if table is not None:
        pick = cast('Literal["min", "max"] | None', inner.choice("pick", ("min", "max")))
        (key, by), *also = _parse_pairs(inner)
        lookup = Lookup(table, key, by, pick, parse_condition(inner, "when"), tuple(also))
    column_name = inner.require_text("column")
    named = values.get(column_name) if lookup is None else None
    column = named or ColumnRef(column_name, lookup=lookup)
    column = replace(
        column,
        element=inner.whole_number("element") or column.element,
        path=inner.names("path") or column.path,
        times=inner.choice("times", ("utc", *NUMBER_ZONES)) or column.times,
        changes=(*column.changes, *_parse_changes(inner, values)),
    )
    inner.reject_unknown_keys()
    return column


def _parse_changes(keys: Keys, values: Values) -> Iterator[Change]:
    for name in ("plus", "minus"):
        if name in keys.raw:
            yield Shift(_parse_seconds(keys, name, values), back=name == "minus")
    if (names := keys.nested_keys("names")) is not None:
        pairs = tuple((pattern, names.require_text(pattern)) for pattern in names.raw)
        for pattern, new in pairs:
            if not pattern or pattern.count("*") > 1 or new.count("*") > pattern.count("*"):
                raise BadInput(GroupText.BAD_PATTERN.render(path=names.path(pattern)))
        yield Renamed(pairs)


def _parse_seconds(keys: Keys, name: str, values: Values) -> float | ColumnRef:
    """Read a duration such as ``5m`` or ``-5d``, or a column with seconds or an interval."""
    raw = keys.raw.get(name)
    if isinstance(raw, str) and raw.startswith("-"):
        keys.require_text(name)
        return -(Keys({name: raw[1:]}, keys.where).seconds(name) or 0.0)
    if isinstance(raw, Mapping) or (isinstance(raw, str) and not raw[:1].isdigit()):
        column = parse_column(keys, name, values)
        assert column is not None  # noqa: S101 - the key exists
        return column
    return keys.seconds(name) or 0.0


def parse_condition(keys: Keys, name: str, values: Values = NO_VALUES) -> Condition | None:
    """Read a condition on a row, or return ``None`` if the key is missing. Raises ``BadInput``.

    ``values``: values with names, which the condition may test like columns.
    """
    inner = keys.nested_keys(name)
    return None if inner is None else _parse_all_of(inner, values)


def _parse_all_of(keys: Keys, values: Values) -> Condition:
    """Read a table of tests: columns with their tests, ``any`` for alternatives, ``exists`` and ``missing``."""
    of: list[Condition] = []
    for name in keys.raw:
        if name == "any":
            of.append(_parse_any_of(keys, values))
        elif name in ("exists", "missing"):
            inner = keys.nested_keys(name)
            assert inner is not None  # noqa: S101 - the key exists
            of.append(_parse_exists(inner, values, negated=name == "missing"))
        else:
            of += _parse_tests(name, keys, values)
    if not of:
        raise BadInput(GroupText.EMPTY_CONDITION.render(where=keys.where))
    keys.reject_unknown_keys()
    return of[0] if len(of) == 1 else AllOf(tuple(of))


def _parse_any_of(keys: Keys, values: Values) -> Condition:
    raw = keys.tables("any")
    if not raw:
        raise BadInput(GroupText.NOT_CONDITIONS.render(path=keys.path("any")))
    return AnyOf(tuple(_parse_all_of(Keys(one, f"{keys.path('any')}[{n}]"), values) for n, one in enumerate(raw, 1)))


def _parse_exists(keys: Keys, values: Values, *, negated: bool) -> Condition:
    if isinstance(keys.raw.get("by"), list):
        (key, name), *also = _parse_pairs(keys)
        by = values.get(name, ColumnRef(name))
    else:
        key, by, also = keys.text("key") or "id", parse_column(keys, "by", values) or ColumnRef("id"), []
    exists = Exists(
        keys.require_text("table"),
        key,
        by,
        parse_condition(keys, "when"),
        negated,
        keys.is_set("as_text"),
        tuple(also),
    )
    keys.reject_unknown_keys()
    return exists


def _parse_tests(name: str, keys: Keys, values: Values) -> list[Condition]:
    """Read the tests of one column or value: a value, a list of values, or a table of tests."""
    column = values.get(name, ColumnRef(name))
    raw = keys.raw[name]
    if isinstance(raw, Mapping):
        keys.nested_keys(name)
        return _parse_named_tests(column, Keys(raw, keys.path(name)), values)
    return [OneOf(column, keys.scalars(name))]


def _parse_named_tests(column: ColumnRef, tests: Keys, values: Values) -> list[Condition]:
    of: list[Condition] = []
    if "null" in tests.raw:
        of.append(IsNull(column, negated=not tests.is_set("null")))
    if "not" in tests.raw:
        of.append(OneOf(column, tests.scalars("not"), negated=True))
    if tests.is_set("past"):
        of.append(Timed(column, "<=", _parse_seconds(tests, "plus", values)))
    if tests.is_set("future"):
        of.append(Timed(column, ">", _parse_seconds(tests, "plus", values)))
    if "advisory_lock" in tests.raw:
        of.append(AdvisoryLock(column, negated=not tests.is_set("advisory_lock")))
    if "below" in tests.raw:
        of.append(Compared(column, "<", _parse_operand(tests, "below", values)))
    if "at_least" in tests.raw:
        of.append(Compared(column, ">=", _parse_operand(tests, "at_least", values)))
    if not of:
        raise BadInput(GroupText.NEEDS_TEST.render(where=tests.where, tests=", ".join(_TEST_NAMES)))
    tests.reject_unknown_keys(_TEST_NAMES)
    return of


def _parse_operand(tests: Keys, name: str, values: Values) -> int | ColumnRef:
    """Read the operand of a comparison: a whole number, or a column."""
    if isinstance(tests.raw[name], str | Mapping):
        column = parse_column(tests, name, values)
        assert column is not None  # noqa: S101 - the key exists
        return column
    return tests.whole_number(name) or 0


def _readers(values: Values) -> Readers:
    """Return the functions that read columns and conditions, which may use these values."""
    return {ColumnRef: partial(parse_column, values=values), Condition: partial(parse_condition, values=values)}
