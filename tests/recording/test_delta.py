"""A change leads from any value to any other, exactly."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmon.recording.codec import Damaged
from qmon.recording.delta import change, changed
from qmon.recording.lines import Shared
from tests.recording.writing import snapshots

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.lists(st.fixed_dictionaries({"id": st.integers(0, 5), "more": PLAIN}), max_size=6)


def exact(before: Any, now: Any) -> bool:
    """Whether what is made of ``before`` is written as ``now`` is; or it has to be written whole."""
    found = change(before, now)
    if found is None:
        return True
    made = changed(before, json.loads(json.dumps(found)))
    return json.dumps(made, sort_keys=True) == json.dumps(now, sort_keys=True)


@given(st.dictionaries(st.sampled_from("abc"), PLAIN), st.dictionaries(st.sampled_from("abc"), PLAIN))
@settings(max_examples=100, deadline=None)
def test_from_any_value_to_any_other(before: Any, now: Any) -> None:
    assert change(before, now) is not None
    assert exact(before, now)


@given(RECORDS, RECORDS)
@settings(max_examples=100, deadline=None)
def test_lists_of_records_that_come_and_go(before: Any, now: Any) -> None:
    assert exact(before, now)
    assert exact({"rows": before}, {"rows": now})


def test_from_any_snapshot_to_any_other() -> None:
    shared = Shared()
    values = [shared.write(snapshot) for snapshot in snapshots(5)]
    rng = random.Random(1)
    for _ in range(30):
        assert exact(rng.choice(values), rng.choice(values))


def test_what_is_the_same_takes_no_room() -> None:
    value = {"a": [{"id": 1, "x": 2.5}, {"id": 2, "x": None}], "b": 7}
    assert change(value, json.loads(json.dumps(value))) == {}
    assert change(value, {"a": [{"id": 2, "x": None}], "b": 9}) == {"i": {"b": 2}, "~": {"a": {"o": [1]}}}


@pytest.mark.parametrize("by", [{"~": {"a": {"i": {"b": 1}}}}, {"i": {"a": 1}}, {"~": {"x": {}}}, {"+": 7}])
def test_a_change_of_something_else_is_damage(by: Any) -> None:
    with pytest.raises(Damaged):
        changed({"a": [1]}, by)
