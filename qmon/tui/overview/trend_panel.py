"""The trends below the overview: depth, push rate and pop rate of the queue under the cursor."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui.plots.glyphs import bar_rows
from qmon.tui.plots.history_series import Reading, plot_window_s
from qmon.tui.plots.sparklines import sparklines_for
from qmon.tui.plots.throughput import throughput_lines
from qmon.tui.sanitize import pad
from qmon.tui.spans import Line, Span


class TrendsText(Text):
    """The texts of the plots."""

    SPAN = "last {duration}"
    LABEL = "{figure} {value}, peak {peak}"


# Panels of at least this many rows show one large plot. Lower panels show three small plots.
LARGE_PLOT_ROWS: Final = 7

_SMALL: Final[tuple[tuple[Reading, str], ...]] = (("ready", "depth"), ("push_rate", "push"), ("pop_rate", "pop"))


def span_text(queue: QueueView) -> str:
    """Return the time that the plots span: ``last 10 m 00 s``."""
    return TrendsText.SPAN.render(duration=formatting.whole_seconds(plot_window_s(queue.history)))


def trend_lines(queue: QueueView, cells: int, rows: int, *, plain: bool = False) -> list[Line]:
    """Return the plots in ``rows`` lines of ``cells`` cells."""
    if rows >= LARGE_PLOT_ROWS:
        return throughput_lines(queue.history, cells, rows, plain=plain)
    return small_plot_lines(queue, cells, rows)


def small_plot_lines(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Return three plots next to each other. A label is below its plot, or to the right of it if there is one row.

    Each label contains the peak. Push and pop share one scale.
    """
    each = (cells - 2) // 3
    lines: list[list[Span]] = [[(" ", "text")] for _ in range(rows)]
    newest = queue.history[-1] if queue.history else None
    peaks = {reading: drawn.peak_text() for reading, drawn in sparklines_for(queue, 1).items()}
    labels = {
        reading: _plot_label(reading, name, getattr(newest, reading, None), peaks[reading]) for reading, name in _SMALL
    }
    room = max(4, each - max(map(len, labels.values())) - 3) if rows == 1 else each - 2
    drawn = sparklines_for(queue, room)
    for reading, name in _SMALL:
        found = drawn[reading]
        if rows == 1:
            lines[0] += [(found.bars(), f"{name} fill"), (pad(f" {labels[reading]}", each - room), "text")]
            continue
        for line, bars in zip(lines, bar_rows(found.values, found.top, rows - 1), strict=False):
            line.append((f"{bars}  ", f"{name} fill"))
        lines[-1].append((pad(labels[reading], each), "text"))
    return [tuple(line) for line in lines]


def _plot_label(reading: Reading, name: str, newest: float | None, peak: str) -> str:
    """Return ``depth 31, peak 40``."""
    write = formatting.count if reading == "ready" else formatting.rate
    value = formatting.UNKNOWN if newest is None else f"{write(newest)}{'' if reading == 'ready' else '/s'}"
    return TrendsText.LABEL.render(figure=name, value=value, peak=peak)
