"""Compare the forecast for a recorded run with what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from qmon.model.forecast import AHEAD_S, Trend, forecast_drain
from qmon.model.rates.flow import Flow
from qmon.model.view import View

# The check uses the first forecast made this many seconds after the run began.
FORETOLD_AT_S: Final = 45.0
# A queue that keeps up has at most this many ready messages in a poll.
DRAINED: Final = 2


@dataclass(frozen=True)
class Foretold:
    """A run's forecast: seconds until the queue is empty, or its growth in messages per second, and the band around it.

    ``truth``: the real value, or ``None`` if it did not happen. A time falls between two polls; ``earliest`` is the
    poll before.
    """

    name: str
    trend: Trend
    said: float
    band: float
    truth: float | None
    earliest: float | None

    @property
    def held(self) -> bool:
        """True if the real value is within the band."""
        if self.truth is None or self.earliest is None:
            return False
        return self.said - self.band <= self.truth and self.earliest <= self.said + self.band

    @property
    def width(self) -> float:
        """The band to either side, as a share of the forecast."""
        return self.band / self.said if self.said else float("inf")

    def __str__(self) -> str:
        said = f"{self.trend} {self.said:6.1f} ± {self.band:5.1f} ({self.width:4.0%})"
        truth = "–" if self.truth is None else f"{self.truth:.1f}"
        return f"{self.name:<28} {said}  was {truth:>6}  {'' if self.held else 'NOT HELD'}"


def foretold(run: Mapping[str, Any], at_s: float = FORETOLD_AT_S) -> Foretold:
    """Return the forecast of a run at this moment, in seconds after it began."""
    ticks: list[list[float]] = run["ticks"]
    seconds, seen = 0.0, 0
    while seconds < at_s:
        seconds += ticks[seen][0]
        seen += 1
    ready = ticks[seen - 1][1]
    found = forecast_drain(ready, [(tick[0], Flow(tick[3], tick[4], None, tick[2])) for tick in ticks[:seen]])
    if found.trend is Trend.GROWING:
        truth = _growth(ready, ticks[seen:])
        return Foretold(run["name"], found.trend, found.growth or 0.0, found.growth_band or 0.0, truth, truth)
    earliest, truth = _drained(ticks[seen:])
    return Foretold(run["name"], found.trend, found.seconds or 0.0, found.band_s or 0.0, truth, earliest)


def _drained(ticks: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Return the two moments between which the queue was first empty, in seconds after the first tick."""
    seconds = 0.0
    for tick in ticks:
        if tick[1] <= DRAINED:
            return seconds, seconds + tick[0]
        seconds += tick[0]
    return None, None


def _growth(ready: float, ticks: Sequence[Sequence[float]]) -> float | None:
    """Return the growth over the time the band covers, in messages per second, by depth and not by rates."""
    seconds = 0.0
    for tick in ticks:
        seconds += tick[0]
        if seconds >= AHEAD_S:
            return (tick[1] - ready) / seconds
    return None


def foretold_live(name: str, views: Sequence[View], at_s: float) -> Foretold:
    """Return the first forecast ``at_s`` after the first view of a draining queue, and when the queue was empty."""
    began = views[0].sampled_at
    queues = [(view.sampled_at - began, queue) for view in views if (queue := view.queue(name)) is not None]
    at, first = next((t, queue.forecast) for t, queue in queues if t >= at_s)
    empty = [t for t, queue in queues if t > at and queue.ready.value is not None and queue.ready.value <= DRAINED]
    before = max((t for t, _ in queues if empty and t < empty[0]), default=at)
    truth, earliest = (empty[0] - at, before - at) if empty else (None, None)
    return Foretold(name, first.trend, first.seconds or 0.0, first.band_s or 0.0, truth, earliest)


def summary(found: Sequence[Foretold]) -> str:
    """Return a line for each run, the number of forecasts that held, and the median band."""
    held = sum(each.held for each in found)
    width = median(each.width for each in found)
    return "\n".join([*map(str, found), f"{held} of {len(found)} held, median band ± {width:.0%}"])
