"""The baselines file: found next to the recordings, or named; damaged files are reported in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.baseline_bands import Baseline
from qmon.recording.history.baselines_reader import FILE_NAME, BaselinesText, find_baselines, read_baselines
from tests.recording.baselines import WHOLE
from tests.wordings import pattern


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


def damaged(why: str) -> str:
    """Return the pattern of the error about a damaged file."""
    return pattern(BaselinesText.DAMAGED, why=why)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", pattern(BaselinesText.NOT_JSON)),
        ("{", pattern(BaselinesText.NOT_JSON)),
        ("[1]", pattern(BaselinesText.FOREIGN)),
        ("{}", pattern(BaselinesText.FOREIGN)),
        (json.dumps(WHOLE | {"version": 2}), pattern(BaselinesText.NEWER, version=2)),
        (json.dumps(WHOLE | {"zone": "Mars/Base"}), damaged(BaselinesText.NO_ZONE.render(name="Mars/Base"))),
        (json.dumps(WHOLE | {"zones": []}), damaged(BaselinesText.WRONG_FIELD)),
        (
            json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"168": [1, 1, 9]}}}}}),
            damaged(BaselinesText.NO_HOUR.render(last=167, hour=168)),
        ),
        (json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"3": [1, 1]}}}}}), pattern(BaselinesText.DAMAGED)),
        (
            json.dumps(WHOLE | {"queues": {"shop": {"mails": {"ready": {"3": [1, float("nan"), 9]}}}}}),
            damaged(BaselinesText.INFINITE),
        ),
        (json.dumps(WHOLE | {"queues": {"shop": 5}}), damaged(BaselinesText.WRONG_FIELD)),
        ('{"version": 1, "zone": "UTC", "queues": ' + "[" * 100_000, pattern(BaselinesText.NOT_JSON)),
    ],
    ids=["empty", "cut", "list", "other", "newer", "zone", "zones", "hour", "short", "nan", "kind", "deep"],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(BadInput, match=fault) as raised:
        read_baselines(tmp_path / FILE_NAME)
    assert "\n" not in str(raised.value) and str(tmp_path / FILE_NAME) in str(raised.value)
    found = find_baselines(tmp_path)
    assert (found.problem, found.baselines.hours) == (str(raised.value), {})


def test_a_file_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=pattern(BaselinesText.NO_FILE, path=tmp_path / "none.json")):
        read_baselines(tmp_path / "none.json")
    with pytest.raises(BadInput, match=pattern(BaselinesText.UNREADABLE, path=tmp_path)):
        read_baselines(tmp_path)
