"""The dialog for choosing and ordering columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.model.texts import Text
from qmon.tui.keys import COLUMN_DIALOG
from qmon.tui.overview.column_choice import REQUIRED_COLUMN, chosen_columns
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow
from qmon.tui.widgets.lines import Lines

_COLUMNS: Final = (
    GridColumn("name", "COLUMN", least=18, most=40, shrinks_to=18, sortable=False),
    GridColumn("about", "WHAT IT SHOWS", least=20, grows=True, sortable=False),
)
_KEYS: Final = (("space", "shows or hides"), ("< >", "move"), ("D", "default columns"), ("esc", "closes"))


class ColumnsText(Text):
    """Why a column cannot be hidden."""

    REQUIRED = "the queue column cannot be hidden, because it identifies the rows"


class ChoosingDialog(Dialog[None], inherit_bindings=False):
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
            yield Grid(_COLUMNS)
            yield Lines(id="choosing-hint", most=1)

    def on_mount(self) -> None:
        self.query_one("#choosing-hint", Lines).show(
            lambda *_: [tuple(span for key, does in _KEYS for span in ((f" {key}", "key"), (f" {does} ", "muted")))]
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
