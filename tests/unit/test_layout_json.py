"""Layouts survive the registry's JSON, whatever their names contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.errors import BadInput
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.layout.layout_io import layout_from_json, layout_to_json
from tests.strategies import state_columns

names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
tables = st.builds(ObjectName, names, names)
layouts = st.builds(
    Layout,
    queue=names,
    design=st.sampled_from(sorted(TRAITS)),
    table=tables,
    id=st.none() | names,
    state=st.none() | state_columns,
    payload=st.none() | names,
    sequence=st.none() | tables,
    data_table=st.none() | tables,
    source=st.just(LayoutSource.REGISTRY),
)


@given(layouts)
def test_a_layout_comes_back_as_it_was(layout: Layout) -> None:
    assert layout_from_json(layout_to_json(layout)) == layout
    assert "\n" not in layout_to_json(layout)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"name": "q", "design": "nothing", "table": "s.t"}'])
def test_what_is_no_layout_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadInput, match="registry of orders") as caught:
        layout_from_json(text, where="registry of orders")
    assert "\n" not in str(caught.value)
