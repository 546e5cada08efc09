"""Any range of a recording, thinned out while it is read."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.recording.history.buckets import Bins, Bucket
from qmon.recording.history.collected_range import FIGURES
from qmon.recording.history.incidents import RunCollector, incidents_from_runs
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.history.recording_archive import RecordingArchive, archive_from_reader, live_archive
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.segment_export import export_range
from tests.recording.days import BEGIN, DONE_AT, EVERY_S, ZONE, depth, written

HOUR = 3600.0


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day's recording."""
    root = tmp_path_factory.mktemp("day")
    written(root)
    return root


def whole(archive: RecordingArchive, since_h: float, step_s: float, count: int, queue: str = "mails") -> PastRange:
    """Return a range, read to its end."""
    return list(RangeReader(archive).read_range(queue, BEGIN + since_h * HOUR, step_s, count))[-1]


def test_steps_hold_least_most_last_and_the_mean_by_time() -> None:
    bins = Bins(100.0, 10.0, 3, 1)
    bins.record_reading(102.0, 2.0, (4.0,))
    bins.record_reading(110.0, 8.0, (9.0,))
    bins.record_reading(118.0, None, (1.0,))
    first, second, third = bins.steps(0)
    assert first == Bucket(4.0, 9.0, (2 * 4.0 + 8 * 9.0) / 10, 9.0)
    assert second is not None and (second.least, second.most, second.last) == (1.0, 9.0, 1.0)
    assert third is None


def test_a_poll_stands_for_all_steps_since_the_one_before() -> None:
    bins = Bins(0.0, 1.0, 6, 1)
    bins.record_reading(1.5, 0.5, (3.0,))
    bins.record_reading(4.5, 3.0, (7.0,))
    assert [step.mean if step else None for step in bins.steps(0)] == [None, pytest.approx(5.0), 7.0, 7.0, 7.0, None]


@pytest.mark.parametrize("step_s", [45.0, 60.0, 600.0])
def test_a_range_equals_its_polls(day: Path, step_s: float) -> None:
    count = int(2 * HOUR / step_s)
    found = whole(live_archive(day, "orders-prod", ZONE), 6.5, step_s, count)
    assert found.read == 1.0 and not found.problem
    polls = [(BEGIN + n * EVERY_S, depth(n * EVERY_S / HOUR)) for n in range(int(24 * HOUR / EVERY_S))]
    for place, step in enumerate(found.steps["ready"]):
        since = found.since_at + place * step_s
        weights = [(max(0.0, min(at, since + step_s) - max(at - EVERY_S, since)), value, at) for at, value in polls]
        inside = [(weight, value) for weight, value, at in weights if weight > 0 or at == since]
        assert step is not None
        assert step.mean == pytest.approx(sum(w * v for w, v in inside) / sum(w for w, _ in inside), rel=1e-6)
        assert (step.least, step.most) == (min(v for _, v in inside), max(v for _, v in inside))


def test_rates_are_sums_over_time_and_what_was_not_recorded_is_a_hole(day: Path) -> None:
    found = whole(live_archive(day, "orders-prod", ZONE), 3.0, 600.0, 18)
    assert [step is None for step in found.steps["push_rate"]] == [False] * 6 + [True] * 6 + [False] * 6
    first = found.steps["push_rate"][0]
    assert first is not None and first.mean == pytest.approx(60.0, abs=1.5)
    assert all(step is None for step in found.steps["complete_rate"])


def test_incidents_and_operations_of_the_queue(day: Path) -> None:
    found = whole(live_archive(day, "orders-prod", ZONE), 0.0, 600.0, 144)
    assert [(each.cause, int(each.severity)) for each in found.incidents] == [
        ("stuck in progress", 3),
        ("consumers fall behind", 2),
    ]
    first = found.incidents[0]
    assert (first.began_at, first.first_at) == (BEGIN + 7 * HOUR - 60, BEGIN + 7 * HOUR)
    assert first.last_at == BEGIN + 7.5 * HOUR - EVERY_S
    (done,) = found.operations
    assert (done.at, done.operation.kind) == (BEGIN + DONE_AT * HOUR, "requeue")
    assert found.queues == ("mails", "orders")
    other = whole(live_archive(day, "orders-prod", ZONE), 0.0, 600.0, 144, "orders")
    assert [each.cause for each in other.incidents] == ["consumers fall behind"] and other.operations == ()
    assert all(step is None for step in other.steps["gap"])


def test_trouble_that_comes_back_soon_is_one_incident() -> None:
    runs = RunCollector()
    for at, code, severity in ((0, "a", 2), (10, "a", 2), (20, "", 0), (100, "b", 3), (300, "a", 2)):
        runs.record_verdict(at, code, severity, f"{code} at {at}", None)
    assert [(each.first_at, each.last_at, each.cause) for each in incidents_from_runs(runs.runs)] == [
        (0, 100, "b"),
        (300, 300, "a"),
    ]


def test_jumps_go_from_one_to_the_next(day: Path) -> None:
    archive = live_archive(day, "orders-prod", ZONE)
    at, found = BEGIN, []
    while (mark := archive.find_jump_point("mails", at, forward=True)) is not None:
        found.append((round((mark.at - BEGIN) / HOUR, 2), mark.kind))
        at = mark.at
    assert found == [(7.0, "verdict"), (7.4, "operation"), (11.0, "verdict")]
    back = archive.find_jump_point("mails", BEGIN + 7.4 * HOUR, forward=False)
    assert back is not None and back.at == BEGIN + 7 * HOUR
    assert archive.find_jump_point("mails", BEGIN + 7 * HOUR, forward=False) is None


def test_what_is_being_written_is_read_too(tmp_path: Path) -> None:
    written(tmp_path, 7.2, seal=False)
    paths = list_segments(tmp_path)
    assert paths[-1].name.startswith("_") and not paths[-2].name.startswith("_")
    archive = live_archive(tmp_path, "orders-prod", ZONE)
    for step_s in (20.0, 60.0):
        found = whole(archive, 6.9, step_s, int(0.3 * HOUR / step_s))
        assert all(step is not None for step in found.steps["ready"][:-3])
        assert [each.cause for each in found.incidents] == ["stuck in progress"]
    mark = archive.find_jump_point("mails", BEGIN, forward=True)
    assert mark is not None and mark.at == BEGIN + 7 * HOUR


def test_a_segment_is_read_once_for_long_ranges(day: Path, tmp_path: Path) -> None:
    shutil.copytree(day, tmp_path / "copy")
    pasts = RangeReader(live_archive(tmp_path / "copy", "orders-prod", ZONE))
    before = list(pasts.read_range("mails", BEGIN, 600.0, 144))[-1]
    for path in list_segments(tmp_path / "copy"):
        path.write_bytes(b"")
    assert list(pasts.read_range("mails", BEGIN, 600.0, 144))[-1] == before


def test_reading_stops_where_it_is_told_to(day: Path) -> None:
    asked = []

    def stopped() -> bool:
        asked.append(1)
        return len(asked) > 3

    found = list(RangeReader(live_archive(day, "orders-prod", ZONE)).read_range("mails", BEGIN, 600.0, 144, stopped))
    assert found[-1].read < 0.1


def test_damage_is_said_and_the_rest_is_shown(day: Path, tmp_path: Path) -> None:
    shutil.copytree(day, tmp_path / "copy")
    broken = list_segments(tmp_path / "copy")[7]
    data = bytearray(broken.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 400] = b"\x00" * 400
    broken.write_bytes(bytes(data))
    found = whole(live_archive(tmp_path / "copy", "orders-prod", ZONE), 0.0, 600.0, 144)
    assert found.problem.startswith(broken.name) and found.read == 1.0
    assert sum(step is not None for step in found.steps["ready"]) > 130


def test_an_older_recording_has_no_gap_and_may_have_no_figures(tmp_path: Path) -> None:
    written(tmp_path / "old", 1.0, change=lambda figures: replace(figures, gap=()))
    found = whole(live_archive(tmp_path / "old", "orders-prod", ZONE), 0.0, 60.0, 60)
    assert all(step is None for step in found.steps["gap"])
    assert sum(step is not None for step in found.steps["ready"]) >= 59
    nothing = whole(live_archive(tmp_path / "old", "orders-prod", ZONE), -5.0, 60.0, 60)
    assert all(step is None for name in FIGURES for step in nothing.steps[name]) and nothing.read == 1.0
    none = whole(live_archive(tmp_path / "none", "orders-prod", ZONE), 0.0, 60.0, 60)
    assert none.queues == () and none.incidents == ()


def test_an_exported_file_is_an_archive(tmp_path: Path) -> None:
    written(tmp_path / "day", 2.0, begin_at=BEGIN + 6.4 * HOUR, snapshots=24.0)
    export_range(open_recording(tmp_path / "day"), BEGIN + 6.5 * HOUR, BEGIN + 8 * HOUR, tmp_path / "incident.qmon")
    archive = archive_from_reader(open_recording(tmp_path / "incident.qmon"))
    assert archive.ends_at == BEGIN + 8 * HOUR and not archive.is_live
    found = whole(archive, 6.5, 60.0, 90)
    assert [each.cause for each in found.incidents] == ["stuck in progress"] and len(found.operations) == 1
    assert all(step is not None for step in found.steps["ready"])
