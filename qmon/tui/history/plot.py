"""A range of the recording as a plot: the mean as a line, least and greatest around it, the usual band behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from qmon.model.baselines import Band
from qmon.model.text import BLOCKS
from qmon.recording.history.buckets import Bucket
from qmon.tui.plots.glyphs import BLANK, trace
from qmon.tui.plots.series import round_up
from qmon.tui.sanitize import pad
from qmon.tui.spans import Line, Span

LEFT: Final = 11
"""Cells for the scale, and for the names of the lines below it."""
PER_CELL: Final = 2
"""Steps of time in a cell: braille has two dots beside each other."""
_DOTS: Final = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))

Steps = Sequence[Bucket | None]
Bands = Sequence[Band | None]
"""One a cell."""


def steps_for(cells: int) -> int:
    """How many steps of time fill a plot that is so wide."""
    return max(0, cells - LEFT - 1) * PER_CELL


def limits(steps: Steps, bands: Bands) -> tuple[float, float]:
    """The bottom and the top of the scale: from zero on, or below it where a figure is, to a round number."""
    known = [step for step in steps if step is not None]
    highest = max((*(s.most for s in known), *(b.high for b in bands if b is not None)), default=0.0)
    lowest = min((0.0, *(s.least for s in known)))
    return (-round_up(-lowest) if lowest < 0 else 0.0), round_up(max(0.0, highest))


def plot(steps: Steps, bands: Bands, rows: int, write: Callable[[float], str], *, plain: bool = False) -> list[Line]:
    """``rows`` lines. ``write`` makes words of a value. ``plain``: shapes alone tell line, spread and band.

    A step that is not known leaves a gap. Where the line is, it alone is drawn.
    """
    low, high = limits(steps, bands)
    size = high - low
    line = trace([None if s is None else s.mean - low for s in steps], size, rows)
    around = _spread(steps, low, size, rows, plain)
    scale = {0: write(high), rows - 1: write(low)}
    if rows >= 7:
        scale[rows // 2] = write(low + size / 2)
    edges = [_edges(band, low, size, rows) for band in bands]
    out: list[Line] = []
    for y in range(rows):
        label = pad(f"{scale.get(y, '')} ", LEFT, right=True)
        cells = (
            _cell(line[y][x], around[y][x], edges[x], (rows - 1 - y) * 8, plain) for x in range(len(bands))
        )  # fmt: skip
        out.append(((label, "muted"), ("│", "faint"), *joined(cells)))
    return out


def _spread(steps: Steps, low: float, size: float, rows: int, plain: bool) -> list[list[int]]:
    """Dots from the least to the greatest value of each step; without colour of every other step."""
    cells = [[0] * ((len(steps) + 1) // PER_CELL) for _ in range(rows)]
    levels = rows * 4 - 1
    for x, step in enumerate(steps):
        if step is None or size <= 0 or (plain and x % 2):
            continue
        bottom, top = (min(levels, max(0, round((v - low) / size * levels))) for v in (step.least, step.most))
        for level in range(bottom, top + 1):
            cells[rows - 1 - level // 4][x // PER_CELL] |= _DOTS[x % PER_CELL][level % 4]
    return cells


def _edges(band: Band | None, low: float, size: float, rows: int) -> tuple[int, int] | None:
    """From which to which eighth of a row, counted from the bottom, a band goes; at least one eighth."""
    if band is None or size <= 0:
        return None
    bottom, top = (min(rows * 8, max(0, round((v - low) / size * rows * 8))) for v in (band.low, band.high))
    return (bottom, max(bottom + 1, top)) if bottom < rows * 8 else (rows * 8 - 1, rows * 8)


def _cell(line: int, around: int, edges: tuple[int, int] | None, floor: int, plain: bool) -> Span:
    """What is in front: the line, then the spread, then the band, of which its edges are finer than a cell."""
    bottom, top = (min(8, max(0, edge - floor)) for edge in edges) if edges is not None else (0, 0)
    inside = top - bottom
    if line or around:
        tone = "push" if line else "push fill"
        return (chr(BLANK | (line or around)), f"{tone} on area" if inside >= 4 else tone)
    if inside <= 0:
        return (" ", "text")
    if plain:
        return ("░", "area") if inside >= 4 or edges == (bottom + floor, top + floor) else (" ", "text")
    if bottom == 0:
        return (BLOCKS[top], "area")
    if top == 8:
        return (BLOCKS[bottom], "area edge")
    return ("━", "area")


def joined(cells: Iterable[Span]) -> list[Span]:
    """Neighbours of the same tone as one span."""
    out: list[Span] = []
    for text, tone in cells:
        if out and out[-1][1] == tone:
            out[-1] = (out[-1][0] + text, tone)
        else:
            out.append((text, tone))
    return out
