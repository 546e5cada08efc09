"""A change leads from any value to any other, exactly."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmon.recording.format.chain import SnapshotDelta
from qmon.recording.format.codec import Damaged
from qmon.recording.format.delta import change, changed
from qmon.recording.format.records import Shared
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


@given(st.lists(st.dictionaries(st.sampled_from("abc"), PLAIN | RECORDS), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_one_after_the_other_whatever_comes_and_goes(values: list[Any]) -> None:
    writes, reads = SnapshotDelta(), SnapshotDelta()
    assert writes.told(values[0]) is None
    reads.begin(values[0])
    for value in values[1:]:
        by = json.loads(json.dumps(writes.told(value)))
        assert json.dumps(reads.next(by), sort_keys=True) == json.dumps(value, sort_keys=True)


def test_a_reading_that_is_not_taken_each_time_is_told_by_what_has_changed() -> None:
    """As a recording of format 1 told it, it is still read."""
    clients = [{"session": n, "state": "idle"} for n in range(40)]
    values = [{"n": 1, "clients": clients}, {"n": 2}, {"n": 3, "clients": None}, {"n": 4, "clients": clients[1:]}]
    chain = SnapshotDelta()
    told = [chain.told(value) for value in values]
    assert told[3] == {"i": {"n": 1}, "l": {"clients": {"o": list(range(1, 40))}}}
    older = [None, *(change(before, now) for before, now in itertools.pairwise(values))]
    assert older[3] == {"i": {"n": 1}, "+": {"clients": clients[1:]}}
    for each in (told, older):
        reads = SnapshotDelta()
        reads.begin(values[0])
        assert [reads.next(by) for by in each[1:] if by is not None] == values[1:]


def test_a_change_of_a_reading_that_was_not_there_is_damage() -> None:
    reads = SnapshotDelta()
    reads.begin({"n": 1})
    with pytest.raises(Damaged, match="which was not there before"):
        reads.next({"l": {"clients": {}}})


def test_what_is_the_same_takes_no_room() -> None:
    value = {"a": [{"id": 1, "x": 2.5}, {"id": 2, "x": None}], "b": 7}
    assert change(value, json.loads(json.dumps(value))) == {}
    assert change(value, {"a": [{"id": 2, "x": None}], "b": 9}) == {"i": {"b": 2}, "~": {"a": {"o": [1]}}}


@pytest.mark.parametrize("by", [{"~": {"a": {"i": {"b": 1}}}}, {"i": {"a": 1}}, {"~": {"x": {}}}, {"+": 7}])
def test_a_change_of_something_else_is_damage(by: Any) -> None:
    with pytest.raises(Damaged):
        changed({"a": [1]}, by)
