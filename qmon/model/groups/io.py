"""Read groups from plain dictionaries, as TOML files write them. Every error names its key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, Literal, cast

from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.groups.conditions import (
    AdvisoryLock,
    ColumnRef,
    Compared,
    Condition,
    Every,
    Exists,
    IsNull,
    Lookup,
    OneOf,
    Some,
    Timed,
)
from qmon.model.groups.group import KINDS, Blocker, Group, Kind, State, Step, Steps, Workers
from qmon.model.layout.io import check_distinct, times_from
from qmon.model.layout.layout import DEFAULT_TIMEOUT_S, LayoutSource, StateValue, TableName
from qmon.model.layout.zones import COUNTED

_STEPS: Final[tuple[Step, ...]] = ("pushed", "popped", "completed", "failed")
_TESTS: Final = ("null", "not", "past", "future", "below", "at_least", "plus", "advisory_lock")


def group_from_dict(
    raw: Mapping[str, object], table: TableName, *, where: str, source: LayoutSource = LayoutSource.CONFIGURATION
) -> Group:
    """Read a group. ``table``: its table with the schema; the caller has read the key ``table``.

    Raises ``BadInput`` starting with ``where`` and the path of the key.
    """
    keys = Keys(raw, where)
    keys.text("table")
    group = Group(
        name=keys.need_text("name"),
        table=table,
        id=keys.need_text("id"),
        states=_states(keys),
        queue=column_from(keys, "queue"),
        overdue=condition_from(keys, "overdue"),
        gone=condition_from(keys, "gone"),
        owner=column_from(keys, "owner"),
        attempts=column_from(keys, "attempts"),
        payload=column_from(keys, "payload"),
        error=column_from(keys, "error"),
        steps=tuple(_steps(Keys(one, f"{keys.path('steps')}[{n}]")) for n, one in enumerate(keys.tables("steps"), 1)),
        workers=_workers(keys),
        counters=keys.flag("counters"),
        times=times_from(keys, tuple(COUNTED)),
        timeout_s=keys.seconds("timeout") or DEFAULT_TIMEOUT_S,
        library=keys.text("library") or "",
        source=source,
    )
    part = condition_from(keys, "where")
    keys.finish()
    return group if part is None else group.within(part)


def _states(keys: Keys) -> tuple[State, ...]:
    found = keys.tables("state")
    states = tuple(_state(Keys(raw, f"{keys.path('state')}[{n}]")) for n, raw in enumerate(found, 1))
    if not any(state.kind == "ready" for state in states):
        raise BadInput(f"{keys.where}: needs a [[state]] of the kind ready")
    names = [state.name for state in states]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"{keys.where}: two states are called {twice!r}")
    _check_disjoint(keys.where, states)
    return states


def _check_disjoint(where: str, states: Sequence[State]) -> None:
    """Raise ``BadInput`` if a row can be in two states by the values of one column, or by equal conditions.

    Conditions on several columns may overlap without a common row, so they are only compared as a whole.
    """
    for one, other in combinations(states, 2):
        if one.when == other.when:
            raise BadInput(f"{where}: {one.name} and {other.name} have the same condition; give each state its own")
    by_column: defaultdict[ColumnRef, list[tuple[str, tuple[StateValue, ...]]]] = defaultdict(list)
    for state in states:
        if isinstance(state.when, OneOf) and not state.when.negated:
            by_column[state.when.column].append((state.name, state.when.values))
    for alike in by_column.values():
        check_distinct(where, alike)


def _state(keys: Keys) -> State:
    name = keys.need_text("name")
    kind = keys.choice("kind", KINDS) or (name if name in KINDS else None)
    if kind is None:
        raise BadInput(f"{keys.where}: needs kind, what its messages are: {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    when = condition_from(keys, "when")
    if when is None:
        raise BadInput(f"{keys.where}: needs when, what is true of its rows")
    state = State(name, cast("Kind", kind), when, column_from(keys, "since"), _blocker(keys), keys.text("why") or "")
    keys.finish()
    if kind != "blocked" and (state.blocker is not None or state.why):
        raise BadInput(f"{keys.where}: blocker and why are of blocked states only")
    return state


def _blocker(keys: Keys) -> Blocker | None:
    inner = keys.inner("blocker", alone="name")
    if inner is None:
        return None
    name = column_from(inner, "name")
    if name is None:
        raise BadInput(f"{inner.where}: needs name, the column that names what blocks")
    blocker = Blocker(name, column_from(inner, "holder"), column_from(inner, "since"))
    inner.finish()
    return blocker


def _steps(keys: Keys) -> Steps:
    rows: list[tuple[Step, Condition | None]] = []
    for step in _STEPS:
        if keys.raw.get(step) is True:
            keys.flag(step)
            rows.append((step, None))
        elif (condition := condition_from(keys, step)) is not None:
            rows.append((step, condition))
    if not rows:
        raise BadInput(f"{keys.where}: needs {' or '.join(_STEPS)}")
    steps = Steps(keys.need_text("table"), keys.text("id"), keys.text("at"), column_from(keys, "queue"), tuple(rows))
    if (steps.id is None) == (steps.at is None):
        raise BadInput(f"{keys.where}: needs id, by which its rows are numbered, or at, the time of a step")
    if steps.at is not None and (steps.queue is None or steps.queue.lookup is not None):
        raise BadInput(f"{keys.where}: where steps are found by their time, queue must be a column of the same table")
    keys.finish()
    return steps


def _workers(keys: Keys) -> Workers | None:
    inner = keys.inner("workers")
    if inner is None:
        return None
    alive = condition_from(inner, "alive")
    if alive is None:
        raise BadInput(f"{inner.where}: needs alive, what is true of a worker that has been heard of lately")
    workers = Workers(inner.need_text("table"), alive, column_from(inner, "queue"))
    inner.finish()
    return workers


def column_from(keys: Keys, name: str) -> ColumnRef | None:
    """Read a column: its name, ``{ column = …, element = 2 }``, or a column of another table (``Lookup``)."""
    inner = keys.inner(name, alone="column")
    if inner is None:
        return None
    table, lookup = inner.text("table"), None
    if table is not None:
        pick = cast('Literal["min", "max"] | None', inner.choice("pick", ("min", "max")))
        key, by = inner.text("key") or "id", inner.need_text("by")
        lookup = Lookup(table, key, by, pick, condition_from(inner, "when"))
    column = ColumnRef(inner.need_text("column"), inner.whole("element"), lookup)
    inner.finish()
    return column


def condition_from(keys: Keys, name: str) -> Condition | None:
    """Read a condition on a row, ``None`` if the key is missing. Raises ``BadInput``."""
    inner = keys.inner(name)
    return None if inner is None else _every(inner)


def _every(keys: Keys) -> Condition:
    """Read a table of tests: columns with their tests, ``any`` for alternatives, ``exists`` and ``missing``."""
    of: list[Condition] = []
    for name in keys.raw:
        if name == "any":
            of.append(_some(keys))
        elif name in ("exists", "missing"):
            inner = keys.inner(name)
            assert inner is not None  # noqa: S101 - the key is there
            of.append(_exists(inner, negated=name == "missing"))
        else:
            of += _tests(ColumnRef(name), keys)
    if not of:
        raise BadInput(f"{keys.where}: says nothing")
    keys.finish()
    return of[0] if len(of) == 1 else Every(tuple(of))


def _some(keys: Keys) -> Condition:
    raw = keys.tables("any")
    if not raw:
        raise BadInput(f"{keys.path('any')}: is a list of tables, one of which is true")
    return Some(tuple(_every(Keys(one, f"{keys.path('any')}[{n}]")) for n, one in enumerate(raw, 1)))


def _exists(keys: Keys, *, negated: bool) -> Condition:
    by = column_from(keys, "by")
    exists = Exists(
        keys.need_text("table"),
        keys.text("key") or "id",
        by or ColumnRef("id"),
        condition_from(keys, "when"),
        negated,
        keys.flag("as_text"),
    )
    keys.finish()
    return exists


def _tests(column: ColumnRef, keys: Keys) -> list[Condition]:
    """Read the tests of one column: a value, a list of values, or a table of tests."""
    name = column.name
    raw = keys.raw[name]
    if isinstance(raw, Mapping):
        return _named_tests(column, Keys(raw, keys.path(name)), keys)
    return [OneOf(column, _values(keys, name))]


def _values(keys: Keys, name: str) -> tuple[StateValue, ...]:
    raw = keys.raw[name]
    if not isinstance(raw, list):
        value = keys.scalar(name)
        return () if value is None else (value,)
    keys.entries(name)
    values = tuple(Keys({"value": one}, keys.path(name)).scalar("value") for one in raw)
    if not values or None in values:
        raise BadInput(f"{keys.path(name)}: must be one or more values")
    return tuple(value for value in values if value is not None)


def _named_tests(column: ColumnRef, tests: Keys, outer: Keys) -> list[Condition]:
    outer.inner(column.name)
    of: list[Condition] = []
    if "null" in tests.raw:
        of.append(IsNull(column, negated=not tests.flag("null")))
    if "not" in tests.raw:
        of.append(OneOf(column, _values(tests, "not"), negated=True))
    if tests.flag("past"):
        of.append(Timed(column, "<=", _added(tests)))
    if tests.flag("future"):
        of.append(Timed(column, ">", _added(tests)))
    if "advisory_lock" in tests.raw:
        of.append(AdvisoryLock(column, negated=not tests.flag("advisory_lock")))
    if "below" in tests.raw:
        of.append(Compared(column, "<", _other(tests, "below")))
    if "at_least" in tests.raw:
        of.append(Compared(column, ">=", _other(tests, "at_least")))
    if not of:
        raise BadInput(f"{tests.where}: needs one of {', '.join(_TESTS)}")
    tests.finish(_TESTS)
    return of


def _other(tests: Keys, name: str) -> int | ColumnRef:
    """Read what a column is compared with: a whole number, or the name of a column."""
    if isinstance(tests.raw[name], str):
        return ColumnRef(tests.need_text(name))
    return tests.whole(name) or 0


def _added(tests: Keys) -> float | ColumnRef:
    """Read what is added to a time before it is compared: a duration, or the name of a column with seconds."""
    raw = tests.raw.get("plus")
    if isinstance(raw, str) and not raw[:1].isdigit():
        return ColumnRef(tests.need_text("plus"))
    return tests.seconds("plus") or 0.0
