"""The dialog for choosing and ordering columns, and for saving and using views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.config.preferences import Preferences, SavedView
from qmon.tui.keys import COLUMN_DIALOG
from qmon.tui.overview.column_choice import REQUIRED_COLUMN, chosen_columns, view_text
from qmon.tui.sanitize import clean
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow
from qmon.tui.widgets.lines import Lines

_COLUMNS: Final = (
    GridColumn("name", "COLUMN OR VIEW", least=18, most=40, shrinks_to=18, sortable=False),
    GridColumn("about", "WHAT IT SHOWS", least=20, grows=True, sortable=False),
)
# Prefix of a view's name in the key of its row. No column key starts like this.
_VIEW_PREFIX: Final = "\0"
_LONGEST: Final = 40
_KEYS: Final = (
    (("space", "shows or hides"), ("< >", "move"), ("D", "default columns")),
    (("w", "saves this view"), ("enter", "uses a view"), ("del", "deletes it"), ("esc", "closes")),
)


class ChoosingDialog(Dialog[None], inherit_bindings=False):
    """Every choice is applied to the screen behind the dialog immediately.

    Args:
        usual: the columns shown if none are chosen.
        more: other columns that can be chosen.
        now: the current filter, order and columns.
        use: applies a view to the screen.
        preferences, target: where views are saved.
    """

    BINDINGS = COLUMN_DIALOG
    AUTO_FOCUS = "Grid"

    def __init__(
        self,
        usual: Sequence[GridColumn],
        more: Sequence[GridColumn],
        now: SavedView,
        use: Callable[[SavedView], None],
        preferences: Preferences,
        target: str,
    ) -> None:
        super().__init__()
        self._usual = tuple(usual)
        self._columns = {column.key: column for column in (*usual, *more)}
        self._now, self._use = now, use
        self._preferences, self._target = preferences, target
        self._shown: list[str] = []
        self._hidden: list[str] = []
        self._set_columns(now.columns)

    def compose(self) -> ComposeResult:
        with Vertical(id="choosing"):
            yield Grid(_COLUMNS)
            yield FilterBar(prompt="name of the view", hint="enter saves · esc cancels")
            yield Lines(id="choosing-hint", most=2)

    def on_mount(self) -> None:
        self.query_one(FilterBar).display = False
        self.query_one("#choosing-hint", Lines).show(
            lambda *_: [
                tuple(span for key, does in line for span in ((f" {key}", "key"), (f" {does} ", "muted")))
                for line in _KEYS
            ]
        )
        self._show_rows()

    def _set_columns(self, columns: Sequence[str]) -> None:
        self._shown = [column.key for column in chosen_columns(columns, self._usual)]
        self._hidden = [key for key in self._columns if key not in self._shown]

    def _show_rows(self) -> None:
        rows = [_column_row(self._columns[key], shown=key in self._shown) for key in (*self._shown, *self._hidden)]
        rows += [_view_row(name, view) for name, view in sorted(self._views.items())]
        self.query_one(Grid).show(rows)

    @property
    def _views(self) -> dict[str, SavedView]:
        return self._preferences.target_preferences(self._target).views

    @property
    def _cursor(self) -> str:
        return self.query_one(Grid).cursor or ""

    @property
    def _view_name(self) -> str:
        """The name of the view under the cursor; empty on a column."""
        return self._cursor.removeprefix(_VIEW_PREFIX) if self._cursor.startswith(_VIEW_PREFIX) else ""

    def _apply_columns(self) -> None:
        """Apply the changed columns and redraw."""
        self._now = replace(self._now, columns=tuple(self._shown))
        self._use(self._now)
        self._show_rows()

    def action_mark(self) -> None:
        """Show the column under the cursor, or hide it."""
        key = self._cursor
        if key == REQUIRED_COLUMN:
            self.app.notify(
                "the queue column cannot be hidden, because it identifies the rows", timeout=5, markup=False
            )
        elif key in self._shown:
            self._shown.remove(key)
            self._hidden.insert(0, key)
            self._apply_columns()
        elif key in self._hidden:
            self._hidden.remove(key)
            self._shown.append(key)
            self._apply_columns()

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor to the left (-1) or to the right (1)."""
        if self._cursor not in self._shown:
            return
        at = self._shown.index(self._cursor)
        to = min(max(0, at + by), len(self._shown) - 1)
        if to != at:
            self._shown.insert(to, self._shown.pop(at))
            self._apply_columns()

    def action_usual(self) -> None:
        """Return to the default columns."""
        self._set_columns(())
        self._now = replace(self._now, columns=())
        self._use(self._now)
        self._show_rows()

    def action_save(self) -> None:
        """Ask for the name of the view."""
        bar = self.query_one(FilterBar)
        bar.open(self._view_name)
        self.set_focus(bar)

    @on(FilterBar.Done)
    def _done(self, message: FilterBar.Done) -> None:
        bar, grid = self.query_one(FilterBar), self.query_one(Grid)
        bar.display = False
        self.set_focus(grid)
        name = clean(" ".join(bar.text.split()))[:_LONGEST]
        if message.kept and name:
            self._save_views({**self._views, name: self._now})
            grid.select(f"{_VIEW_PREFIX}{name}")

    def action_delete(self) -> None:
        """Delete the view under the cursor."""
        if self._view_name:
            self._save_views({name: view for name, view in self._views.items() if name != self._view_name})

    def _save_views(self, views: dict[str, SavedView]) -> None:
        self._preferences.change_target(self._target, lambda of: replace(of, views=views))
        self._show_rows()

    @on(Grid.Opened)
    def _opened(self) -> None:
        """Use the view, or show or hide the column."""
        view = self._views.get(self._view_name)
        if view is None:
            self.action_mark()
            return
        self._use(view)
        self.action_close()

    def action_close(self) -> None:
        self.finish()


def _column_row(column: GridColumn, *, shown: bool) -> GridRow:
    name = column.title or column.key
    return GridRow(
        column.key,
        ((f"{'◆' if shown else ' '} {name}", "strong" if shown else "muted"), (column.about, "muted")),
        id=name,
    )


def _view_row(name: str, view: SavedView) -> GridRow:
    return GridRow(
        f"{_VIEW_PREFIX}{name}", ((f"view {clean(name)}", "accent"), (view_text(view), "muted")), id=clean(name)
    )
