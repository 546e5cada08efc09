"""A queue's history cut into equal steps of time, as many as a plot has columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from qmon.model.rates.series import Point, column

Reading = Literal["ready", "push_rate", "pop_rate"]
Values = list[float | None]

# Seconds a plot may span; the smallest that holds the history is used.
WINDOWS_S: Final = (30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 420.0, 600.0)


def window(history: Sequence[Point]) -> float:
    """The seconds that a plot of this history spans: what there is, at most ten minutes."""
    if not history:
        return WINDOWS_S[0]
    held = history[-1].at - history[0].at
    return next((w for w in WINDOWS_S if held <= w), WINDOWS_S[-1])


def spacing(times: Sequence[float]) -> float:
    """The usual seconds between two points at these times: the median of the newest twenty."""
    steps = sorted(b - a for a, b in pairwise(times[-21:]))
    return steps[len(steps) // 2] if steps else 0.0


def sample(history: Sequence[Point], reading: Reading, steps: int, window_s: float) -> Values:
    """The mean of ``reading`` in each of ``steps`` equal steps of the last ``window_s`` seconds, oldest first.

    A step without a point repeats the one before where points are merely further apart than steps; after a silence of
    more than three times the usual distance it is ``None``: what was not seen is not drawn.
    """
    return samples(history, (reading,), steps, window_s)[0]


def samples(history: Sequence[Point], readings: Sequence[Reading], steps: int, window_s: float) -> list[Values]:
    """``sample`` of several readings."""
    if not history or steps <= 0:
        return [[None] * max(0, steps) for _ in readings]
    times = column(history, "at")
    end, size = times[-1], window_s / steps
    starts = [bisect_left(times, end - window_s), *(_start(times, n, size) for n in range(steps - 1, 0, -1))]
    parts = list(pairwise([*starts, len(times)]))
    return [_means(times, column(history, reading), parts, size) for reading in readings]


def _means(times: array[float], values: array[float], parts: Sequence[tuple[int, int]], size: float) -> Values:
    out: Values = []
    end, mean, seen_at, hold = times[-1], None, float("-inf"), None
    for left, (start, stop) in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        known = values[start:stop]
        if (total := sum(known)) != total:  # one of them is not known
            places = [place for place in range(start, stop) if values[place] == values[place]]
            known, stop = array("d", (values[place] for place in places)), places[-1] + 1 if places else start
            total = sum(known)
        if known:
            mean, seen_at = total / len(known), times[stop - 1]
            out.append(mean)
        elif mean is None:
            out.append(None)
        else:
            hold = 3 * spacing(times) + size if hold is None else hold
            out.append(mean if end - left * size - seen_at <= hold else None)
    return out


def _start(times: Sequence[float], steps: int, size: float) -> int:
    """Where the newest so many steps begin; what lies where two of them meet is the older one's."""
    end = times[-1]
    place = bisect_right(times, end - steps * size)
    while place > 0 and (end - times[place - 1]) / size < steps:
        place -= 1
    while (end - times[place]) / size >= steps:
        place += 1
    return place


# The least top of a scale of messages: one message more or less is not made to look like a mountain.
FEW: Final = 10.0


def highest(*series: Sequence[float | None]) -> float:
    """The greatest value of all series, 0 where none is known."""
    return max((v for values in series for v in values if v is not None), default=0.0)


_ROUND: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float) -> float:
    """A round number at or above ``value``: the top of an axis, which so seldom moves. At least 1."""
    if value <= 1.0:
        return 1.0
    power = 1.0
    while power * 10 < value:
        power *= 10
    return next((power * r for r in _ROUND if power * r >= value), power * 10)
