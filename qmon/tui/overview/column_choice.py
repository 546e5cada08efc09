"""The columns of the overview: the usual columns, or those that the user chose in the dialog for columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.keys import COLUMN_DIALOG
from qmon.tui.overview.queue_rows import COLUMNS
from qmon.tui.sanitize import shorten_words
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import Cell, GridColumn, GridRow
from qmon.tui.widgets.lines import Lines

# The queue column is always shown, because it identifies the row.
REQUIRED_COLUMN: Final = "queue"
# Narrow tables drop an added column after IN PROG and before GAP.
_EXTRA_RANK: Final = 6

# These columns are only shown if the user chooses them.
_USUAL: Final = frozenset(column.key for column in COLUMNS)
EXTRA_COLUMNS: Final = tuple(
    figures.figure_column(figure.field, _EXTRA_RANK, width=9)
    for figure in QUEUE_FIGURES
    if figure.column_title and figure.field not in _USUAL
)
_EMPTY_CELL: Final = ("", "muted")

# After a queue has had such messages, these columns are shown even if the user has not chosen them.
OPTIONAL_COLUMNS: Final = ("scheduled", "dead")
_INSERT_BEFORE: Final = "oldest"


class OptionalColumns:
    """Adds a column to the usual columns if its figure is not 0. An added column stays, so that columns do not jump."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}

    def columns_with_optional(
        self, usual: Sequence[GridColumn], queues: Iterable[QueueView], target: str
    ) -> tuple[GridColumn, ...]:
        """Return the usual columns, and each optional column that has had a value other than 0."""
        seen = self._seen.setdefault(target, set())
        if hidden := set(OPTIONAL_COLUMNS) - seen:
            seen |= {key for queue in queues for key in hidden if queue.figure(key).value}
        place = next(place for place, column in enumerate(usual) if column.key == _INSERT_BEFORE)
        return (*usual[:place], *(column for column in EXTRA_COLUMNS if column.key in seen), *usual[place:])


def chosen_columns(chosen: Sequence[str], usual: Sequence[GridColumn]) -> tuple[GridColumn, ...]:
    """Return the chosen columns in the chosen order, or the usual columns if the user has chosen none.

    Unknown columns are skipped.
    """
    known = {column.key: column for column in (*usual, *EXTRA_COLUMNS)}
    found = tuple(known[key] for key in dict.fromkeys(chosen) if key in known)
    if not found:
        return tuple(usual)
    return found if REQUIRED_COLUMN in chosen else (known[REQUIRED_COLUMN], *found)


def sort_columns_for(columns: Sequence[GridColumn], usual: Sequence[str]) -> list[str]:
    """Return the columns that ``s`` cycles through. ``usual``: the keys of the usual columns that can be sorted."""
    shown = {column.key for column in columns}
    return [key for key in (*usual, *(column.key for column in EXTRA_COLUMNS)) if key in shown]


class RowArranger:
    """Builds rows with the chosen columns from rows with the usual columns. Unchanged rows are reused."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[GridRow, GridRow]] = {}
        self._columns: tuple[GridColumn, ...] = ()

    def arrange_rows(
        self,
        rows: Sequence[GridRow],
        usual: Sequence[GridColumn],
        columns: tuple[GridColumn, ...],
        queue_for: Callable[[str], QueueView | None],
    ) -> tuple[GridRow, ...]:
        """Return the rows with the chosen ``columns``.

        ``usual``: the columns of ``rows``. ``queue_for``: returns the queue for the key of a row.
        """
        if columns == tuple(usual):
            return tuple(rows)
        before, self._made = (self._made if columns == self._columns else {}), {}
        self._columns = columns
        for row in rows:
            known = before.get(row.key)
            made = (
                known[1]
                if known is not None and known[0] is row
                else _arrange_row(row, usual, columns, queue_for(row.key))
            )
            self._made[row.key] = (row, made)
        return tuple(made for _, made in self._made.values())


def _arrange_row(
    row: GridRow, usual: Sequence[GridColumn], columns: Sequence[GridColumn], queue: QueueView | None
) -> GridRow:
    cells = {column.key: cell for column, cell in zip(usual, row.cells, strict=True)}
    made = tuple(cells[c.key] if c.key in cells else _extra_cell(c, queue) for c in columns)
    return GridRow(row.key, made, row.notes, row.heading, row.name)


def _extra_cell(column: GridColumn, queue: QueueView | None) -> Cell:
    if queue is None:
        return _EMPTY_CELL
    tone = "alarm" if column.key in ("blocked", "dead") else "text"
    return figures.column_cell(queue.figure(column.key), column, tone)


_DIALOG_COLUMNS: Final = (
    GridColumn("name", "COLUMN", least=18, most=40, shrinks_to=18, sortable=False),
    GridColumn("about", "WHAT IT SHOWS", least=20, shorten=shorten_words, grows=True, sortable=False),
)
_DIALOG_KEYS: Final = (("space", "shows or hides"), ("< >", "move"), ("D", "default columns"), ("esc", "closes"))


class ColumnsText(Text):
    """Why a column cannot be hidden."""

    REQUIRED = "the queue column cannot be hidden, because it identifies the rows"


class ColumnDialog(Dialog[None], inherit_bindings=False):
    """The dialog for columns. Every choice is applied immediately to the screen behind it.

    Args:
        usual: the columns shown if the user has chosen none.
        more: other columns that can be chosen.
        chosen: keys of the chosen columns, in order; empty for the usual columns.
        choose: applies a choice to the screen.
    """

    BINDINGS = COLUMN_DIALOG
    AUTO_FOCUS = "Grid"

    def __init__(
        self,
        usual: Sequence[GridColumn],
        more: Sequence[GridColumn],
        chosen: Sequence[str],
        choose: Callable[[tuple[str, ...]], None],
    ) -> None:
        super().__init__()
        self._usual = tuple(usual)
        self._columns = {column.key: column for column in (*usual, *more)}
        self._choose = choose
        self._shown: list[str] = []
        self._hidden: list[str] = []
        self._set_columns(chosen)

    def compose(self) -> ComposeResult:
        with Vertical(id="choosing"):
            yield Grid(_DIALOG_COLUMNS)
            yield Lines(id="choosing-hint", most=1)

    def on_mount(self) -> None:
        self.query_one("#choosing-hint", Lines).show(
            lambda *_: [
                tuple(span for key, does in _DIALOG_KEYS for span in ((f" {key}", "key"), (f" {does} ", "muted")))
            ]
        )
        self._show_rows()

    def _set_columns(self, columns: Sequence[str]) -> None:
        self._shown = [column.key for column in chosen_columns(columns, self._usual)]
        self._hidden = [key for key in self._columns if key not in self._shown]

    def _show_rows(self) -> None:
        self.query_one(Grid).show(
            [_column_row(self._columns[key], shown=key in self._shown) for key in (*self._shown, *self._hidden)]
        )

    def _apply_columns(self) -> None:
        """Apply the changed columns and redraw."""
        self._choose(tuple(self._shown))
        self._show_rows()

    @on(Grid.Opened)
    def action_mark(self) -> None:
        """Show the column under the cursor, or hide it."""
        key = self.query_one(Grid).cursor
        if key == REQUIRED_COLUMN:
            self.app.notify(ColumnsText.REQUIRED, timeout=5, markup=False)
        elif key in self._shown:
            self._shown.remove(key)
            self._hidden.insert(0, key)
            self._apply_columns()
        elif key in self._hidden:
            self._hidden.remove(key)
            self._shown.append(key)
            self._apply_columns()

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor to the left (``-1``) or to the right (``1``)."""
        key = self.query_one(Grid).cursor
        if key not in self._shown:
            return
        at = self._shown.index(key)
        to = min(max(0, at + by), len(self._shown) - 1)
        if to != at:
            self._shown.insert(to, self._shown.pop(at))
            self._apply_columns()

    def action_usual(self) -> None:
        """Return to the default columns."""
        self._set_columns(())
        self._choose(())
        self._show_rows()

    def action_close(self) -> None:
        self.finish()


def _column_row(column: GridColumn, *, shown: bool) -> GridRow:
    name = column.title or column.key
    return GridRow(
        column.key,
        ((f"{'◆' if shown else ' '} {name}", "strong" if shown else "muted"), (column.about, "muted")),
        id=name,
    )
