"""What a queue can sustain, and when it will be outgrown: a straight line through its days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Fewer whole days than this tell nothing about a trend: a week repeats itself once at least.
LEAST_DAYS: Final = 14
_HORIZON_DAYS: Final = 3650.0


# Student's t for 95 % and the twelve degrees of freedom of `LEAST_DAYS`; more days would need less, down to 1.96.
_SIGMAS: Final = 2.18


@dataclass(frozen=True, slots=True)
class GrowthTrend:
    """The straight line through some days by least squares, and how sure it is.

    ``middle``, ``mean``: the day and the rate that it goes through; ``slope``: messages per second a day; ``spread``:
    sum of the squared distances of the days from ``middle``; ``sigma``: how far days are from the line, messages per
    second; ``days``: how many there are.
    """

    middle: float
    mean: float
    slope: float
    spread: float
    sigma: float
    days: int

    @classmethod
    def through(cls, days: Sequence[tuple[int, float]]) -> GrowthTrend:
        """Of at least three days: number of the day, rate."""
        n = len(days)
        middle, mean = sum(day for day, _ in days) / n, sum(rate for _, rate in days) / n
        spread = sum((day - middle) ** 2 for day, _ in days)
        slope = sum((day - middle) * (rate - mean) for day, rate in days) / spread
        away = sum((rate - mean - slope * (day - middle)) ** 2 for day, rate in days)
        return cls(middle, mean, slope, spread, math.sqrt(away / (n - 2)), n)

    def at(self, day: float) -> tuple[float, float, float]:
        """The line on a day, and the ends of its band (95 %)."""
        rate = self.mean + self.slope * (day - self.middle)
        reach = _SIGMAS * self.sigma * math.sqrt(1 / self.days + (day - self.middle) ** 2 / self.spread)
        return rate, rate - reach, rate + reach

    def reaches(self, rate: float) -> tuple[float, float, float] | None:
        """The day on which the line is at a rate, and when the ends of its band are, the earlier first.

        ``None`` where the band holds lines that do not grow: then there is no last day. (Fieller, 1954, "Some Problems
        in Interval Estimation".)
        """
        short, noise = self.mean - rate, (_SIGMAS * self.sigma) ** 2
        squared = self.slope**2 - noise / self.spread
        if self.slope <= 0 or squared <= 0:
            return None
        root = math.sqrt(max(0.0, (self.slope * short) ** 2 - squared * (short**2 - noise / self.days)))
        early, late = ((-self.slope * short + sign * root) / squared for sign in (-1, 1))
        return self.middle - short / self.slope, self.middle + early, self.middle + late


@dataclass(frozen=True, slots=True)
class Capacity:
    """``sustained``: messages per second popped in the best hour; ``daily``: pushed per second, the newest whole day.

    ``growth``: change of the push rate a day, messages per second; ``outgrown_days``: days until pushes reach what was
    sustained, by the band around the line between ``earliest_days`` and ``latest_days``. ``None``: not known, or never;
    ``why`` says which. ``trend``: the line with its band, from the first day on.
    """

    sustained: float | None
    daily: float | None
    growth: float | None = None
    outgrown_days: float | None = None
    earliest_days: float | None = None
    latest_days: float | None = None
    why: str = ""
    trend: GrowthTrend | None = None


def capacity(sustained: float | None, days: Sequence[tuple[int, float]]) -> Capacity:
    """From the best hour and the push rate of each day.

    Args:
        sustained: messages per second popped in the best hour; a queue that was never short of messages can do more.
        days: number of the day, messages pushed per second; in order.
    """
    daily = days[-1][1] if days else None
    if len(days) < LEAST_DAYS:
        return Capacity(sustained, daily, why=f"not enough history: {len(days)} of {LEAST_DAYS} days")
    trend = GrowthTrend.through(days)
    growth = trend.slope
    if sustained is None:
        return Capacity(None, daily, growth, why="no whole hour of pops was seen", trend=trend)
    if growth <= 0:
        return Capacity(sustained, daily, growth, why="pushes do not grow", trend=trend)
    last, reached = days[-1][0], trend.reaches(sustained)
    if reached is None:
        return Capacity(sustained, daily, growth, why="days differ more than pushes grow", trend=trend)
    left, earliest, latest = (max(0.0, day - last) for day in reached)
    if left > _HORIZON_DAYS:
        return Capacity(sustained, daily, growth, why="not within ten years", trend=trend)
    return Capacity(sustained, daily, growth, left, earliest, latest, trend=trend)
