"""A queue's history cut into equal steps of time, as many as a plot has columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from qmon.model.rates.series import Point

Reading = Literal["ready", "push_rate", "pop_rate"]
Values = list[float | None]

WINDOWS_S: Final = (30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 420.0, 600.0)
"""Seconds a plot may span; the smallest that holds the history is used."""


def window(history: Sequence[Point]) -> float:
    """The seconds that a plot of this history spans: what there is, at most ten minutes."""
    if not history:
        return WINDOWS_S[0]
    held = history[-1].at - history[0].at
    return next((w for w in WINDOWS_S if held <= w), WINDOWS_S[-1])


def spacing(history: Sequence[Point]) -> float:
    """The usual seconds between two points: the median of the newest twenty."""
    newest = [p.at for p in history[-21:]]
    steps = sorted(b - a for a, b in pairwise(newest))
    return steps[len(steps) // 2] if steps else 0.0


def sample(history: Sequence[Point], reading: Reading, steps: int, window_s: float) -> Values:
    """The mean of ``reading`` in each of ``steps`` equal steps of the last ``window_s`` seconds, oldest first.

    A step without a point repeats the one before where points are merely further apart than steps; after a silence of
    more than three times the usual distance it is ``None``: what was not seen is not drawn.
    """
    out: Values = [None] * steps
    if not history or steps <= 0:
        return out
    end = history[-1].at
    size = window_s / steps
    hold = 3 * spacing(history) + size
    seen_at: float | None = None
    sums, counts, last_at = [0.0] * steps, [0] * steps, [0.0] * steps
    for point in history:
        value = getattr(point, reading)
        back = end - point.at
        if value is None or back > window_s:
            continue
        index = min(steps - 1, max(0, steps - 1 - int(back / size)))
        sums[index] += value
        counts[index] += 1
        last_at[index] = point.at
    previous: float | None = None
    for index in range(steps):
        if counts[index]:
            previous, seen_at = sums[index] / counts[index], last_at[index]
            out[index] = previous
        elif previous is not None and seen_at is not None and end - (steps - 1 - index) * size - seen_at <= hold:
            out[index] = previous
    return out


FEW: Final = 10.0
"""The least top of a scale of messages: one message more or less is not made to look like a mountain."""


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
