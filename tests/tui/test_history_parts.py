"""The parts of the history screen alone: the plot, its axis, and the shown range."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from qmon.model import formatting
from qmon.model.baseline_bands import Band
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.collected_range import FIGURES
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.history.recording_archive import RecordingArchive
from qmon.tui.history.history_panel import HistoryPanelText, axis_line, empty_reason
from qmon.tui.history.shown_range import SPANS_S, ShownRange
from qmon.tui.plots.range_plot import SCALE_CELLS, draw_cursor, range_plot_lines, scale_limits
from qmon.tui.spans import line_width

pytestmark = pytest.mark.unit

NOW = 1_795_255_200.0


def level(value: float) -> Bucket:
    """Return a constant figure."""
    return Bucket(value, value, value, value)


def band(low: float, high: float) -> Band:
    """Return the usual range."""
    return Band(low, high, (low + high) / 2, 9, "Tue 14:00")


def drawn(steps: list[Bucket | None], bands: list[Band | None], rows: int = 4, *, plain: bool = False) -> list[str]:
    """Return the plot without its scale."""
    lines = range_plot_lines(steps, bands, rows, formatting.count, plain=plain)
    assert {line_width(line) for line in lines} == {SCALE_CELLS + 1 + len(bands)}
    return ["".join(part for part, _ in line)[SCALE_CELLS + 1 :] for line in lines]


def test_the_line_its_spread_and_holes() -> None:
    steps: list[Bucket | None] = [level(10.0), Bucket(0.0, 10.0, 10.0, 5.0), None]
    lines = drawn(steps, [None] * 3, 2)
    assert lines[0][0] == "⠉" and lines[1][0] == " "
    assert lines[0][2] == lines[1][2] == " "
    assert lines[0][1] != " " and lines[1][1] != " ", "from nothing to ten"


@pytest.mark.parametrize("plain", [False, True], ids=["coloured", "plain"])
def test_the_band_is_seen_however_thin_it_is(plain: bool) -> None:
    none: list[Bucket | None] = [level(100.0), None, None, None]
    lines = range_plot_lines(none, [None, band(0.0, 50.0), None, band(49.0, 50.0)], 8, formatting.count, plain=plain)
    cells = [[(symbol, tone) for part, tone in line[2:] for symbol in part] for line in lines]
    assert [row[1] != (" ", "text") for row in cells] == [False] * 3 + [True] * 5
    assert {row[1] for row in cells[5:7]} == {("░" if plain else " ", "area")}, "the area between its edges"
    assert [row[3][1] for row in cells].count("band") in (1, 2)


def test_the_cursor_is_a_bar_that_leaves_what_is_drawn() -> None:
    above, below = range_plot_lines([level(0.0), level(0.0)], [None] * 2, 2, formatting.count)
    assert "".join(t for t, _ in draw_cursor(below, 1)).endswith("│⣀⣀")
    assert "".join(t for t, _ in draw_cursor(above, 1)).endswith("│ │")
    assert line_width(draw_cursor(above, 1)) == line_width(above)


def test_a_gap_below_zero_has_its_own_scale() -> None:
    assert scale_limits([level(-24.0), level(3.0)], [None] * 2) == (-30.0, 3.0)
    lines = range_plot_lines([level(-24.0), level(3.0)], [None] * 2, 4, formatting.count)
    assert "-30" in lines[-1][0][0] and lines[0][0][0].strip() == "3"


def test_nothing_at_all_is_drawn_as_nothing() -> None:
    assert drawn([None], [None]) == [" "] * 4
    assert drawn([level(0.0)], [None])[-1] == "⣀"


def empty(since: datetime, step_s: float, count: int) -> PastRange:
    """Return a range without any data."""
    return PastRange("mails", since.timestamp(), step_s, dict.fromkeys(FIGURES, (None,) * count))


def test_the_axis_is_that_of_the_clock_on_the_wall_also_over_the_end_of_summer_time() -> None:
    night = empty(datetime(2026, 10, 24, 20, 0, tzinfo=UTC), 600.0, 72)
    line = "".join(part for part, _ in axis_line(night, ZoneInfo("Europe/Berlin"), night.since_at + 3_600))
    assert line_width(((line, ""),)) == SCALE_CELLS + 1 + 72
    assert "╵22:00" in line and "╵Sun 25" in line and "▼" in line
    assert "╵03:00" in line, "it is an hour later than the ticks before it, and is labelled"


def shown(span: float = 86_400.0) -> ShownRange:
    """Return the range of a growing archive."""
    found = ShownRange(RangeReader(RecordingArchive(list[Path], "UTC", clock=lambda: NOW)))
    found.show_between(NOW - span, NOW)
    return found


@pytest.mark.parametrize("span", SPANS_S)
def test_a_range_has_its_span_and_whole_minutes_where_it_is_long(span: float) -> None:
    wanted = shown(span).request_for("mails", 216)
    assert wanted is not None
    assert span <= wanted.count * wanted.step_s + 1e-6 < 1.3 * span
    assert wanted.step_s < 400 or (wanted.step_s % 60 == 0 and wanted.since_at % 60 == 0)
    assert shown(span).request_for("mails", 10) is None


def test_a_range_ends_no_later_than_now_and_holds_something() -> None:
    found = shown()
    found.set_end(NOW - 50_000, NOW - 900_000, 216)
    assert (found.until_at, found.is_live, found.is_at_end) == (NOW - 50_000, False, False)
    found.set_end(NOW - 9e9, NOW - 100_000, 216)
    assert NOW - 100_000 < found.until_at < NOW - 50_000
    found.set_end(NOW + 5, NOW - 100_000, 216)
    assert found.is_live


def test_zooming_keeps_the_middle_the_cursor_or_the_end() -> None:
    found = shown(21_600.0)
    assert found.zoom(1, None, 0.0, 216) and found.is_live
    found.set_end(NOW - 500_000, 0.0, 216)
    middle = found.until_at - found.length_s(216) / 2
    assert found.zoom(-1, None, 0.0, 216)
    assert found.until_at - found.length_s(216) / 2 == pytest.approx(middle)
    at, share = middle + 700, (found.until_at - middle - 700) / found.length_s(216)
    assert found.zoom(-1, at, 0.0, 216)
    assert (found.until_at - at) / found.length_s(216) == pytest.approx(share), "it stays in its column"
    assert found.zoom(-1, None, 0.0, 216) and found.zoom(-1, None, 0.0, 216) and not found.zoom(-1, None, 0.0, 216)


def test_a_range_of_any_length_is_a_minute_at_least_and_zooms_to_the_next_span() -> None:
    found = shown()
    found.show_between(NOW - 5_000, NOW - 4_000)
    assert (found.span_name, found.until_at) == ("16 m 40 s", NOW - 4_000)
    assert found.length_s(100) == pytest.approx(1_000.0)
    assert found.zoom(1, None, 0.0, 100) and found.span_name == "1 h"
    found.show_between(NOW - 5_000, NOW - 4_999)
    assert found.length_s(100) == pytest.approx(60.0)
    assert found.zoom(1, None, 0.0, 100) and found.span_name == "5 m"


def test_a_moment_that_is_shown_stays_where_it_is_and_another_comes_into_the_middle() -> None:
    found = shown(3_600.0)
    found.show_around(NOW - 60, 100)
    assert found.is_live
    found.show_around(NOW - 50_000, 100)
    assert found.until_at == pytest.approx(NOW - 50_000 + 1_800)


def test_without_a_recording_the_range_grows_with_what_there_is() -> None:
    now = [NOW]
    found = ShownRange(RangeReader(memory=InMemoryHistory(lambda: now[0])))
    names = []
    for minutes in (1, 6, 20, 100):
        now[0] = NOW + 60 * minutes
        names.append(found.span_name)
    assert names == ["5 m", "15 m", "1 h", "1 h"]


def test_a_range_that_is_damaged_says_so() -> None:
    past = replace(empty(datetime(2026, 10, 24, tzinfo=UTC), 300.0, 4), problem="the file ends early")
    damaged = HistoryPanelText.DAMAGED.render(problem="the file ends early")
    assert empty_reason(past, "ready", NOW, NOW + 60, UTC) == damaged
