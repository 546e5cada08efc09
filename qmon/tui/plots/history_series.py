"""Cuts a queue's history into equal steps of time, one per column of a plot."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from qmon.model.series import Point, figure_column, series_span_s

Reading = Literal["ready", "push_rate", "pop_rate"]
Values = list[float | None]

# The spans of plots in seconds. A plot uses the shortest span that contains the history.
WINDOWS_S: Final = (30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 420.0, 600.0)


def plot_window_s(history: Sequence[Point]) -> float:
    """Return the number of seconds that a plot of this history spans: at most ten minutes."""
    held = series_span_s(history)
    return next((w for w in WINDOWS_S if held <= w), WINDOWS_S[-1])


def usual_spacing_s(times: Sequence[float]) -> float:
    """Return the usual number of seconds between two points: the median of the newest twenty distances."""
    steps = sorted(b - a for a, b in pairwise(times[-21:]))
    return steps[len(steps) // 2] if steps else 0.0


def sample_reading(history: Sequence[Point], reading: Reading, steps: int, window_s: float) -> Values:
    """Return the means of ``reading`` in ``steps`` equal steps of the last ``window_s`` seconds, oldest first.

    A step without a point repeats the previous value, because points may be further apart than steps. But if the last
    point is more than three times the usual distance away, the step is ``None``. So a gap always means no data.
    """
    return sample_readings(history, (reading,), steps, window_s)[0]


def sample_readings(history: Sequence[Point], readings: Sequence[Reading], steps: int, window_s: float) -> list[Values]:
    """Return the results of ``sample_reading`` for several readings."""
    if not history or steps <= 0:
        return [[None] * max(0, steps) for _ in readings]
    times = figure_column(history, "at")
    end, size = times[-1], window_s / steps
    starts = [bisect_left(times, end - window_s), *(_step_start(times, n, size) for n in range(steps - 1, 0, -1))]
    parts = list(pairwise([*starts, len(times)]))
    return [_step_means(times, figure_column(history, reading), parts, size) for reading in readings]


def _step_means(times: array[float], values: array[float], parts: Sequence[tuple[int, int]], size: float) -> Values:
    out: Values = []
    end, mean, seen_at, hold = times[-1], None, float("-inf"), None
    for left, (start, stop) in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        known = values[start:stop] if start < stop else ()
        if (total := sum(known)) != total:  # one value is NaN, which means unknown
            places = [place for place in range(start, stop) if values[place] == values[place]]
            known, stop = array("d", (values[place] for place in places)), places[-1] + 1 if places else start
            total = sum(known)
        if known:
            mean, seen_at = total / len(known), times[stop - 1]
            out.append(mean)
        elif mean is None:
            out.append(None)
        else:
            hold = 3 * usual_spacing_s(times) + size if hold is None else hold
            out.append(mean if end - left * size - seen_at <= hold else None)
    return out


def _step_start(times: Sequence[float], steps: int, size: float) -> int:
    """Return the index where the newest ``steps`` steps begin. A point on a boundary belongs to the older step."""
    end = times[-1]
    place = bisect_right(times, end - steps * size)
    while place > 0 and (end - times[place - 1]) / size < steps:
        place -= 1
    while (end - times[place]) / size >= steps:
        place += 1
    return place


# The minimum top of a scale of messages. With a lower top, a single message would look like a peak.
MIN_DEPTH_SCALE: Final = 10.0


def highest_value(*series: Sequence[float | None]) -> float:
    """Return the greatest value of all series, or 0 if no value is known."""
    return max((v for values in series for v in values if v is not None), default=0.0)


def peak_value(history: Sequence[Point], reading: Reading, current: float | None = None) -> float | None:
    """Return the greatest value that a plot of this history covers, or ``current`` if it is greater.

    A plot shows means, which are lower than a short peak. ``None`` if no value is known.
    """
    values = figure_column(history, reading)
    if series_span_s(history) > WINDOWS_S[-1]:
        times = figure_column(history, "at")
        values = values[bisect_left(times, times[-1] - WINDOWS_S[-1]) :]
    known = values if (total := sum(values)) == total else [value for value in values if value == value]  # NaN: unknown
    peak = max(known, default=current)
    return peak if current is None or peak is None else max(peak, current)


_ROUND: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float) -> float:
    """Return a round number at or above ``value``, at least 1. So the top of an axis seldom changes."""
    if value <= 1.0:
        return 1.0
    power = 1.0
    while power * 10 < value:
        power *= 10
    return next((power * r for r in _ROUND if power * r >= value), power * 10)
