"""The parts of the history screen by themselves: the plot, its axis, and which range is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from qmon.model import text
from qmon.model.baselines import Band
from qmon.recording.history.archive import RecordingArchive
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.range_query import FIGURES, Past
from qmon.tui.history.panel import axis, nothing
from qmon.tui.history.plot import LEFT, limits, plot
from qmon.tui.history.range import SPANS_S, Range
from qmon.tui.spans import line_width

pytestmark = pytest.mark.unit

NOW = 1_795_255_200.0


def level(value: float) -> Bucket:
    """A figure that stood still."""
    return Bucket(value, value, value, value)


def band(low: float, high: float) -> Band:
    """What is usual."""
    return Band(low, high, (low + high) / 2, 9, "Tue 14:00")


def drawn(steps: list[Bucket | None], bands: list[Band | None], rows: int = 4, *, plain: bool = False) -> list[str]:
    """The plot without its scale."""
    lines = plot(steps, bands, rows, text.count, plain=plain)
    assert {line_width(line) for line in lines} == {LEFT + 1 + len(bands)}
    return ["".join(part for part, _ in line)[LEFT + 1 :] for line in lines]


def test_the_line_its_spread_and_holes() -> None:
    steps: list[Bucket | None] = [level(10.0), level(10.0), Bucket(0.0, 10.0, 5.0, 5.0), None, None, None]
    lines = drawn(steps, [None] * 3, 2)
    assert lines[0][0] == "⠉" and lines[1][0] == " "
    assert lines[0][2] == lines[1][2] == " "
    assert lines[0][1] != " " and lines[1][1] != " ", "from nothing to ten"


@pytest.mark.parametrize("plain", [False, True], ids=["coloured", "plain"])
def test_the_band_is_seen_however_thin_it_is(plain: bool) -> None:
    none: list[Bucket | None] = [level(100.0), level(100.0), None, None, None, None]
    lines = drawn(none, [None, band(0.0, 50.0), band(49.0, 50.0)], plain=plain)
    assert [line[1] for line in lines] == ([" ", " ", "░", "░"] if plain else [" ", " ", "█", "█"])
    assert sum(line[2] != " " for line in lines) == 1


def test_a_gap_below_zero_has_its_own_scale() -> None:
    assert limits([level(-24.0), level(3.0)], [None]) == (-30.0, 3.0)
    lines = plot([level(-24.0), level(3.0)], [None], 4, text.count)
    assert "-30" in lines[-1][0][0] and lines[0][0][0].strip() == "3"


def test_nothing_at_all_is_drawn_as_nothing() -> None:
    assert drawn([None, None], [None]) == [" "] * 4
    assert drawn([level(0.0), level(0.0)], [None])[-1] == "⣀"


def empty(since: datetime, step_s: float, count: int) -> Past:
    """A range of which nothing is known."""
    return Past("mails", since.timestamp(), step_s, dict.fromkeys(FIGURES, (None,) * count))


def test_the_axis_is_that_of_the_clock_on_the_wall_also_over_the_end_of_summer_time() -> None:
    night = empty(datetime(2026, 10, 24, 20, 0, tzinfo=UTC), 300.0, 144)
    line = "".join(part for part, _ in axis(night, ZoneInfo("Europe/Berlin"), night.since_at + 3_600, 72))
    assert line_width(((line, ""),)) == LEFT + 1 + 72
    assert "╵22:00" in line and "╵Sun 25" in line and "▼" in line
    assert "╵03:00" in line, "it is an hour later than the ticks before it, and says so"


def shown(span: int = 3) -> Range:
    """Of an archive that goes on."""
    found = Range(RecordingArchive(list[Path], "UTC", clock=lambda: NOW))
    found.span = span
    return found


@pytest.mark.parametrize("span", range(len(SPANS_S)))
def test_a_range_has_its_span_and_whole_minutes_where_it_is_long(span: int) -> None:
    wanted = shown(span).wanted("mails", 216)
    assert wanted is not None
    assert SPANS_S[span] <= wanted.count * wanted.step_s + 1e-6 < 1.3 * SPANS_S[span]
    assert wanted.step_s < 180 or (wanted.step_s % 60 == 0 and wanted.since_at % 60 == 0)
    assert shown(span).wanted("mails", 10) is None


def test_a_range_ends_no_later_than_now_and_holds_something() -> None:
    found = shown()
    found.end_at(NOW - 50_000, NOW - 900_000, 216)
    assert (found.until_at, found.follows, found.at_end) == (NOW - 50_000, False, False)
    found.end_at(NOW - 9e9, NOW - 100_000, 216)
    assert NOW - 100_000 < found.until_at < NOW - 50_000
    found.end_at(NOW + 5, NOW - 100_000, 216)
    assert found.follows


def test_zooming_keeps_the_middle_or_the_end() -> None:
    found = shown(2)
    assert found.zoom(1, None, 0.0, 216) and found.follows
    found.end_at(NOW - 500_000, 0.0, 216)
    middle = found.until_at - found.length_s(216) / 2
    assert found.zoom(-1, None, 0.0, 216)
    assert found.until_at - found.length_s(216) / 2 == pytest.approx(middle)
    assert found.zoom(-1, middle + 700, 0.0, 216)
    assert found.until_at - found.length_s(216) / 2 == pytest.approx(middle + 700)
    assert found.zoom(-1, None, 0.0, 216) and not found.zoom(-1, None, 0.0, 216)


def test_a_range_that_is_damaged_says_so() -> None:
    past = replace(empty(datetime(2026, 10, 24, tzinfo=UTC), 300.0, 4), problem="the file ends early")
    assert nothing(past, "ready", NOW, NOW + 60, UTC) == "damaged: the file ends early"
