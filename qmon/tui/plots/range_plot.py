"""A plot of a range of the past: a line for the mean, in front of the minimum, the maximum and the usual band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model.baseline_bands import Band
from qmon.recording.history.buckets import Bucket
from qmon.tui.plots.axes import scale_labels
from qmon.tui.plots.cells import FILLED, HATCHED, Layer, area_below, paint_layers
from qmon.tui.plots.glyphs import Bits, spread_dots, trace_line
from qmon.tui.plots.history_series import round_up
from qmon.tui.sanitize import pad
from qmon.tui.spans import Line

# Width in cells of the scale at the left, and of the names of the lines below the plot.
SCALE_CELLS: Final = 11

Steps = Sequence[Bucket | None]
# The usual bands, one per column.
Bands = Sequence[Band | None]


def scale_limits(steps: Steps, bands: Bands) -> tuple[float, float]:
    """Return the bottom and the top of the scale: rounded, and including zero."""
    known = [step for step in steps if step is not None]
    highest = max((*(s.most for s in known), *(b.high for b in bands if b is not None)), default=0.0)
    lowest = min((0.0, *(s.least for s in known)))
    return (-round_up(-lowest) if lowest < 0 else 0.0), round_up(highest)


def range_plot_lines(
    steps: Steps, bands: Bands, rows: int, write: Callable[[float], str], *, tone: str = "push", plain: bool = False
) -> list[Line]:
    """Return ``rows`` lines with one column per step.

    ``write`` formats a value. ``plain``: draw line and band so that they differ without colours. Unknown steps leave a
    gap. A cell with a part of the line does not show the range or the band. The area below a depth is filled.
    """
    low, high = scale_limits(steps, bands)
    line = trace_line([None if s is None else s.mean for s in steps], high, rows, low=low)
    layers = [Layer(line, tone)]
    if not plain:
        least, most = [None if s is None else s.least for s in steps], [None if s is None else s.most for s in steps]
        layers.append(Layer(spread_dots(least, most, (low, high), rows), f"{tone} fill"))
    fill, until = [rows] * len(steps), [rows] * len(steps)
    if any(bands):
        edges = [
            trace_line([None if b is None else b.high for b in bands], high, rows, low=low),
            trace_line([None if b is None else b.low for b in bands], high, rows, low=low),
        ]
        layers += [Layer(edge, "band") for edge in edges]
        fill, until = area_below(edges[0]), _highest_rows(edges[1])
    elif tone == "depth" and low == 0.0:
        fill = area_below(line)
    middle = paint_layers(layers, fill, rows, plain=plain, until=until)
    beside = scale_labels(low, high, rows, write)
    return [((pad(f"{beside[y]} ", SCALE_CELLS, right=True), "muted"), ("│", "faint"), *middle[y]) for y in range(rows)]


def _highest_rows(bits: Bits) -> list[int]:
    """Return, for each column, the highest row with a dot, or 0 if the column has no dot."""
    rows = len(bits)
    return [next((y for y in range(rows) if bits[y][x]), 0) for x in range(len(bits[0]))]


def draw_cursor(line: Line, column: int) -> Line:
    """Return a line of a plot with the cursor at a column: a bar in an empty cell, else a highlighted character."""
    out: list[tuple[str, str]] = []
    at = SCALE_CELLS + 1 + column
    for written, tone in line:
        if 0 <= at < len(written):
            symbol = "│" if written[at] in f"{FILLED}{HATCHED}" else written[at]
            out += [(written[:at], tone), (symbol, "strong"), (written[at + 1 :], tone)]
        else:
            out.append((written, tone))
        at -= len(written)
    return tuple(span for span in out if span[0])
