"""The trends below the overview: depth, push and pop of the queue under the cursor, as large as there is room for."""

from __future__ import annotations

from typing import Final

from qmon.model import text
from qmon.model.text import sparkline
from qmon.model.view import QueueView
from qmon.tui.plots.glyphs import columns
from qmon.tui.plots.series import FEW, Reading, Values, highest, sample, window
from qmon.tui.plots.throughput import throughput
from qmon.tui.sanitize import pad
from qmon.tui.spans import Line, Span

FROM_ROWS: Final = 7
"""Rows from which one large plot says more than three small ones."""

_SMALL: Final[tuple[tuple[Reading, str, str], ...]] = (
    ("ready", "depth", "depth"),
    ("push_rate", "push", "push"),
    ("pop_rate", "pop", "pop"),
)


def span_words(queue: QueueView) -> str:
    """How much time the plots span: ``last 10 m 00 s``."""
    return f"last {text.whole_seconds(window(queue.history))}"


def top(reading: Reading, values: Values) -> float:
    """The top of a small plot."""
    return max(FEW, highest(values)) if reading == "ready" else highest(values)


def trends(queue: QueueView, cells: int, rows: int, *, plain: bool = False) -> list[Line]:
    """The plots in ``rows`` lines of ``cells`` cells."""
    if rows >= FROM_ROWS:
        return throughput(queue.history, cells, rows, plain=plain)
    return small(queue, cells, rows)


def small(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Three plots beside each other: with one row the figure stands behind its plot, else below it."""
    each = (cells - 2) // 3
    span_s = window(queue.history)
    lines: list[list[Span]] = [[(" ", "text")] for _ in range(rows)]
    for reading, name, tone in _SMALL:
        newest = getattr(queue.history[-1], reading) if queue.history else None
        write = text.count if reading == "ready" else text.rate
        label = f"{name} {text.UNKNOWN if newest is None else write(newest)}{'' if reading == 'ready' else '/s'}"
        if rows == 1:
            room = max(4, each - len(label) - 3)
            values = sample(queue.history, reading, room, span_s)
            lines[0] += [
                (sparkline(values, top(reading, values)), f"{tone} fill"),
                (pad(f" {label}", each - room), "text"),
            ]
            continue
        values = sample(queue.history, reading, each - 2, span_s)
        for line, bars in zip(lines, columns(values, top(reading, values), rows - 1), strict=False):
            line.append((f"{bars}  ", f"{tone} fill"))
        lines[-1].append((pad(label, each), "text"))
    return [tuple(line) for line in lines]
