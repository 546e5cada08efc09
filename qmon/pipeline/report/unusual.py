"""Unusual hours: stretches in which the hourly mean of a figure lay outside what is usual at that hour of the week."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.model.baselines import Anomaly, Baselines
from qmon.pipeline.report.text import number, seconds

HOUR_S: Final = 3600.0
# Less than this of an hour says nothing about it.
_WATCHED_S: Final = 1800.0
# The figures that are compared: what is added up, and the seconds that it is divided by.
SUMS: Final[Mapping[str, tuple[str, str]]] = {
    "push_rate": ("pushed", "flow_s"),
    "pop_rate": ("popped", "flow_s"),
    "ready": ("ready_s", "ready_known_s"),
    "oldest_s": ("oldest_s", "oldest_known_s"),
    "in_progress": ("in_progress_s", "in_progress_known_s"),
}
# How they are called in the report.
NAMES: Final = {
    "push_rate": "pushes",
    "pop_rate": "pops",
    "ready": "ready",
    "oldest_s": "age",
    "in_progress": "in progress",
}


@dataclass(frozen=True, slots=True)
class Unusual:
    """Hours one after the other in which a figure was on the same side of its band.

    ``start``, ``end``: seconds since the epoch. ``worst``: the hour that was farthest out, with what is usual then.
    """

    target: str
    queue: str
    start: float
    end: float
    worst: Anomaly

    @property
    def words(self) -> str:
        """What was so: ``pushes 3.1 times the usual``, or where no ratio says it ``pushes 12 a second, usually 0``."""
        times, what = self.worst.ratio, NAMES[self.worst.figure]
        if times is not None:
            return f"{what} {number(times)} times the usual"
        return f"{what} {self.shown(self.worst.value)}, usually {self.shown(self.worst.band.median)}"

    def shown(self, value: float) -> str:
        """A value of its figure with its unit."""
        if self.worst.figure == "oldest_s":
            return seconds(value)
        return f"{number(value)}/s" if self.worst.figure.endswith("rate") else number(value)

    @property
    def distance(self) -> float:
        """How many times the half of its band the figure was away from its median."""
        band = self.worst.band
        reach = band.high - band.median
        return abs(self.worst.value - band.median) / reach if reach > 0 else 0.0


def unusual(baselines: Baselines, target: str, queue: str, hours: Iterable[Mapping[str, Any]]) -> tuple[Unusual, ...]:
    """The stretches of one queue, from the sums of its hours in their order; those farthest out first."""
    found: list[Unusual] = []
    opened: dict[str, Unusual] = {}
    for row in hours:
        at = row["start_at"]
        for figure, (total, known) in SUMS.items():
            band = baselines.band(target, queue, figure, at)
            over = row[known] or 0.0
            if band is None or over < _WATCHED_S or row[total] is None:
                continue
            value = row[total] / over
            if band.low <= value <= band.high:
                continue
            this = Unusual(target, queue, at, at + HOUR_S, Anomaly(figure, value, band))
            before = opened.get(figure)
            if before is not None and before.end == at and before.worst.above == this.worst.above:
                worst = max(before, this, key=lambda each: each.distance).worst
                this = replace(before, end=this.end, worst=worst)
                found.remove(before)
            opened[figure] = this
            found.append(this)
    return tuple(sorted(found, key=lambda each: (-each.distance, each.start, each.worst.figure)))
