"""Axes of plots: positions of days and hours, and round values of a scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from qmon.model.formatting import short_duration
from qmon.pipeline.report.report_formatting import date_text, day_text, short_text

# Width of a picture in its own units. The browser stretches a picture to the width of the page.
WIDTH: Final = 1000.0
_HOUR_S: Final = 3600.0
_DAY_S: Final = 86400.0
_STEPS_S: Final = (
    60.0,
    300.0,
    900.0,
    1800.0,
    _HOUR_S,
    2 * _HOUR_S,
    3 * _HOUR_S,
    6 * _HOUR_S,
    12 * _HOUR_S,
    *(n * _DAY_S for n in (1, 2, 7, 14, 28, 91, 182, 365)),
)
_MAX_TICKS: Final = 8

# A tick to the right of this share of the width has no room for its label.
_LABEL_LIMIT: Final = 0.9
_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_AGES_S: Final = (
    1.0,
    2.0,
    5.0,
    10.0,
    20.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    1200.0,
    1800.0,
    _HOUR_S,
    2 * _HOUR_S,
    4 * _HOUR_S,
    6 * _HOUR_S,
    12 * _HOUR_S,
    *(n * _DAY_S for n in (1, 2, 4, 7, 14, 28)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Time from ``start`` to ``end``, seconds since the epoch, in steps of ``step_s`` seconds."""

    start: float
    end: float
    step_s: float

    def x(self, at: float) -> float:
        """Return the position of a moment in units of ``WIDTH``, clamped to the axis."""
        share = (at - self.start) / (self.end - self.start)
        return round(min(1.0, max(0.0, share)) * WIDTH, 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the positions where days or hours begin (UTC), with labels.

        A label is empty if there is no room for it.
        """
        length = self.end - self.start
        step = next((each for each in _STEPS_S if length / each <= _MAX_TICKS), _STEPS_S[-1])
        at = math.ceil(self.start / step) * step
        found = []
        while at < self.end:
            found.append((self.x(at), _tick_label(at, step) if self.x(at) <= _LABEL_LIMIT * WIDTH else ""))
            at += step
        return found


def _tick_label(at: float, step: float) -> str:
    if step > _DAY_S:
        return date_text(at)
    return day_text(at) if at % _DAY_S == 0 else f"{datetime.fromtimestamp(at, UTC):%H:%M}"


def scale_values(highest: float, *, ages: bool = False) -> list[tuple[float, str]]:
    """Return the values of a scale from 0 to at least ``highest``, with labels."""
    if ages:
        top = next((each for each in _AGES_S if each >= highest), None)
        if top is not None:
            return [(0.0, "0"), (top / 2, _age_label(top / 2)), (top, _age_label(top))]
        days = _round_up(highest / _DAY_S)
        return [(0.0, "0"), (days / 2 * _DAY_S, f"{days / 2:g}d"), (days * _DAY_S, f"{days:g}d")]
    top = _round_up(highest)
    return [(0.0, "0"), (top / 2, short_text(top / 2)), (top, short_text(top))]


def _age_label(seconds: float) -> str:
    return f"{seconds:g}s" if seconds < 60 else short_duration(seconds)


def _round_up(value: float) -> float:
    if value <= 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(each * size for each in _ROUND if each * size >= value * (1 - 1e-9))
