"""Hypothesis strategies for several tests: layouts with any text in their names."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import (
    ClientPatterns,
    Layout,
    LayoutSource,
    ObjectName,
    OwnerColumn,
    PauseSwitch,
    RequeueWrite,
    Ring,
    SortColumn,
    StateColumn,
)

names = st.text(min_size=1, max_size=20)
tables = st.builds(ObjectName, names | st.just(""), names)
maybe = st.none() | names
values = st.integers(-(2**63) + 1, 2**63 - 1) | st.text(max_size=8)
clients = st.builds(ClientPatterns, maybe, maybe, maybe)
# State values of one column differ, also as text.
state_columns = st.builds(
    lambda column, distinct, used: StateColumn(
        column,
        distinct[0],
        distinct[1] if used[0] else None,
        distinct[2] if used[1] else None,
        distinct[3] if used[2] else None,
        also_done=tuple(distinct[4:]) if used[1] else (),
    ),
    names,
    st.lists(values, min_size=4, max_size=6, unique_by=str),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
orders = st.lists(st.builds(SortColumn, names, st.booleans()), max_size=3, unique_by=lambda each: each.column).map(
    tuple
)

State = Literal["ready", "dead"]
both: tuple[State, ...] = ("ready", "dead")
states = st.sampled_from(both)


def _place(key: tuple[State, str]) -> tuple[bool, str]:
    """Sort key of written values: those for ready messages first, then by column."""
    return key[0] != "ready", key[1]


whole = st.integers(-(2**63) + 1, 2**63 - 1)
writes = st.dictionaries(
    st.tuples(states, names),
    st.tuples(st.sampled_from(["null", "now", "keep"]), st.none()) | st.tuples(st.just("value"), whole | names),
    max_size=4,
).map(lambda found: tuple(RequeueWrite(*key, *found[key]) for key in sorted(found, key=_place)))
layouts = st.builds(
    Layout,
    queue=names,
    design=st.sampled_from(sorted(TRAITS)),
    table=tables,
    id=maybe,
    state=st.none() | state_columns,
    started_at=maybe,
    enqueued_at=maybe,
    due_at=maybe,
    owner=st.none()
    | st.builds(OwnerColumn, names, st.sampled_from(["session", "lease", "heartbeat", "name"]), st.booleans()),
    attempts=maybe,
    priority=maybe,
    payload=maybe,
    sequence=st.none() | tables,
    data_table=st.none() | tables,
    data_id=maybe,
    ring=st.none()
    | st.builds(
        Ring,
        st.integers(1, 2**40),
        tables,
        tables,
        names,
        maybe,
        names,
        names,
        st.lists(tables, max_size=3).map(tuple),
        maybe,
    ),
    timeout_s=st.floats(1e-6, 1e8) | st.integers(1, 10**7).map(float),
    max_attempts=maybe | st.integers(1, 1_000_000),
    order=orders,
    writes=writes,
    pop=st.sampled_from([None, "delete"]),
    producers=clients,
    consumers=clients,
    routines=st.dictionaries(names, tables, max_size=3).map(lambda found: tuple(found.items())),
    switch=st.none() | st.builds(PauseSwitch, tables, tables),
    source=st.just(LayoutSource.CONFIGURATION),
)
