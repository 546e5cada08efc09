"""The trends below the overview: depth, push and pop of the queue under the cursor, as large as there is room for."""

from __future__ import annotations

from typing import Final

from qmon.model import text
from qmon.model.text import sparkline
from qmon.model.view import QueueView
from qmon.tui.plots.glyphs import columns
from qmon.tui.plots.series import Reading, window
from qmon.tui.plots.sparks import sparks
from qmon.tui.plots.throughput import throughput
from qmon.tui.sanitize import pad
from qmon.tui.spans import Line, Span

# Rows from which one large plot says more than three small ones.
FROM_ROWS: Final = 7

_SMALL: Final[tuple[tuple[Reading, str], ...]] = (("ready", "depth"), ("push_rate", "push"), ("pop_rate", "pop"))


def span_words(queue: QueueView) -> str:
    """How much time the plots span: ``last 10 m 00 s``."""
    return f"last {text.whole_seconds(window(queue.history))}"


def trends(queue: QueueView, cells: int, rows: int, *, plain: bool = False) -> list[Line]:
    """The plots in ``rows`` lines of ``cells`` cells."""
    if rows >= FROM_ROWS:
        return throughput(queue.history, cells, rows, plain=plain)
    return small(queue, cells, rows)


def small(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Three plots beside each other: with one row the figure stands behind its plot, else below it.

    The top of a scale is written, and is the same of push and pop.
    """
    each = (cells - 2) // 3
    lines: list[list[Span]] = [[(" ", "text")] for _ in range(rows)]
    newest = queue.history[-1] if queue.history else None
    tops = {reading: top for reading, (_, top) in sparks(queue.history, each).items()}
    labels = {reading: _label(reading, name, getattr(newest, reading, None), tops[reading]) for reading, name in _SMALL}
    room = max(4, each - max(map(len, labels.values())) - 3) if rows == 1 else each - 2
    drawn = sparks(queue.history, room)
    for reading, name in _SMALL:
        values, top = drawn[reading]
        if rows == 1:
            lines[0] += [(sparkline(values, top), f"{name} fill"), (pad(f" {labels[reading]}", each - room), "text")]
            continue
        for line, bars in zip(lines, columns(values, top, rows - 1), strict=False):
            line.append((f"{bars}  ", f"{name} fill"))
        lines[-1].append((pad(labels[reading], each), "text"))
    return [tuple(line) for line in lines]


def _label(reading: Reading, name: str, newest: float | None, top: float) -> str:
    """``depth 31, max 40``."""
    write = text.count if reading == "ready" else text.rate
    value = text.UNKNOWN if newest is None else f"{write(newest)}{'' if reading == 'ready' else '/s'}"
    return f"{name} {value}, max {text.abbreviated(top)}"
