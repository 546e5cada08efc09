"""Small plots in block characters: one line high in tables, several lines high where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def heights(values: Sequence[float | None], top: float, eighths: int) -> list[int]:
    """Each value as a height of 0 to ``eighths``; above zero it is at least 1, unknown is -1."""
    out = []
    for value in values:
        if value is None:
            out.append(-1)
        elif value <= 0 or top <= 0:
            out.append(0)
        else:
            out.append(min(eighths, max(1, round(value / top * eighths))))
    return out


def sparkline(values: Sequence[float | None], top: float) -> str:
    """One line of blocks, scaled to ``top``; zero is the lowest block, unknown a blank."""
    return "".join(" " if h < 0 else BLOCKS[max(1, h)] for h in heights(values, top, 8))


def columns(values: Sequence[float | None], top: float, rows: int) -> list[str]:
    """Bars several rows high, the top row first."""
    bars = heights(values, top, rows * 8)
    out = []
    for row in range(rows - 1, -1, -1):
        floor = row * 8
        lowest = 1 if row == 0 else 0
        out.append("".join(" " if h < 0 else BLOCKS[min(8, max(lowest, h - floor))] for h in bars))
    return out
