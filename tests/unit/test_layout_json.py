"""Layouts survive the registry's JSON, whatever their names hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.errors import BadInput
from qmon.model.designs import TRAITS
from qmon.model.layout import Clients, Layout, OwnerColumn, Ring, Source, StateColumn, TableName
from qmon.model.layout_json import from_json, to_json

names = st.text(min_size=1, max_size=20)
tables = st.builds(TableName, names, names)
maybe = st.none() | names
values = st.integers() | names
layouts = st.builds(
    Layout,
    queue=names,
    design=st.sampled_from(sorted(TRAITS)),
    table=st.builds(TableName, names | st.just(""), names),
    id=maybe,
    state=st.none() | st.builds(StateColumn, names, values, st.none() | values, st.none() | values),
    started_at=maybe,
    payload=maybe,
    owner=st.none() | st.builds(OwnerColumn, names, st.sampled_from(["session", "lease", "name"]), st.booleans()),
    sequence=st.none() | tables,
    data_table=st.none() | tables,
    data_id=maybe,
    ring=st.none() | st.builds(Ring, st.integers(1, 10**6), tables, tables),
    timeout_s=st.floats(0.001, 1e6),
    pushers=st.builds(Clients, maybe, maybe, maybe),
    routines=st.dictionaries(names, tables, max_size=3).map(lambda d: tuple(d.items())),
    source=st.just(Source.REGISTRY),
)


@given(layouts)
def test_a_layout_comes_back_as_it_was(layout: Layout) -> None:
    assert from_json(to_json(layout)) == layout


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"queue": "q", "design": "nothing", "table": ["s", "t"]}',
        '{"queue": "q", "design": "fifo", "table": "s.t"}',
        '{"queue": "q", "design": "fifo", "table": ["a", "b", "c"]}',
        '{"queue": "q", "design": "ring", "table": ["t"], "ring": {"size": "many"}}',
        '{"queue": "q", "design": "status", "table": ["t"], "state": {"ready": 1}}',
    ],
)
def test_what_is_no_layout_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadInput, match="not a layout") as caught:
        from_json(text)
    assert "\n" not in str(caught.value)


def test_keys_of_a_later_version_are_passed_over() -> None:
    raw = json.loads(to_json(Layout("q", "status", TableName("s", "t"), state=StateColumn("st", 1))))
    raw["colour"] = "blue"
    raw["state"]["colour"] = "red"
    assert from_json(json.dumps(raw)).state == StateColumn("st", 1)
