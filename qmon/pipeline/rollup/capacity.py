"""Computes the rate that a queue can sustain, and fits a line through its days to find when pushes reach this rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.texts import Text


class NoForecastText(Text):
    """Why it is unknown when pushes reach the pop rate of the best hour."""

    SHORT_HISTORY = "not enough history: {days} of {needed} days"
    NO_FULL_HOUR = "no full hour of pops was watched"
    NO_GROWTH = "pushes are not growing"
    UNCERTAIN = "the days differ more than pushes grow"
    FAR_AWAY = "not within ten years"


# Minimum whole days for a trend, so that every day of the week occurs twice.
MIN_DAYS: Final = 14
_HORIZON_DAYS: Final = 3650.0


# Student's t for 95 % and the twelve degrees of freedom of `MIN_DAYS`. With more days, the factor falls to 1.96.
_SIGMAS: Final = 2.18


@dataclass(frozen=True, slots=True)
class GrowthTrend:
    """The least squares line through some days, and the uncertainty of this line.

    ``middle``, ``mean``: the mean day and the mean rate. The line passes through this point. ``slope``: messages per
    second per day. ``spread``: sum of the squared distances of the days from ``middle``. ``sigma``: deviation of days
    from the line, messages per second. ``days``: number of days.
    """

    middle: float
    mean: float
    slope: float
    spread: float
    sigma: float
    days: int

    @classmethod
    def fit(cls, daily_rates: Sequence[tuple[int, float]]) -> GrowthTrend:
        """Fit a line to at least three days, each given as day number and rate."""
        n = len(daily_rates)
        middle, mean = sum(day for day, _ in daily_rates) / n, sum(rate for _, rate in daily_rates) / n
        spread = sum((day - middle) ** 2 for day, _ in daily_rates)
        slope = sum((day - middle) * (rate - mean) for day, rate in daily_rates) / spread
        away = sum((rate - mean - slope * (day - middle)) ** 2 for day, rate in daily_rates)
        return cls(middle, mean, slope, spread, math.sqrt(away / (n - 2)), n)

    def rate_on(self, day: float) -> tuple[float, float, float]:
        """Return the line's rate on a day, and the lower and upper end of the line's 95 % band."""
        rate = self.mean + self.slope * (day - self.middle)
        reach = _SIGMAS * self.sigma * math.sqrt(1 / self.days + (day - self.middle) ** 2 / self.spread)
        return rate, rate - reach, rate + reach

    def day_reaching(self, rate: float) -> tuple[float, float, float] | None:
        """Return the day on which the line reaches a rate, and the earliest and latest day according to its band.

        ``None`` if the band includes lines that do not grow, because then there is no latest day. (Fieller, 1954, "Some
        Problems in Interval Estimation".)
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
    """The capacity of a queue.

    ``sustained``: messages per second popped in the best hour. ``daily``: messages per second pushed on the newest
    whole day. ``growth``: change of the push rate per day, messages per second. ``outgrown_days``: days until pushes
    reach ``sustained``; according to the band, between ``earliest_days`` and ``latest_days``. ``None``: unknown or
    never, and ``why`` gives the reason. ``trend``: the line with its band, from the first day.
    """

    sustained: float | None
    daily: float | None
    growth: float | None = None
    outgrown_days: float | None = None
    earliest_days: float | None = None
    latest_days: float | None = None
    why: str = ""
    trend: GrowthTrend | None = None


def estimate_capacity(sustained_rate: float | None, daily_rates: Sequence[tuple[int, float]]) -> Capacity:
    """Compute the capacity from the best hour and the push rate of each day.

    Args:
        sustained_rate: messages per second popped in the best hour. A queue that was always empty can sustain more.
        daily_rates: day number and messages pushed per second, in order.
    """
    daily = daily_rates[-1][1] if daily_rates else None
    if len(daily_rates) < MIN_DAYS:
        short = NoForecastText.SHORT_HISTORY.render(days=len(daily_rates), needed=MIN_DAYS)
        return Capacity(sustained_rate, daily, why=short)
    trend = GrowthTrend.fit(daily_rates)
    growth = trend.slope
    if sustained_rate is None:
        return Capacity(None, daily, growth, why=NoForecastText.NO_FULL_HOUR.render(), trend=trend)
    if growth <= 0:
        return Capacity(sustained_rate, daily, growth, why=NoForecastText.NO_GROWTH.render(), trend=trend)
    last, reached = daily_rates[-1][0], trend.day_reaching(sustained_rate)
    if reached is None:
        return Capacity(sustained_rate, daily, growth, why=NoForecastText.UNCERTAIN.render(), trend=trend)
    left, earliest, latest = (max(0.0, day - last) for day in reached)
    if left > _HORIZON_DAYS:
        return Capacity(sustained_rate, daily, growth, why=NoForecastText.FAR_AWAY.render(), trend=trend)
    return Capacity(sustained_rate, daily, growth, left, earliest, latest, trend=trend)
