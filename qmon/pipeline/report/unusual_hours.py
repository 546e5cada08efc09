"""Unusual hours: runs of hours in which the mean of a figure was outside the baseline of the hour of the week."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.model.baseline_bands import Anomaly, Baselines
from qmon.model.queue_figures import BANDED_FIGURES
from qmon.pipeline.report.report_formatting import duration_text, number_text
from qmon.texts import Text


class UnusualText(Text):
    """Descriptions of unusual hours."""

    TIMES_USUAL = "{figure} {ratio} times the usual"
    USUALLY = "{figure} {value}, usually {usual}"


HOUR_S: Final = 3600.0

# Minimum watched seconds of an hour. Hours that were watched for less are not compared.
_WATCHED_S: Final = 1800.0

# The names of the compared figures in the report.
FIGURE_NAMES: Final = {
    "push_rate": "pushes",
    "pop_rate": "pops",
    "ready": "ready",
    "oldest_s": "age",
    "in_progress": "in progress",
}

# The compared figures: the column with the sum, and the column with the seconds to divide the sum by.
SUMS: Final[Mapping[str, tuple[str, str]]] = {name: BANDED_FIGURES[name].lake_columns for name in FIGURE_NAMES}


@dataclass(frozen=True, slots=True)
class UnusualStretch:
    """Consecutive hours in which a figure was on the same side of its band.

    ``start``, ``end``: seconds since the epoch. ``worst``: the hour farthest outside its band, with its baseline.
    """

    target: str
    queue: str
    start: float
    end: float
    worst: Anomaly

    @property
    def description(self) -> str:
        """Describe the hours: ``pushes 3.1 times the usual``; without a ratio ``pushes 12 a second, usually 0``."""
        times, what = self.worst.ratio, FIGURE_NAMES[self.worst.figure]
        if times is not None:
            return UnusualText.TIMES_USUAL.render(figure=what, ratio=number_text(times))
        value, usual = self.value_text(self.worst.value), self.value_text(self.worst.band.median)
        return UnusualText.USUALLY.render(figure=what, value=value, usual=usual)

    def value_text(self, value: float) -> str:
        """Format a value of the figure with its unit."""
        if self.worst.figure == "oldest_s":
            return duration_text(value)
        return f"{number_text(value)}/s" if self.worst.figure.endswith("rate") else number_text(value)

    @property
    def distance(self) -> float:
        """Distance from the median, in half widths of the band."""
        band = self.worst.band
        reach = band.high - band.median
        return abs(self.worst.value - band.median) / reach if reach > 0 else 0.0


def find_unusual_hours(
    baselines: Baselines, target: str, queue: str, hours: Iterable[Mapping[str, Any]]
) -> tuple[UnusualStretch, ...]:
    """Return the unusual hours of one queue, farthest outside first. ``hours``: its hourly sums in order."""
    found: list[UnusualStretch] = []
    opened: dict[str, UnusualStretch] = {}
    for row in hours:
        at = row["start_at"]
        for figure, (total, known) in SUMS.items():
            band = baselines.band_at(target, queue, figure, at)
            over = row[known] or 0.0
            if band is None or over < _WATCHED_S or row[total] is None:
                continue
            value = row[total] / over
            if band.low <= value <= band.high:
                continue
            this = UnusualStretch(target, queue, at, at + HOUR_S, Anomaly(figure, value, band))
            before = opened.get(figure)
            if before is not None and before.end == at and before.worst.is_above == this.worst.is_above:
                worst = max(before, this, key=lambda each: each.distance).worst
                this = replace(before, end=this.end, worst=worst)
                found.remove(before)
            opened[figure] = this
            found.append(this)
    return tuple(sorted(found, key=lambda each: (-each.distance, each.start, each.worst.figure)))
