"""Small plots in block characters: one line high in tables, several lines high where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.text import BLOCKS, heights


def columns(values: Sequence[float | None], top: float, rows: int) -> list[str]:
    """Bars several rows high, the top row first."""
    bars = heights(values, top, rows * 8)
    out = []
    for row in range(rows - 1, -1, -1):
        floor = row * 8
        lowest = 1 if row == 0 else 0
        out.append("".join(" " if h < 0 else BLOCKS[min(8, max(lowest, h - floor))] for h in bars))
    return out


_LEFT: Final = (0x01, 0x02, 0x04, 0x40)


_RIGHT: Final = (0x08, 0x10, 0x20, 0x80)


BLANK: Final = 0x2800


def trace(values: Sequence[float | None], top: float, rows: int, *, dashed: bool = False) -> list[list[int]]:
    """The dots of one line through ``values`` (two a column of cells), as bits per cell, top row first.

    0 lies on the lowest dot and ``top`` on the highest. Neighbours are joined; unknown values leave a gap. ``dashed``
    leaves every third and fourth dot out, so that two lines can be told apart without colour.
    """
    width = (len(values) + 1) // 2
    cells = [[0] * width for _ in range(rows)]
    levels = rows * 4 - 1
    before: int | None = None
    for x, value in enumerate(values):
        if value is None:
            before = None
            continue
        level = levels - min(levels, max(0, round(value / top * levels) if top > 0 else 0))
        if not (dashed and x % 4 >= 2):
            low, high = (level, level) if before is None else (min(level, before), max(level, before))
            if before is not None and high > low:  # the joint belongs to one of the two columns only
                low, high = (low + 1, high) if level == high else (low, high - 1)
            bits = _RIGHT if x % 2 else _LEFT
            for y in range(low, high + 1):
                cells[y // 4][x // 2] |= bits[y % 4]
        before = level
    return cells
