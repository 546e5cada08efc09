"""Which columns of a table fit, and how wide each is. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from qmon.tui.sanitize import pad, width
from qmon.tui.spans import Line, Span

# Cells between two columns, where there is room.
GAP: Final = 3

# A text, already clean, and the name of its tone.
Cell = tuple[str, str]


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column. ``rank``: where room is short, the greatest goes first. ``least`` and ``most``: cells it may take.

    ``shrinks_to``: it may be cut to that many cells before a column is left out. ``grows``: takes what is left over
    (one column of a table). ``about``: what it says, for the tooltip.
    ``from_width``: it is only there where the table has that many cells.
    """

    key: str
    title: str
    right: bool = False
    rank: int = 0
    least: int = 0
    most: int = 24
    shrinks_to: int = 0
    grows: bool = False
    sortable: bool = True
    from_width: int = 0
    about: str = ""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row by its key, one cell a column. ``notes`` holds by column key why a figure is unknown.

    ``heading``: it stands above rows that belong together, and no cursor comes to it. ``id``: what the row is about,
    where its first cell does not say it.
    """

    key: str
    cells: tuple[Cell, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
    heading: bool = False
    id: str = ""

    @property
    def name(self) -> str:
        """What the row is about."""
        return self.id or self.cells[0][0]


@dataclass(frozen=True, slots=True)
class Table:
    """All that a table holds, also the columns and rows that do not fit on the screen."""

    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A column with its place: ``index`` in the row's cells, ``x`` and ``width`` in cells."""

    column: GridColumn
    index: int
    x: int
    width: int


def natural_widths(columns: Sequence[GridColumn], rows: Sequence[GridRow], before: Sequence[int]) -> tuple[int, ...]:
    """The cells each column needs for what is in it; never less than ``before``, so that columns do not jump."""
    out = []
    for index, column in enumerate(columns):
        widest = max(map(width, {row.cells[index][0] for row in rows}), default=0)
        natural = max(_title(column), min(column.most, max(column.least, widest)))
        out.append(max(natural, before[index] if index < len(before) else 0))
    return tuple(out)


def _title(column: GridColumn) -> int:
    """The cells of a title; that of a left-aligned column needs one more for the arrow, others have it in the gap."""
    return width(column.title) + (1 if column.sortable and not column.right else 0)


def place(columns: Sequence[GridColumn], widths: Sequence[int], cells: int) -> tuple[Placed, ...]:
    """The columns that fit into ``cells``, each with its place, a cell free at both ends.

    Where room is short, gaps are narrow and shrinking columns give up cells; then columns of the greatest rank are
    left out. What is left over goes back to those that shrank, then into wider gaps, then to the growing column.
    """
    room = cells - 2
    kept = [i for i, c in enumerate(columns) if cells >= c.from_width]

    def least(index: int) -> int:
        column = columns[index]
        if column.grows:
            return max(column.least, _title(column))
        return max(_title(column), min(widths[index], column.shrinks_to)) if column.shrinks_to else widths[index]

    while len(kept) > 1 and sum(map(least, kept)) + len(kept) - 1 > room:
        kept.remove(max(kept, key=lambda i: (columns[i].rank, i)))
    sizes = {i: least(i) for i in kept}
    spare = max(0, room - sum(sizes.values()) - len(kept) + 1)
    for index in kept:
        if not columns[index].grows:
            more = min(spare, widths[index] - sizes[index])
            sizes[index] += more
            spare -= more
    gap = 1 + min(GAP - 1, spare // max(1, len(kept) - 1))
    spare -= (gap - 1) * (len(kept) - 1)
    placed, x = [], 1
    for index in kept:
        size = sizes[index] + (spare if columns[index].grows else 0)
        placed.append(Placed(columns[index], index, x, size))
        x += size + gap
    return tuple(placed)


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
