"""What a queue can sustain, and when it will be outgrown: a straight line through its days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LEAST_DAYS: Final = 14
"""Fewer whole days than this tell nothing about a trend: a week repeats itself once at least."""
_HORIZON_DAYS: Final = 3650.0


@dataclass(frozen=True, slots=True)
class Capacity:
    """``sustained``: messages per second popped in the best hour; ``daily``: pushed per second, the newest whole day.

    ``growth``: change of the push rate a day, messages per second; ``outgrown_days``: days until pushes reach what was
    sustained. ``None``: not known, or never; ``why`` says which.
    """

    sustained: float | None
    daily: float | None
    growth: float | None = None
    outgrown_days: float | None = None
    why: str = ""


def capacity(sustained: float | None, days: Sequence[tuple[int, float]]) -> Capacity:
    """From the best hour and the push rate of each day.

    Args:
        sustained: messages per second popped in the best hour; a queue that was never short of messages can do more.
        days: number of the day, messages pushed per second; in order.
    """
    daily = days[-1][1] if days else None
    if len(days) < LEAST_DAYS:
        return Capacity(sustained, daily, why=f"not enough history: {len(days)} of {LEAST_DAYS} days")
    growth, level = _line(days)
    if sustained is None:
        return Capacity(None, daily, growth, why="no whole hour of pops was seen")
    if growth <= 0:
        return Capacity(sustained, daily, growth, why="pushes do not grow")
    left = (sustained - level) / growth
    if left > _HORIZON_DAYS:
        return Capacity(sustained, daily, growth, why="not within ten years")
    return Capacity(sustained, daily, growth, max(0.0, left))


def _line(days: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Least squares: the slope a day, and where the line is on the last day."""
    n = len(days)
    mean_day = sum(day for day, _ in days) / n
    mean = sum(rate for _, rate in days) / n
    spread = sum((day - mean_day) ** 2 for day, _ in days)
    slope = sum((day - mean_day) * (rate - mean) for day, rate in days) / spread if spread else 0.0
    return slope, mean + slope * (days[-1][0] - mean_day)
