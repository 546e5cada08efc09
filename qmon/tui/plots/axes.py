"""The axes of plots: values at the sides and times below."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Final

from qmon.model import formatting
from qmon.tui.sanitize import pad

# Scales of at least this many rows also have a label in the middle.
_MIDDLE_FROM_ROWS: Final = 7
_TICKS_S: Final = (
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1_800.0,
    3_600.0,
    7_200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
)
_TICK_CELLS: Final = 11


def scale_labels(low: float, top: float, rows: int, write: Callable[[float], str]) -> list[str]:
    """Return the label of each row: the top, the bottom and, if there are enough rows, the middle have a label."""
    marks = {rows - 1: write(low), 0: write(top)}
    if rows >= _MIDDLE_FROM_ROWS and rows % 2:
        middle = write((low + top) / 2)
        marks[rows // 2] = "" if middle in marks.values() else middle
    return [marks.get(row, "") for row in range(rows)]


def past_axis(span_s: float, columns: int) -> str:
    """Return the times below a plot that ends now: ``10 m 00 s ago``, ``5 m 00 s ago``, ``now``."""
    start, half, end = f"{formatting.whole_seconds(span_s)} ago", f"{formatting.whole_seconds(span_s / 2)} ago", "now"
    middle = columns // 2 - len(half) // 2
    line = pad(start, middle) + half if len(start) + 2 <= middle else start
    return pad(line, columns - len(end)) + end


def clock_axis(since_at: float, cell_s: float, columns: int, zone: tzinfo) -> str:
    """Return the times of day below a plot of ``columns`` cells of ``cell_s`` seconds.

    Each label is to the right of its position.
    """
    every = next((t for t in _TICKS_S if t / cell_s >= _TICK_CELLS), _TICKS_S[-1])
    shift = _utc_offset_s(since_at, zone)
    at = -(-(since_at + shift) // every) * every - shift
    line, until = [" "] * columns, 0
    while at < since_at + columns * cell_s:
        place, label = int((at - since_at) / cell_s), f"╵{_tick_label(at, zone, seconds=every < 60)}"
        if place >= until and place + len(label) <= columns:
            line[place : place + len(label)] = label
            until = place + len(label) + 1
        at += every
    return "".join(line)


def _utc_offset_s(at: float, zone: tzinfo) -> float:
    offset = datetime.fromtimestamp(at, zone).utcoffset()
    return offset.total_seconds() if offset is not None else 0.0


def _tick_label(at: float, zone: tzinfo, *, seconds: bool) -> str:
    """Return a time of day, or the date at midnight."""
    then = datetime.fromtimestamp(at, zone)
    if (then.hour, then.minute, then.second) == (0, 0, 0):
        return f"{then:%a} {then.day}"
    return f"{then:%H:%M:%S}" if seconds else f"{then:%H:%M}"
