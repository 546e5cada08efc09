"""Pure functions that lay out the rows and columns of a table: which columns fit, and how wide each column is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, TypeVar

from qmon.model.formatting import UNKNOWN
from qmon.tui.sanitize import pad, shorten, text_width
from qmon.tui.spans import Line, Span

# Cells between two columns of a wide table.
GAP: Final = 3

# A text that is already sanitized, and the name of its tone.
Cell = tuple[str, str]

Item = TypeVar("Item")


def text_cell(text: str | None, tone: str = "text") -> Cell:
    """Return the cell of a sanitized text, or of an unknown value if ``text`` is ``None``."""
    return (UNKNOWN, "faint") if text is None else (text, tone)


def sorted_by_value(
    items: Iterable[Item], value: Callable[[Item], float | str | tuple[int, int, str] | None], *, descending: bool
) -> list[Item]:
    """Return the items sorted by the values of one column. Items without a value are last, in the given order.

    All values must have one type.
    """
    keyed = [(value(item), item) for item in items]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=itemgetter(0), reverse=descending)
    return [item for _, item in known] + [item for found, item in keyed if found is None]


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column.

    Attributes:
        rank: narrow tables drop the columns with the greatest rank first.
        width: the width in cells, if it follows from the format of the values; 0: it follows from the texts.
        least, most: the minimum and maximum width in cells of a column without ``width``.
        shrinks_to: the width in cells to which the column may be cut before any column is dropped; 0: it may not be
            cut.
        shorten: cuts a text that is wider than the column. Arguments: the text and the width in cells.
        grows: the column takes the space left over. At most one column of a table may grow.
        from_width: the column is hidden in tables narrower than this many cells.
        about: the explanation of the column, for the tooltip.
    """

    key: str
    title: str
    right: bool = False
    rank: int = 0
    width: int = 0
    least: int = 0
    most: int = 24
    shrinks_to: int = 0
    shorten: Callable[[str, int], str] = shorten
    grows: bool = False
    sortable: bool = True
    from_width: int = 0
    about: str = ""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row: its key and one cell per column.

    Attributes:
        notes: why figures are unknown, keyed by column.
        heading: the row is the title of a group; the cursor skips it.
        id: the object that the row describes, if its first cell does not name it.
    """

    key: str
    cells: tuple[Cell, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
    heading: bool = False
    id: str = ""

    @property
    def name(self) -> str:
        """The object that the row describes."""
        return self.id or self.cells[0][0]


@dataclass(frozen=True, slots=True)
class Table:
    """A complete table, including the columns and rows that do not fit on the screen."""

    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column with its place. ``index``: its index in the cells of a row. ``x``, ``width``: in terminal cells."""

    column: GridColumn
    index: int
    x: int
    width: int


def natural_widths(
    columns: Sequence[GridColumn], rows: Sequence[GridRow], old_widths: Sequence[int]
) -> tuple[int, ...]:
    """Return the width in cells of each column: its fixed width, or the width that its contents need.

    A width is never less than in ``old_widths``, so that columns do not jump.
    """
    out = []
    for index, column in enumerate(columns):
        if column.width:
            out.append(max(column.width, _title_width(column)))
            continue
        widest = max(map(text_width, {row.cells[index][0] for row in rows}), default=0)
        natural = max(_title_width(column), min(column.most, max(column.least, widest)))
        out.append(max(natural, old_widths[index] if index < len(old_widths) else 0))
    return tuple(out)


def _title_width(column: GridColumn) -> int:
    """Return the width of a title in cells.

    Left-aligned sortable columns need one more cell for the arrow. In right-aligned columns, the arrow is in the gap.
    """
    return text_width(column.title) + (1 if column.sortable and not column.right else 0)


def place_columns(columns: Sequence[GridColumn], widths: Sequence[int], cells: int) -> tuple[PlacedColumn, ...]:
    """Return the columns that fit into ``cells``, each with its place. One cell stays free at each end.

    If space is short, gaps become narrow and columns with ``shrinks_to`` are cut. Then the columns of the greatest rank
    are dropped. Space left over goes back to the columns that were cut, then into wider gaps, then to the growing
    column.
    """
    room = cells - 2
    kept = [i for i, c in enumerate(columns) if cells >= c.from_width]

    def min_width(index: int) -> int:
        column = columns[index]
        if column.grows:
            return max(column.least, _title_width(column))
        return max(_title_width(column), min(widths[index], column.shrinks_to)) if column.shrinks_to else widths[index]

    while len(kept) > 1 and sum(map(min_width, kept)) + len(kept) - 1 > room:
        kept.remove(max(kept, key=lambda index: (columns[index].rank, index)))
    sizes = {i: min_width(i) for i in kept}
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
        placed.append(PlacedColumn(columns[index], index, x, size))
        x += size + gap
    return tuple(placed)


def table_lines(columns: Sequence[GridColumn], rows: Sequence[GridRow], cells: int) -> list[Line]:
    """Return the titles and one line per row. Columns that do not fit are dropped by rank."""
    placed = place_columns(columns, natural_widths(columns, rows, ()), cells)
    lines = []
    for texts in (tuple((c.title, "title") for c in columns), *(row.cells for row in rows)):
        line: list[Span] = []
        x = 0
        for p in placed:
            text, tone = texts[p.index]
            line += [
                (" " * (p.x - x), "text"),
                (pad(text, p.width, right=p.column.right, shorten=p.column.shorten), tone),
            ]
            x = p.x + p.width
        lines.append(tuple(line))
    return lines
