"""``qmon replay`` and ``qmon export`` without a screen, and the formats of times on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qmon.cli.commands.replay import ReplayText
from qmon.errors import BadInput
from qmon.model.snapshot import Snapshot
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.recording_reader import ReaderText, open_recording
from qmon.recording.segment_export import ExportText
from qmon.recording.times import TimeText, parse_moment
from qmon.tui.run import TerminalText
from tests.cli.calling import call
from tests.recording.sameness import plain
from tests.recording.writing import BEGIN, recorded
from tests.schemas import valid
from tests.wordings import has, pattern


def test_one_moment_is_printed(tmp_path: Path) -> None:
    given = recorded(tmp_path)
    assert len(list_segments(tmp_path)) == 2
    done = call("replay", str(tmp_path), "--at", "2026-11-21T13:05:03+00:00", "--output", "json")
    assert done.exit_code == 0, done.output
    found = valid(done.stdout, "replay")
    assert found["at"] == BEGIN + 300
    assert found["snapshot"]["sequence"] == 31
    assert found["status"]["sequence"] == 31 if "sequence" in found["status"] else found["status"]["queues"]
    last = valid(call("replay", str(tmp_path), "--output", "json").stdout, "replay")
    assert last["snapshot"]["sequence"] == given[-1].sequence


def test_a_stretch_becomes_one_file_that_shows_the_same(tmp_path: Path) -> None:
    given = recorded(tmp_path / "kept")
    file = tmp_path / "incident.qmon"
    times = ("--from", "2026-11-21T13:30:00Z", "--to", "2026-11-21T13:40:00Z")
    done = call("export", str(tmp_path / "kept"), str(file), *times)
    assert done.exit_code == 0, done.output
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["incident.qmon"]
    reader = open_recording(file)
    back = [moment.event for moment in reader.read_moments(0.0) if isinstance(moment.event, Snapshot)]
    assert plain(back) == plain(given[168:241])  # the ten minutes, and two before
    assert [mark.kind for mark in reader.read_marks()] == ["operation"]
    assert call("replay", str(file), "--at", "2026-11-21T13:35:00Z", "--output", "json").exit_code == 0
    again = call("export", str(tmp_path / "kept"), str(file), *times)
    assert again.exit_code == 2 and has(again.stderr, ExportText.EXISTS, path=file)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("replay", "{}/nowhere", "--output", "json"), pattern(ReaderText.NO_RECORDING)),
        (("replay", "{}", "--output", "json"), pattern(ReaderText.SEVERAL_TARGETS)),
        (("replay", "{}", "--target", "none", "--output", "json"), pattern(ReaderText.NO_SUCH_TARGET, target="none")),
        (
            ("replay", "{}", "--target", "orders", "--at", "noon", "--output", "json"),
            pattern(TimeText.NOT_A_TIME, text="noon", examples=TimeText.EXAMPLES),
        ),
        (
            ("replay", "{}", "--target", "orders", "--at", "2020-01-01", "-o", "json"),
            pattern(ReplayText.NOTHING_BEFORE),
        ),
        (("replay", "{}", "--target", "orders"), pattern(TerminalText.NO_TERMINAL)),
        (
            ("export", "{}", "{}/x", "--target", "orders", "--from", "-1s", "--to", "-5s"),
            pattern(ExportText.EMPTY_RANGE),
        ),
        (
            ("export", "{}", "{}/x", "--target", "orders", "--from", "2020-01-01", "--to", "2020-01-02"),
            pattern(ExportText.NOTHING_RECORDED),
        ),
        (
            ("export", "{}", "{}/no/x", "--target", "orders", "--from", "-5s", "--to", "+5s"),
            pattern(ExportText.UNWRITABLE),
        ),
    ],
)
def test_bad_input_is_said_in_a_line(tmp_path: Path, arguments: tuple[str, ...], fault: str) -> None:
    recorded(tmp_path, 3)
    recorded(tmp_path, 3, "other")
    (tmp_path / "no").write_text("a file, no folder")
    done = call(*(each.replace("{}", str(tmp_path)) for each in arguments))
    assert done.exit_code == 2, done.output
    assert re.search(fault, done.stderr) and done.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("14:03", datetime(2026, 11, 21, 13, 3, tzinfo=UTC)),
        ("14:03:20.5", datetime(2026, 11, 21, 13, 3, 20, 500_000, tzinfo=UTC)),
        ("23:30", datetime(2026, 11, 20, 22, 30, tzinfo=UTC)),
        ("2026-07-01 12:00", datetime(2026, 7, 1, 10, 0, tzinfo=UTC)),
        ("2026-11-21T01:02:03Z", datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)),
        ("-90s", datetime(2026, 11, 21, 14, 58, 30, tzinfo=UTC)),
        ("+1h", datetime(2026, 11, 21, 16, 0, tzinfo=UTC)),
    ],
)
def test_times_are_those_of_the_recording(text: str, wanted: datetime) -> None:
    near_at = datetime(2026, 11, 21, 15, 0, tzinfo=UTC).timestamp()
    assert parse_moment(text, "Europe/Berlin", near_at) == wanted.timestamp()


@pytest.mark.parametrize("text", ["", "25:00", "12:60", "yesterday", "-", "+x", "9999-99-99"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_moment(text, "Europe/Berlin", BEGIN)


def test_an_unknown_zone_is_utc() -> None:
    assert parse_moment("13:00", "Nowhere/Land", BEGIN) == BEGIN
