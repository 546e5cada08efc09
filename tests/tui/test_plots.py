"""Plots made of characters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.figure import Figure
from qmon.model.formatting import short_count, sparkline
from qmon.model.series import Point
from qmon.tui.overview.queue_rows import rows_for
from qmon.tui.overview.trend_panel import TrendsText, small_plot_lines
from qmon.tui.plots.glyphs import BLANK, bar_rows, dot_row, trace_line
from qmon.tui.plots.history_series import MIN_DEPTH_SCALE, highest_value, plot_window_s, round_up, sample_reading
from qmon.tui.plots.sparklines import sparklines_for
from qmon.tui.plots.throughput import SIDE_BY_SIDE, throughput_lines
from qmon.tui.queue.queue_panel import QueuePanelText, reading_lines
from qmon.tui.spans import Line, line_width
from tests.tui.scripted import history, queue
from tests.wordings import has

pytestmark = pytest.mark.unit


def point(at: float, ready: float | None, push: float | None = None) -> Point:
    return Point(at, ready, push, None, None, None, None)


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_a_sparkline_goes_from_zero_to_its_top() -> None:
    assert sparkline([0, 4, 8, None, 2], 8) == "▁▄█ ▂"
    assert sparkline([0, 0], 0) == "▁▁"


def test_bars_of_several_rows() -> None:
    assert bar_rows([0, 8, 16], 16, 2) == ["  █", "▁██"]


def test_steps_hold_means_and_silence_is_not_drawn() -> None:
    points = [point(at, at) for at in range(0, 20)] + [point(at, at) for at in range(50, 61)]
    values = sample_reading(points, "ready", 60, 60.0)
    assert values[-1] == 60.0
    assert values[40] is None
    assert values[15] == 16.0


def test_points_that_are_far_apart_still_make_a_line() -> None:
    points = [point(at, 7.0) for at in range(0, 61, 5)]
    assert sample_reading(points, "ready", 120, 60.0).count(None) <= 2


def test_unknown_values_leave_a_gap() -> None:
    points = [point(at, None if 20 <= at < 40 else 3.0) for at in range(0, 61)]
    values = sample_reading(points, "ready", 60, 60.0)
    assert None in values[22:36]
    assert values[50] == 3.0


def test_the_window_grows_with_the_history() -> None:
    assert plot_window_s([]) == 30.0
    assert plot_window_s(history(1, 1, 1, seconds=58)) == 60.0
    assert plot_window_s(history(1, 1, 1, seconds=200)) == 240.0
    assert plot_window_s(history(1, 1, 1, seconds=900)) == 600.0


@pytest.mark.parametrize(("value", "top"), [(0, 1), (0.3, 1), (1.2, 1.5), (18.3, 20), (91_204, 100_000), (100, 100)])
def test_axes_end_at_round_numbers(value: float, top: float) -> None:
    assert round_up(value) == top


@given(st.floats(0, 1e12))
def test_no_value_lies_above_its_axis(value: float) -> None:
    assert round_up(value) >= value


def test_values_beyond_the_scale_are_at_its_edge() -> None:
    assert [dot_row(value, 0, 10, 2) for value in (-5, 0, 10, 50)] == [7, 7, 0, 0]


def test_a_line_is_joined_and_a_dashed_one_has_holes() -> None:
    cells = trace_line([0, 4, None, 4], 4, 1)
    assert [chr(BLANK | b) for b in cells[0]] == ["⣀", "⠎", "⠀", "⠉"]
    solid, dashed = trace_line([1.0] * 8, 4, 1), trace_line([1.0] * 8, 4, 1, dashed=True)
    assert all(solid[0])
    assert 0 in dashed[0]


@pytest.mark.parametrize("cells", [40, 77, 120])
@pytest.mark.parametrize("rows", [3, 8, 21])
def test_every_line_of_the_plot_is_as_wide_as_the_panel(cells: int, rows: int) -> None:
    lines = throughput_lines(history(40_112, 91_204, 90_988), cells, rows)
    assert len(lines) == rows
    assert {line_width(line) for line in lines} == {cells}


def written(lines: list[Line]) -> list[str]:
    return ["".join(t for t, _ in line) for line in lines]


def test_the_plot_names_its_lines_both_scales_and_its_time() -> None:
    lines = written(throughput_lines(history(31, 18.3, 22.1), 80, 9))
    assert lines[0].startswith("messages/s   ━━ push 18.3   ━━ pop 22.1   ▄▄ depth 31 ")
    assert lines[0].endswith(" depth")
    assert lines[1].lstrip().startswith("30.0 │")
    assert lines[1].rstrip().endswith("│ 40")
    assert lines[7].lstrip().startswith("0 │")
    assert all(word in lines[8] for word in ("10 m 00 s ago", "5 m 00 s ago", "now"))


def test_where_there_is_room_depth_has_a_plot_beside_that_of_push_and_pop() -> None:
    lines = written(throughput_lines(history(31, 18.3, 22.1), SIDE_BY_SIDE, 9))
    assert {len(line) for line in lines} == {SIDE_BY_SIDE}
    assert lines[8].count("now") == 2
    assert lines[0].count("messages") == 2
    assert "30.0 │" in lines[1] and "40 │" in lines[1], "each has its scale to its left"


def test_a_column_is_the_average_of_its_time_and_not_noise() -> None:
    noisy = tuple(Point(float(at), 10.0, 5.0 + 5.0 * (at % 2), 7.5, None, None, None) for at in range(600))
    assert {round(v, 1) for v in sample_reading(noisy, "push_rate", 100, 600.0)[1:-1] if v is not None} == {7.5}


def test_the_area_below_the_depth_reaches_from_its_line_to_the_bottom() -> None:
    flat = tuple(Point(float(at), 5.0, None, None, None, None, None) for at in range(60))
    body = throughput_lines(flat, 60, 8)[1:-1]
    tones = [{tone for _, tone in line} for line in body]
    assert [("depth" in each, "area" in each) for each in tones] == [
        (False, False),
        (False, False),
        (True, False),
        (False, True),
        (False, True),
        (False, True),
    ]


def test_sparklines_fill_their_cells_from_the_first_minute_on() -> None:
    points = history(31, 18.3, 22.1, seconds=50)
    drawn = sparklines_for(queue("mails", ready=31, points=points), 12)["ready"]
    assert None not in drawn.values[2:]
    assert drawn.bars().count(" ") <= 2


def test_push_and_pop_have_one_scale_and_depth_its_own() -> None:
    found = sparklines_for(queue("mails", ready=31, push=18.3, pop=22.1), 12)
    assert found["push_rate"].top == found["pop_rate"].top > 22
    assert found["ready"].top >= 31


@given(st.lists(st.none() | st.floats(0, 1e9), min_size=1, max_size=700), st.none() | st.floats(0, 1e9))
def test_the_peak_is_the_greatest_value_that_the_plot_covers(values: list[float | None], ready: float | None) -> None:
    points = tuple(Point(float(at), value, None, None, None, None, None) for at, value in enumerate(values))
    mails = replace(queue("mails", points=points), ready=Figure(ready))
    drawn = sparklines_for(mails, 12)["ready"]
    within = [value for value in (*values[-601:], ready) if value is not None]
    assert drawn.peak == max(within, default=None)
    assert drawn.peak is None or all(drawn.peak >= value * 0.999 for value in drawn.values if value is not None)


def test_the_peak_is_the_same_on_all_panels_and_not_the_scale() -> None:
    points = tuple(Point(float(at), 0.0, 1.0, 1.0, None, None, None) for at in range(60))
    small = queue("mails", ready=3, points=points)
    assert sparklines_for(small, 12)["ready"].top == MIN_DEPTH_SCALE
    assert has(text_of(small_plot_lines(small, 100, 3)), TrendsText.LABEL, peak="3")
    assert has(text_of(reading_lines(small, 120)), QueuePanelText.PEAK, value="3")
    row = rows_for([small], 120)[0]
    assert any(cell.endswith(" 3") and cell.startswith("▁") for cell, _ in row.cells)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (999.4, "999"), (999.6, "1.0k"), (1_234, "1.2k"), (40_112, "40k"), (5e6, "5.0M"), (512e6, "512M")],
)
def test_numbers_in_four_characters(value: float, words: str) -> None:
    assert short_count(value) == words


def test_too_little_room_or_no_history_draws_nothing() -> None:
    assert throughput_lines((), 80, 10) == []
    assert throughput_lines(history(1, 1, 1), 30, 10) == []


def test_highest_of_nothing_is_zero() -> None:
    assert highest_value([None], []) == 0.0
