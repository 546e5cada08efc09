"""Figures over time in memory: mean, minimum and maximum of each step. Older steps are longer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Final

from qmon.recording.history.buckets import Bins

# Numbers per figure and step: mean, minimum, maximum.
PER_FIGURE: Final = 3

# Weight of a reading that covers no time. This weight only matters if the step has no other reading.
_NO_TIME: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Tier:
    """Steps of ``step_s`` seconds. Only the newest ``most`` steps are kept."""

    step_s: float
    most: int


# The tiers cover a quarter of an hour, an hour and a day. A step of ten figures takes about 130 bytes.
TIERS: Final = (Tier(5.0, 190), Tier(20.0, 195), Tier(120.0, 720))


@dataclass(frozen=True, slots=True)
class ThinnedSteps:
    """A copy of one tier's steps, oldest first. ``numbers``: ``PER_FIGURE`` values for each figure of each step."""

    step_s: float
    starts: array[float]
    numbers: array[float]

    def fill_bins(self, bins: Bins, until_at: float) -> None:
        """Record the steps before ``until_at`` in ``bins``."""
        wide = bins.figures * PER_FIGURE
        for place, start in enumerate(self.starts):
            if start < until_at:
                end = min(until_at, start + self.step_s)
                bins.record_interval(start, end, self.numbers[place * wide : (place + 1) * wide])


class _Track:
    """The steps of one tier. New readings go into the newest step, which stays open."""

    __slots__ = ("_least", "_mean", "_most", "_numbers", "_start", "_starts", "_tier", "_weight")

    def __init__(self, tier: Tier) -> None:
        self._tier = tier
        self._starts = array("d")
        self._numbers = array("f")
        self._start = -1.0
        self._weight: list[float] = []
        self._mean: list[float] = []
        self._least: list[float] = []
        self._most: list[float] = []

    def record_reading(self, start: float, weight: float, values: Sequence[float | None]) -> None:
        if start != self._start:
            self._close_step(start)
            self._start = start
            size = len(values)
            self._weight, self._mean = [0.0] * size, [nan] * size
            self._least, self._most = [nan] * size, [nan] * size
        weights, means, least, most = self._weight, self._mean, self._least, self._most
        for at, value in enumerate(values):
            if value is None:
                continue
            if (before := weights[at]) == 0.0:
                means[at] = least[at] = most[at] = value
            else:
                means[at] += (value - means[at]) * weight / (before + weight)
                if value < least[at]:
                    least[at] = value
                elif value > most[at]:
                    most[at] = value
            weights[at] += weight

    def _close_step(self, start: float) -> None:
        """Store the open step. If the clock was set back, drop the steps after ``start``."""
        if self._start < 0:
            return
        self._starts.append(self._start)
        self._numbers.extend(self._flat_numbers())
        wide = PER_FIGURE * len(self._mean)
        while self._starts and self._starts[-1] >= start:
            self._starts.pop()
            del self._numbers[-wide:]
        if len(self._starts) >= self._tier.most + self._tier.most // 8:
            gone = len(self._starts) - self._tier.most
            del self._starts[:gone]
            del self._numbers[: gone * wide]

    def _flat_numbers(self) -> list[float]:
        return [n for each in zip(self._mean, self._least, self._most, strict=True) for n in each]

    def steps(self) -> ThinnedSteps:
        starts, numbers = self._starts[-self._tier.most :], self._numbers[:]
        if self._start >= 0:
            starts.append(self._start)
            numbers.extend(self._flat_numbers())
        wide = PER_FIGURE * len(self._mean)
        return ThinnedSteps(self._tier.step_s, starts, numbers[len(numbers) - len(starts) * wide :])


class ThinnedFigures:
    """A few figures over time. Not thread-safe."""

    __slots__ = ("_tiers", "_tracks")

    def __init__(self, tiers: Sequence[Tier] = TIERS) -> None:
        self._tiers = tuple(tiers)
        self._tracks = tuple(_Track(tier) for tier in tiers)

    def record_reading(self, at: float, span_s: float, values: Sequence[float | None]) -> None:
        """Record a reading at ``at`` (seconds) that covers ``span_s`` seconds."""
        for tier, track in zip(self._tiers, self._tracks, strict=True):
            track.record_reading(at // tier.step_s * tier.step_s, span_s or _NO_TIME, values)

    def steps(self) -> tuple[ThinnedSteps, ...]:
        """Return a copy of the steps of each tier, finest first."""
        return tuple(track.steps() for track in self._tracks)


def fill_bins(steps: Sequence[ThinnedSteps], bins: Bins) -> None:
    """Record steps in ``bins``. For each time, use the finest step that is available."""
    until_at = inf
    for each in steps:
        each.fill_bins(bins, until_at)
        if each.starts:
            until_at = min(until_at, each.starts[0])
