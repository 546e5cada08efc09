"""Numbers as a line of blocks, for tables on screens and in the output of commands."""

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
