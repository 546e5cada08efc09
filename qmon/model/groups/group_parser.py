"""Read groups from dictionaries with the structure of TOML files. Every error names its key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, cast

from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.groups.conditions import (
    AdvisoryLock,
    AllOf,
    AnyOf,
    ColumnRef,
    Compared,
    Condition,
    Exists,
    IsNull,
    Lookup,
    OneOf,
    Timed,
)
from qmon.model.groups.group import STATE_KINDS, Blocker, Group, State, StateKind, Step, Steps, Workers
from qmon.model.layout.layout import DEFAULT_TIMEOUT_S, LayoutSource, StateValue, TableName
from qmon.model.layout.layout_io import check_distinct_values, parse_times
from qmon.model.layout.time_zones import NUMBER_ZONES
from qmon.model.texts import Text


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
    NEEDS_TEST = "{where}: needs one of {tests}"


_STEPS: Final[tuple[Step, ...]] = ("pushed", "popped", "completed", "failed")
_TEST_NAMES: Final = ("null", "not", "past", "future", "below", "at_least", "plus", "advisory_lock")


def group_from_dict(
    raw: Mapping[str, object], table: TableName, *, where: str, source: LayoutSource = LayoutSource.CONFIGURATION
) -> Group:
    """Read a group. ``table``: the group's table with the schema, which the caller has read from the key ``table``.

    The message of a ``BadInput`` starts with ``where`` and the path of the key.
    """
    keys = Keys(raw, where)
    keys.text("table")
    part = parse_condition(keys, "where")
    group = keys.record(
        Group,
        _READERS,
        table=table,
        states=_parse_states(keys),
        steps=tuple(
            _parse_steps(Keys(one, f"{keys.path('steps')}[{n}]")) for n, one in enumerate(keys.tables("steps"), 1)
        ),
        workers=keys.parse_nested("workers", _parse_workers),
        times=parse_times(keys, tuple(NUMBER_ZONES)),
        timeout_s=keys.seconds("timeout") or DEFAULT_TIMEOUT_S,
        where=None,
        zones=(),
        types=(),
        source=source,
    )
    return group if part is None else group.restrict_to(part)


def _parse_states(keys: Keys) -> tuple[State, ...]:
    found = keys.tables("state")
    states = tuple(_parse_state(Keys(raw, f"{keys.path('state')}[{n}]")) for n, raw in enumerate(found, 1))
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


def _parse_state(keys: Keys) -> State:
    name = keys.require_text("name")
    kind = keys.choice("kind", STATE_KINDS) or (name if name in STATE_KINDS else None)
    if kind is None:
        raise BadInput(
            GroupText.NEEDS_KIND.render(where=keys.where, kinds=", ".join(STATE_KINDS[:-1]), last=STATE_KINDS[-1])
        )
    when = parse_condition(keys, "when")
    if when is None:
        raise BadInput(GroupText.NEEDS_WHEN.render(where=keys.where))
    state = State(
        name,
        cast("StateKind", kind),
        when,
        parse_column(keys, "since"),
        keys.parse_nested("blocker", _parse_blocker, "name"),
        keys.text("why") or "",
    )
    keys.reject_unknown_keys()
    if kind != "blocked" and (state.blocker is not None or state.why):
        raise BadInput(GroupText.BLOCKED_ONLY.render(where=keys.where))
    return state


def _parse_blocker(keys: Keys) -> Blocker:
    name = parse_column(keys, "name")
    if name is None:
        raise BadInput(GroupText.NEEDS_BLOCKER.render(where=keys.where))
    return keys.record(Blocker, _READERS, name=name)


def _parse_steps(keys: Keys) -> Steps:
    rows: list[tuple[Step, Condition | None]] = []
    for step in _STEPS:
        if keys.raw.get(step) is True:
            keys.is_set(step)
            rows.append((step, None))
        elif (condition := parse_condition(keys, step)) is not None:
            rows.append((step, condition))
    if not rows:
        raise BadInput(GroupText.NEEDS_STEP.render(where=keys.where, steps=" or ".join(_STEPS)))
    steps = keys.record(Steps, _READERS, steps=tuple(rows))
    if (steps.id is None) == (steps.at is None):
        raise BadInput(GroupText.NEEDS_ID_OR_TIME.render(where=keys.where))
    if steps.at is not None and (steps.queue is None or steps.queue.lookup is not None):
        raise BadInput(GroupText.QUEUE_OF_OTHER_TABLE.render(where=keys.where))
    return steps


def _parse_workers(keys: Keys) -> Workers:
    alive = parse_condition(keys, "alive")
    if alive is None:
        raise BadInput(GroupText.NEEDS_ALIVE.render(where=keys.where))
    return keys.record(Workers, _READERS, alive=alive)


def parse_column(keys: Keys, name: str) -> ColumnRef | None:
    """Read a column: its name, ``{ column = …, element = 2 }``, or a column of another table (``Lookup``)."""
    return keys.parse_nested(name, _parse_column_keys, shorthand_key="column")


def _parse_column_keys(keys: Keys) -> ColumnRef:
    table, lookup = keys.text("table"), None
    if table is not None:
        pick = cast('Literal["min", "max"] | None', keys.choice("pick", ("min", "max")))
        lookup = Lookup(table, keys.text("key") or "id", keys.require_text("by"), pick, parse_condition(keys, "when"))
    return ColumnRef(keys.require_text("column"), keys.whole_number("element"), lookup)


def parse_condition(keys: Keys, name: str) -> Condition | None:
    """Read a condition on a row, or return ``None`` if the key is missing. Raises ``BadInput``."""
    inner = keys.nested_keys(name)
    return None if inner is None else _parse_all_of(inner)


def _parse_all_of(keys: Keys) -> Condition:
    """Read a table of tests: columns with their tests, ``any`` for alternatives, ``exists`` and ``missing``."""
    of: list[Condition] = []
    for name in keys.raw:
        if name == "any":
            of.append(_parse_any_of(keys))
        elif name in ("exists", "missing"):
            inner = keys.nested_keys(name)
            assert inner is not None  # noqa: S101 - the key exists
            of.append(_parse_exists(inner, negated=name == "missing"))
        else:
            of += _parse_tests(ColumnRef(name), keys)
    if not of:
        raise BadInput(GroupText.EMPTY_CONDITION.render(where=keys.where))
    keys.reject_unknown_keys()
    return of[0] if len(of) == 1 else AllOf(tuple(of))


def _parse_any_of(keys: Keys) -> Condition:
    raw = keys.tables("any")
    if not raw:
        raise BadInput(GroupText.NOT_CONDITIONS.render(path=keys.path("any")))
    return AnyOf(tuple(_parse_all_of(Keys(one, f"{keys.path('any')}[{n}]")) for n, one in enumerate(raw, 1)))


def _parse_exists(keys: Keys, *, negated: bool) -> Condition:
    by = parse_column(keys, "by")
    exists = Exists(
        keys.require_text("table"),
        keys.text("key") or "id",
        by or ColumnRef("id"),
        parse_condition(keys, "when"),
        negated,
        keys.is_set("as_text"),
    )
    keys.reject_unknown_keys()
    return exists


def _parse_tests(column: ColumnRef, keys: Keys) -> list[Condition]:
    """Read the tests of one column: a value, a list of values, or a table of tests."""
    name = column.name
    raw = keys.raw[name]
    if isinstance(raw, Mapping):
        return _parse_named_tests(column, Keys(raw, keys.path(name)), keys)
    return [OneOf(column, keys.scalars(name))]


def _parse_named_tests(column: ColumnRef, tests: Keys, outer: Keys) -> list[Condition]:
    outer.nested_keys(column.name)
    of: list[Condition] = []
    if "null" in tests.raw:
        of.append(IsNull(column, negated=not tests.is_set("null")))
    if "not" in tests.raw:
        of.append(OneOf(column, tests.scalars("not"), negated=True))
    if tests.is_set("past"):
        of.append(Timed(column, "<=", _parse_offset(tests)))
    if tests.is_set("future"):
        of.append(Timed(column, ">", _parse_offset(tests)))
    if "advisory_lock" in tests.raw:
        of.append(AdvisoryLock(column, negated=not tests.is_set("advisory_lock")))
    if "below" in tests.raw:
        of.append(Compared(column, "<", _parse_operand(tests, "below")))
    if "at_least" in tests.raw:
        of.append(Compared(column, ">=", _parse_operand(tests, "at_least")))
    if not of:
        raise BadInput(GroupText.NEEDS_TEST.render(where=tests.where, tests=", ".join(_TEST_NAMES)))
    tests.reject_unknown_keys(_TEST_NAMES)
    return of


def _parse_operand(tests: Keys, name: str) -> int | ColumnRef:
    """Read the operand of a comparison: a whole number, or the name of a column."""
    if isinstance(tests.raw[name], str):
        return ColumnRef(tests.require_text(name))
    return tests.whole_number(name) or 0


def _parse_offset(tests: Keys) -> float | ColumnRef:
    """Read the offset added to a time before the comparison: a duration such as ``-5d``, or a column with seconds."""
    raw = tests.raw.get("plus")
    if isinstance(raw, str) and raw.startswith("-"):
        tests.require_text("plus")
        return -(Keys({"plus": raw[1:]}, tests.where).seconds("plus") or 0.0)
    if isinstance(raw, str) and not raw[:1].isdigit():
        return ColumnRef(tests.require_text("plus"))
    return tests.seconds("plus") or 0.0


_READERS: Final = {ColumnRef: parse_column, Condition: parse_condition}
