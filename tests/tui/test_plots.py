"""Plots made of characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.rates.series import Point
from qmon.model.text import sparkline
from qmon.tui.plots.glyphs import columns, trace
from qmon.tui.plots.series import highest, round_up, sample, window
from qmon.tui.plots.throughput import throughput
from qmon.tui.spans import line_width
from tests.tui.scripted import history

pytestmark = pytest.mark.unit


def point(at: float, ready: float | None, push: float | None = None) -> Point:
    return Point(at, ready, push, None, None, None, None)


def test_a_sparkline_goes_from_zero_to_its_top() -> None:
    assert sparkline([0, 4, 8, None, 2], 8) == "▁▄█ ▂"
    assert sparkline([0, 0], 0) == "▁▁"


def test_bars_of_several_rows() -> None:
    assert columns([0, 8, 16], 16, 2) == ["  █", "▁██"]


def test_steps_hold_means_and_silence_is_not_drawn() -> None:
    points = [point(at, at) for at in range(0, 20)] + [point(at, at) for at in range(50, 61)]
    values = sample(points, "ready", 60, 60.0)
    assert values[-1] == 60.0
    assert values[40] is None
    assert values[15] == 16.0


def test_points_that_are_far_apart_still_make_a_line() -> None:
    points = [point(at, 7.0) for at in range(0, 61, 5)]
    assert sample(points, "ready", 120, 60.0).count(None) <= 2


def test_unknown_values_leave_a_gap() -> None:
    points = [point(at, None if 20 <= at < 40 else 3.0) for at in range(0, 61)]
    values = sample(points, "ready", 60, 60.0)
    assert None in values[22:36]
    assert values[50] == 3.0


def test_the_window_grows_with_the_history() -> None:
    assert window([]) == 30.0
    assert window(history(1, 1, 1, seconds=58)) == 60.0
    assert window(history(1, 1, 1, seconds=200)) == 240.0
    assert window(history(1, 1, 1, seconds=900)) == 600.0


@pytest.mark.parametrize(("value", "top"), [(0, 1), (0.3, 1), (1.2, 1.5), (18.3, 20), (91_204, 100_000), (100, 100)])
def test_axes_end_at_round_numbers(value: float, top: float) -> None:
    assert round_up(value) == top


@given(st.floats(0, 1e12))
def test_no_value_lies_above_its_axis(value: float) -> None:
    assert round_up(value) >= value


def test_a_line_is_joined_and_a_dashed_one_has_holes() -> None:
    cells = trace([0, 4, None, 4], 4, 1)
    assert [hex(b) for b in cells[0]] == ["0x78", "0x8"]
    solid, dashed = trace([1.0] * 8, 4, 1), trace([1.0] * 8, 4, 1, dashed=True)
    assert all(solid[0])
    assert 0 in dashed[0]


@pytest.mark.parametrize("cells", [40, 77, 120])
@pytest.mark.parametrize("rows", [3, 8, 21])
def test_every_line_of_the_plot_is_as_wide_as_the_panel(cells: int, rows: int) -> None:
    lines = throughput(history(40_112, 91_204, 90_988), cells, rows)
    assert len(lines) == rows
    assert {line_width(line) for line in lines} == {cells}


def test_the_plot_names_its_lines_its_scale_and_its_time() -> None:
    lines = ["".join(t for t, _ in line) for line in throughput(history(31, 18.3, 22.1), 80, 9)]
    whole = "\n".join(lines)
    assert all(word in whole for word in ("push ", "pop ", "depth ", "/s", "−10 m", "−5 m"))
    assert lines[0].lstrip().startswith("30.0")


def test_names_that_would_collide_are_moved_apart() -> None:
    same = tuple(Point(at, 10.0, 10.0, 10.0, None, None, None) for at in range(60))
    lines = ["".join(t for t, _ in line) for line in throughput(same, 80, 6)]
    assert [sum(name in line for line in lines) for name in ("push 10", "pop 10", "depth 10")] == [1, 1, 1]


def test_too_little_room_or_no_history_draws_nothing() -> None:
    assert throughput((), 80, 10) == []
    assert throughput(history(1, 1, 1), 30, 10) == []


def test_highest_of_nothing_is_zero() -> None:
    assert highest([None], []) == 0.0
