"""The baselines file: found next to the recordings, or named; damaged files are reported in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.baseline_bands import Baseline
from qmon.recording.history.baselines_reader import FILE_NAME, find_baselines, read_baselines
from tests.recording.baselines import WHOLE


def test_it_is_read(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(json.dumps(WHOLE))
    found = read_baselines(tmp_path / FILE_NAME)
    assert found.hours == {"shop": {"mails": {"ready": {38: Baseline(120.5, 3.0, 9)}}}}
    assert (found.zone, found.zones) == ("UTC", {"shop": "Europe/Berlin"})
    assert find_baselines(tmp_path).baselines == found


def test_fields_that_a_later_qmon_adds_are_passed_over_and_zones_may_be_missing(tmp_path: Path) -> None:
    older = {name: value for name, value in WHOLE.items() if name != "zones"} | {"made_at": 5}
    (tmp_path / FILE_NAME).write_text(json.dumps(older))
    assert read_baselines(tmp_path / FILE_NAME).zones == {}


def test_where_there_is_none_nothing_is_said() -> None:
    assert find_baselines(None) == find_baselines(Path("/nowhere/at/all"))
    assert find_baselines(None).problem == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is damaged"),
        ("{", "is damaged"),
        ("[1]", "was not written by"),
        ("{}", "was not written by"),
        (json.dumps(WHOLE | {"version": 2}), "was written by a newer qmon"),
        (json.dumps(WHOLE | {"zone": "Mars/Base"}), "unknown time zone 'Mars/Base'"),
        (json.dumps(WHOLE | {"zones": []}), "is damaged"),
        (json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"168": [1, 1, 9]}}}}}), "not 168"),
        (json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"3": [1, 1]}}}}}), "is damaged"),
        (
            json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"3": [1, float("nan"), 9]}}}}}),
            "infinite or not a number",
        ),
        (json.dumps(WHOLE | {"queues": {"shop": 5}}), "is damaged"),
        ('{"version": 1, "zone": "UTC", "queues": ' + "[" * 100_000, "is damaged"),
    ],
    ids=["empty", "cut", "list", "other", "newer", "zone", "zones", "hour", "short", "nan", "kind", "deep"],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(BadInput, match=said) as raised:
        read_baselines(tmp_path / FILE_NAME)
    assert "\n" not in str(raised.value) and str(tmp_path / FILE_NAME) in str(raised.value)
    found = find_baselines(tmp_path)
    assert (found.problem, found.baselines.hours) == (str(raised.value), {})


def test_a_file_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_baselines(tmp_path / "none.json")
    with pytest.raises(BadInput, match="cannot be read"):
        read_baselines(tmp_path)
