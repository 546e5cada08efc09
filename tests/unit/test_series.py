"""Points are decoded unchanged, from a block of numbers of limited size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.series import Point, Series, SeriesRecorder, figure_column

figures = st.none() | st.floats(allow_nan=False, allow_infinity=False)
points = st.builds(
    Point, st.floats(allow_nan=False, allow_infinity=False), figures, figures, figures, figures, figures, figures
)


@given(st.lists(points, max_size=40).map(lambda given: sorted(given, key=lambda point: point.at)))
def test_points_come_back_as_they_were(given_points: list[Point]) -> None:
    recorder = SeriesRecorder(1000)
    for point in given_points:
        recorder.record_point(point)
    series = recorder.series()
    assert len(series) == len(given_points)
    assert list(series) == given_points
    assert [series[n] for n in range(len(series))] == given_points
    assert series[-3:] == given_points[-3:]
    known = [figure == figure for figure in figure_column(series, "ready")]
    assert known == [point.ready is not None for point in given_points]
    assert figure_column(given_points, "at") == figure_column(series, "at")


def test_what_lies_after_now_goes_where_the_clock_is_put_back() -> None:
    recorder = SeriesRecorder(1000)
    for at in (1.0, 2.0, 3.0, 4.0):
        recorder.record_point(Point(at, at, None, None, None, None, None))
    before = recorder.series()
    recorder.record_point(Point(2.5, 9.0, None, None, None, None, None))
    assert [point.at for point in recorder.series()] == [1.0, 2.0, 2.5]
    assert [point.at for point in before] == [1.0, 2.0, 3.0, 4.0]


@given(st.integers(1, 60))
def test_only_the_newest_are_kept(count: int) -> None:
    recorder = SeriesRecorder(16)
    for n in range(count):
        recorder.record_point(Point(float(n), None, None, None, None, None, None))
    assert [point.at for point in recorder.series()] == [float(n) for n in range(max(0, count - 16), count)]


def test_a_series_does_not_change_afterwards() -> None:
    recorder = SeriesRecorder(4)
    recorder.record_point(Point(1.0, 2.0, None, None, None, None, None))
    before = recorder.series()
    recorder.record_point(Point(2.0, 3.0, None, None, None, None, None))
    for n in range(3, 20):
        recorder.record_point(Point(float(n), None, None, None, None, None, None))
    assert [p.at for p in before] == [1.0]
    assert before[0] == before[-1] == Point(1.0, 2.0, None, None, None, None, None)
    assert len(Series()) == 0
    with pytest.raises(IndexError):
        before[1]
