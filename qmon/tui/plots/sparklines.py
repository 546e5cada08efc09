"""Sparklines over the last ten minutes or less. They share one scale, or a label shows the top of each scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.formatting import sparkline
from qmon.model.series import Point
from qmon.tui.plots.history_series import (
    MIN_DEPTH_SCALE,
    Reading,
    Values,
    highest_value,
    plot_window_s,
    sample_readings,
)

READINGS: Final[tuple[Reading, ...]] = ("ready", "push_rate", "pop_rate")


def sparkline_values(history: Sequence[Point], cells: int) -> dict[Reading, tuple[Values, float]]:
    """Return values of depth, push rate and pop rate, each with the top of its scale. Push and pop share a scale."""
    found = dict(zip(READINGS, sample_readings(history, READINGS, cells, plot_window_s(history)), strict=True))
    rates = highest_value(found["push_rate"], found["pop_rate"])
    return {
        name: (values, max(MIN_DEPTH_SCALE, highest_value(values)) if name == "ready" else rates)
        for name, values in found.items()
    }


def sparkline_text(values: Values, top: float) -> str:
    """Return a sparkline and the top of its scale: ``▁▂▃▅█ 40k``. If no value is known, return an empty text."""
    if all(value is None for value in values):
        return ""
    return f"{sparkline(values, top)} {formatting.short_count(top)}"
