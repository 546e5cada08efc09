"""The hours that polls affect, and the detection of duplicates, without Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from qmon.pipeline.ingest.poll_survey import POLL_COLUMNS, survey_polls
from qmon.recording.figure_rows.row_schema import ROWS

HOUR = 1_795_255_200.0
POLLS = pa.schema([ROWS.field(name) for name in POLL_COLUMNS])


def polls(*rows: dict[str, Any]) -> pa.Table:
    usual = {"target": "shop", "recorder": "a", "sequence": 1, "sampled_at": HOUR, "zone": "UTC", "environment": None}
    return pa.Table.from_pylist([usual | row for row in rows], POLLS)


def test_a_poll_affects_the_previous_hour_if_its_time_may_begin_there() -> None:
    found = survey_polls(polls({"sampled_at": HOUR + 599}, {"sampled_at": HOUR + 4300, "sequence": 2}), polls())
    assert {hour: (each.is_new, each.is_shared) for hour, each in found.hours.items()} == {
        ("shop", HOUR - 3600): (True, False),
        ("shop", HOUR): (True, False),
        ("shop", HOUR + 3600): (True, False),
    }
    assert found.is_unique
    assert survey_polls(polls(), polls({})).hours == {}


@pytest.mark.parametrize(
    ("known", "state"),
    [
        ({"sampled_at": HOUR + 700}, (False, False)),
        ({"sampled_at": HOUR + 700, "recorder": "b"}, (False, True)),
        ({"sampled_at": HOUR + 700, "zone": "Europe/Berlin"}, (False, True)),
        ({"sampled_at": HOUR + 700, "environment": "prod"}, (False, True)),
        ({"sampled_at": HOUR + 3600 + 599}, (False, False)),
        ({"sampled_at": HOUR + 3600 + 601}, (True, False)),
        ({"sampled_at": HOUR + 700, "target": "bank"}, (True, False)),
    ],
)
def test_an_hour_is_new_and_unshared_unless_other_polls_affect_it(
    known: dict[str, Any], state: tuple[bool, bool]
) -> None:
    found = survey_polls(polls({"sampled_at": HOUR + 1200}), polls(known | {"sequence": 9}))
    assert list(found.hours) == [("shop", HOUR)]
    assert (found.hours["shop", HOUR].is_new, found.hours["shop", HOUR].is_shared) == state
    assert found.is_unique


@pytest.mark.parametrize(
    ("new", "known", "unique"),
    [
        ([{}, {"sequence": 2}], [{"sequence": 3}], True),
        ([{}, {"recorder": "b"}], [{"target": "bank"}], True),
        ([{}, {"sampled_at": HOUR + 1}], [], False),
        ([{}], [{"sampled_at": HOUR + 7200}], False),
    ],
)
def test_duplicates_are_found_in_the_batch_and_in_the_lake(
    new: list[dict[str, Any]], known: list[dict[str, Any]], unique: bool
) -> None:
    assert survey_polls(polls(*new), polls(*known)).is_unique is unique
