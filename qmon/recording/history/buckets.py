"""Figures over time in equal steps: minimum, maximum, time-weighted mean and last value of each step.

Memory depends on the number of steps, not on the number of readings.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Maximum seconds that a poll covers: 2.5 times the longest poll interval, as on the dashboard.
LONGEST_SPAN_S: Final = 150.0

# Weight of a reading that covers no time (the first reading, or the first after a gap). This weight only matters if the
# step has no other reading.
_NO_TIME: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Bucket:
    """One figure in one step."""

    least: float
    most: float
    mean: float
    last: float


class Bins:
    """``count`` steps of ``step_s`` seconds from ``start_at``, for a fixed number of figures. Not thread-safe."""

    __slots__ = ("_last", "_last_at", "_least", "_most", "_total", "_weight", "count", "figures", "start_at", "step_s")

    def __init__(self, start_at: float, step_s: float, count: int, figures: int) -> None:
        self.start_at, self.step_s, self.count, self.figures = start_at, step_s, count, figures
        size = count * figures
        self._least = array("d", [float("inf")]) * size
        self._most = array("d", [float("-inf")]) * size
        self._total = array("d", [0.0]) * size
        self._weight = array("d", [0.0]) * size
        self._last = array("d", [0.0]) * size
        self._last_at = array("d", [float("-inf")]) * size

    def record_reading(self, at: float, span_s: float | None, values: Sequence[float | None]) -> None:
        """Record one reading of all figures at ``at``. Each value covers the ``span_s`` seconds before it."""
        span = span_s or 0.0
        place = int((at - self.start_at) // self.step_s)
        begin = int((at - span - self.start_at) // self.step_s)
        if begin == place:
            if 0 <= place < self.count:
                self._record_in_bin(place, at, span or _NO_TIME, values)
            return
        for each in range(max(0, begin), min(place, self.count - 1) + 1):
            left = self.start_at + each * self.step_s
            inside = min(at, left + self.step_s) - max(at - span, left)
            self._record_in_bin(each, min(at, left + self.step_s), max(inside, _NO_TIME), values)

    def _record_in_bin(self, place: int, at: float, weight: float, values: Sequence[float | None]) -> None:
        for figure, value in enumerate(values):
            if value is None:
                continue
            here = figure * self.count + place
            if value < self._least[here]:
                self._least[here] = value
            if value > self._most[here]:
                self._most[here] = value
            self._total[here] += value * weight
            self._weight[here] += weight
            if at >= self._last_at[here]:
                self._last[here], self._last_at[here] = value, at

    def record_interval(self, start_at: float, until_at: float, numbers: Sequence[float]) -> None:
        """Record an interval. ``numbers``: mean, minimum and maximum of the first figure, then of the next figure …"""
        first = max(0, int((start_at - self.start_at) // self.step_s))
        for place in range(first, self.count):
            left = self.start_at + place * self.step_s
            inside = min(until_at, left + self.step_s) - max(start_at, left)
            if inside <= 0:
                if left >= until_at:
                    return
                continue
            for figure in range(self.figures):
                mean, least, most = numbers[3 * figure : 3 * figure + 3]
                if mean != mean:  # NaN: unknown
                    continue
                here = figure * self.count + place
                self._least[here] = min(self._least[here], least)
                self._most[here] = max(self._most[here], most)
                self._total[here] += mean * inside
                self._weight[here] += inside
                self._last[here], self._last_at[here] = mean, until_at

    def merge_finer(self, other: Bins) -> None:
        """Merge finer steps. Each finer step must lie within one step of this object."""
        for place in range(other.count):
            here = int((other.start_at + (place + 0.5) * other.step_s - self.start_at) // self.step_s)
            if not 0 <= here < self.count:
                continue
            for figure in range(self.figures):
                mine, theirs = figure * self.count + here, figure * other.count + place
                if not other._weight[theirs]:
                    continue
                self._least[mine] = min(self._least[mine], other._least[theirs])
                self._most[mine] = max(self._most[mine], other._most[theirs])
                self._total[mine] += other._total[theirs]
                self._weight[mine] += other._weight[theirs]
                if other._last_at[theirs] >= self._last_at[mine]:
                    self._last[mine], self._last_at[mine] = other._last[theirs], other._last_at[theirs]

    def steps(self, figure: int) -> tuple[Bucket | None, ...]:
        """Return the steps of one figure. ``None``: the figure is unknown in that step."""
        return tuple(
            Bucket(self._least[i], self._most[i], self._total[i] / self._weight[i], self._last[i])
            if self._weight[i]
            else None
            for i in range(figure * self.count, (figure + 1) * self.count)
        )
