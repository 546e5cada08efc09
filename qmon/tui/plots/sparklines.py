"""Sparklines over the last ten minutes or less, with the peak of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model import formatting
from qmon.model.view import QueueView
from qmon.tui.plots.history_series import (
    MIN_DEPTH_SCALE,
    Reading,
    Values,
    highest_value,
    peak_value,
    plot_window_s,
    sample_readings,
)

READINGS: Final[tuple[Reading, ...]] = ("ready", "push_rate", "pop_rate")


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The values of a sparkline, oldest first.

    Attributes:
        values: means of equal steps of time.
        top: the top of the scale.
        peak: the greatest single value, at least the current figure; ``None`` if it is unknown.
    """

    values: Values
    top: float
    peak: float | None

    def bars(self) -> str:
        """Return one line of blocks."""
        return formatting.sparkline(self.values, self.top)

    def peak_text(self) -> str:
        """Return the peak in at most four characters."""
        return formatting.UNKNOWN if self.peak is None else formatting.short_count(self.peak)


def sparklines_for(queue: QueueView, cells: int) -> dict[Reading, Sparkline]:
    """Return the sparklines of depth, push rate and pop rate. Push and pop share a scale."""
    found = sample_readings(queue.history, READINGS, cells, plot_window_s(queue.history))
    values = dict(zip(READINGS, found, strict=True))
    rates = highest_value(values["push_rate"], values["pop_rate"])
    return {
        name: Sparkline(values[name], _depth_top(values[name]) if name == "ready" else rates, _peak(queue, name))
        for name in READINGS
    }


def depth_sparkline(queue: QueueView, cells: int) -> Sparkline:
    """Return the sparkline of depth alone."""
    (values,) = sample_readings(queue.history, ("ready",), cells, plot_window_s(queue.history))
    return Sparkline(values, _depth_top(values), _peak(queue, "ready"))


def _depth_top(values: Values) -> float:
    return max(MIN_DEPTH_SCALE, highest_value(values))


def _peak(queue: QueueView, reading: Reading) -> float | None:
    figure = {"ready": queue.ready, "push_rate": queue.push_rate, "pop_rate": queue.pop_rate}[reading]
    return peak_value(queue.history, reading, figure.value)
