"""Draws small plots with block and braille characters, one or several lines high."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.formatting import BLOCKS, scale_heights


def bar_rows(values: Sequence[float | None], top: float, rows: int) -> list[str]:
    """Return bars that are several rows high, top row first."""
    bars = scale_heights(values, top, rows * 8)
    out = []
    for row in range(rows - 1, -1, -1):
        floor = row * 8
        lowest = 1 if row == 0 else 0
        out.append("".join(" " if h < 0 else BLOCKS[min(8, max(lowest, h - floor))] for h in bars))
    return out


# The braille character without dots. Each dot sets one of its eight low bits.
BLANK: Final = 0x2800
_LEFT: Final = (0x01, 0x02, 0x04, 0x40)
_RIGHT: Final = (0x08, 0x10, 0x20, 0x80)

# The dots of a plot as bits per cell, top row first.
Bits = list[list[int]]


def trace_line(
    values: Sequence[float | None], top: float, rows: int, *, low: float = 0.0, dashed: bool = False
) -> Bits:
    """Return the dots of a line through ``values``. Each column of cells has one value.

    ``low`` is drawn as the lowest dot and ``top`` as the highest. Vertical dots connect neighbouring values. Unknown
    values leave a gap. ``dashed`` skips every other cell, so that two lines can be told apart without colours.
    """
    cells = [[0] * len(values) for _ in range(rows)]
    before: int | None = None
    last, at = None, 0
    for x, value in enumerate(values):
        if value is None:
            before = None
            continue
        if value != last:
            last, at = value, dot_row(value, low, top, rows)
        start = at if before is None else before
        middle = (start + at) // 2
        if dashed and x % 2:
            pass
        elif start == at:
            cells[at // 4][x] |= _LEFT[at % 4] | _RIGHT[at % 4]
        else:
            for bits, first, last in ((_LEFT, start, middle), (_RIGHT, middle, at)):
                step = 1 if last >= first else -1
                for y in (last,) if first == last else range(first + step, last + step, step):
                    cells[y // 4][x] |= bits[y % 4]
        before = at
    return cells


def dot_row(value: float, low: float, top: float, rows: int) -> int:
    """Return the row of dots for a value, counted from the top. A row of cells has four rows of dots."""
    levels = rows * 4 - 1
    return levels - min(levels, max(0, round((value - low) / (top - low) * levels) if top > low else 0))


def spread_dots(
    low: Sequence[float | None], high: Sequence[float | None], scale: tuple[float, float], rows: int
) -> Bits:
    """Return all dots between the two values of each column. ``scale``: the bottom and the top of the plot."""
    cells = [[0] * len(low) for _ in range(rows)]
    for x, (least, most) in enumerate(zip(low, high, strict=True)):
        if least is not None and most is not None:
            for y in range(dot_row(most, *scale, rows), dot_row(least, *scale, rows) + 1):
                cells[y // 4][x] |= _LEFT[y % 4] | _RIGHT[y % 4]
    return cells


def lowest_rows(bits: Bits) -> list[int]:
    """Return, for each column, the lowest row with a dot, or the number of rows if the column has no dot."""
    found = [len(bits)] * len(bits[0]) if bits else []
    for y, row in enumerate(bits):
        if any(row):
            found = [y if dots else before for dots, before in zip(row, found, strict=True)]
    return found
