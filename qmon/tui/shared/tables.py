"""A small table as lines, for texts that are read and not moved about in."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.tui.shared.sanitize import pad
from qmon.tui.spans import Line, Span
from qmon.tui.widgets.columns import GridColumn, GridRow, natural_widths, place


def table_lines(columns: Sequence[GridColumn], rows: Sequence[GridRow], cells: int) -> list[Line]:
    """The titles and one line a row; columns that do not fit are left out by their rank."""
    placed = place(columns, natural_widths(columns, rows, ()), cells)
    lines = []
    for texts in (tuple((c.title, "title") for c in columns), *(row.cells for row in rows)):
        line: list[Span] = []
        x = 0
        for p in placed:
            text, tone = texts[p.index]
            line += [(" " * (p.x - x), "text"), (pad(text, p.width, right=p.column.right), tone)]
            x = p.x + p.width
        lines.append(tuple(line))
    return lines
