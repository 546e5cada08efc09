"""The large plot of a queue: push and pop are lines with one scale, and depth is an area with another scale.

A wide plot is split into two plots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model import formatting
from qmon.model.series import Point, figure_column
from qmon.tui.plots.axes import past_axis, scale_labels
from qmon.tui.plots.cells import Layer, area_below, paint_layers
from qmon.tui.plots.glyphs import trace_line
from qmon.tui.plots.history_series import (
    MIN_DEPTH_SCALE,
    Reading,
    Values,
    highest_value,
    plot_window_s,
    round_up,
    sample_readings,
)
from qmon.tui.sanitize import pad, text_width
from qmon.tui.spans import Line, LinePart, Span, line_width, spread_parts

# Plots of at least this many cells are split: push and pop on the left, depth on the right.
SIDE_BY_SIDE: Final = 150
_MIN_CELLS: Final = 40
_MIN_ROWS: Final = 3
_GAP: Final = 3


@dataclass(frozen=True, slots=True)
class _Axis:
    """One scale: its name, the readings that share it, and the format of its values."""

    name: str
    readings: tuple[Reading, ...]
    write: Callable[[float], str]
    # The minimum of the scale's top.
    least: float = 0.0


_RATES: Final = _Axis("messages/s", ("push_rate", "pop_rate"), formatting.rate)
_DEPTH: Final = _Axis("messages", ("ready",), formatting.count, MIN_DEPTH_SCALE)
_READING_NAMES: Final = {"push_rate": "push", "pop_rate": "pop", "ready": "depth"}
# The sign of each reading in the legend, with colours and without.
_SIGNS: Final = {"push_rate": ("━━", "━━"), "pop_rate": ("━━", "╺╸"), "ready": ("▄▄", "░░")}


def throughput_lines(history: Sequence[Point], cells: int, rows: int, *, plain: bool = False) -> list[Line]:
    """Return ``rows`` lines of ``cells`` cells: the last ten minutes or less, one average per column.

    ``plain``: draw pop as a dashed line and the area hatched, so that they differ without colours.
    """
    if not history or rows < _MIN_ROWS or cells < _MIN_CELLS:
        return []
    if cells < SIDE_BY_SIDE:
        return _pane_lines(history, _RATES, _DEPTH, cells, rows, plain)
    half = (cells - _GAP) // 2
    left = _pane_lines(history, _RATES, None, half, rows, plain)
    right = _pane_lines(history, _DEPTH, None, cells - _GAP - half, rows, plain)
    return [(*a, (" " * _GAP, "text"), *b) for a, b in zip(left, right, strict=True)]


def _pane_lines(
    history: Sequence[Point], left: _Axis, right: _Axis | None, cells: int, rows: int, plain: bool
) -> list[Line]:
    """Return one plot with its legend above and its times below."""
    body, span_s = rows - 2, plot_window_s(history)
    axes = (left,) if right is None else (left, right)
    room = [_scale_cells(history, axis) for axis in axes]
    columns = cells - sum(room) - len(room)
    drawn = {axis.name: sample_readings(history, axis.readings, columns, span_s) for axis in axes}
    tops = [round_up(max(axis.least, highest_value(*drawn[axis.name]))) for axis in axes]
    layers, fill = _layers_and_fill(axes, drawn, tops, body, plain)
    middle = paint_layers(layers, fill or [body] * columns, body, plain=plain, together=len(left.readings))
    beside = [scale_labels(0.0, top, body, axis.write) for axis, top in zip(axes, tops, strict=True)]
    lines: list[Line] = [_legend_line(history[-1], axes, cells, plain)]
    for y in range(body):
        end: Line = () if right is None else (("│", "faint"), (pad(f" {beside[1][y]}", room[1]), "muted"))
        lines.append(((pad(f"{beside[0][y]} ", room[0], right=True), "muted"), ("│", "faint"), *middle[y], *end))
    below = " " * (room[0] + 1) + past_axis(span_s, columns)
    return [*lines, ((pad(below, cells), "muted"),)]


def _scale_cells(history: Sequence[Point], axis: _Axis) -> int:
    """Return the width in cells of the labels of a scale."""
    most = max((v for name in axis.readings for v in figure_column(history, name) if v == v), default=0.0)
    return max(text_width(axis.write(each)) for each in (round_up(max(axis.least, most)), 12.5)) + 2


def _layers_and_fill(
    axes: Sequence[_Axis], drawn: dict[str, list[Values]], tops: Sequence[float], body: int, plain: bool
) -> tuple[list[Layer], list[int]]:
    """Return the layers of the lines, front first, and the first filled row of each column."""
    layers, fill = [], []
    for axis, top in zip(axes, tops, strict=True):
        for reading, values in zip(axis.readings, drawn[axis.name], strict=True):
            bits = trace_line(values, top, body, dashed=plain and reading == "pop_rate")
            layers.append(Layer(bits, _READING_NAMES[reading]))
            if reading == "ready":
                fill = area_below(bits)
    return layers, fill


def _legend_line(newest: Point, axes: Sequence[_Axis], cells: int, plain: bool) -> Line:
    """Return the names of the scales at both ends, and between the names the newest value of each line."""
    parts = [LinePart.from_text(axes[0].name, "muted", 1)]
    for axis in axes:
        for reading in axis.readings:
            value = getattr(newest, reading)
            written = formatting.UNKNOWN if value is None else axis.write(value)
            sign: Span = (_SIGNS[reading][plain], _READING_NAMES[reading])
            parts.append(LinePart((sign, (f" {_READING_NAMES[reading]} ", "muted"), (written, "text"))))
    line = spread_parts(parts, [LinePart.from_text("depth", "muted")] if len(axes) > 1 else [], cells)
    return (*line, (" " * (cells - line_width(line)), "text"))
