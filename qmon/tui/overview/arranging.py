"""The base of screens that list queues: columns, order and saved views can be chosen and are remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from qmon.config.preferences import OfTarget, SavedView
from qmon.model.view import QueueView
from qmon.tui.overview import columns as chosen
from qmon.tui.overview import rows as overview
from qmon.tui.palette_items import PaletteItem
from qmon.tui.shared.screen import DashboardScreen
from qmon.tui.widgets.columns import GridColumn


class ArrangedScreen(DashboardScreen):
    """A table of queues. Subclasses define the target of its preferences and the usual columns."""

    def __init__(self) -> None:
        super().__init__()
        self.sorted_by = self._sound(self.app.preferences.of(self.remembered_as).sort)
        self.arranged = chosen.Arranged()
        self.if_any = chosen.ColumnsIfAny()

    @property
    def remembered_as(self) -> str:
        """The target whose preferences this screen uses."""
        return self.app.shown.target

    @property
    def usual(self) -> tuple[GridColumn, ...]:
        """The columns that the rows are built with."""
        return overview.COLUMNS

    @property
    def defaults(self) -> tuple[GridColumn, ...]:
        """The columns shown if the user has chosen none."""
        return self.if_any.added_to(self.usual, self.queues, self.remembered_as)

    @property
    def queues(self) -> Iterable[QueueView]:
        """The queues of the newest figures."""
        view = self.app.shown.view
        return view.queues if view is not None else ()

    @property
    def columns(self) -> tuple[GridColumn, ...]:
        """The columns to show."""
        return chosen.wanted(self.app.preferences.of(self.remembered_as).columns, self.defaults)

    def _sound(self, sort: tuple[str, bool] | None) -> tuple[str, bool]:
        """Return ``sort`` if its column exists, or the default order."""
        keys = {column.key for column in (*self.usual, *chosen.MORE) if column.sortable}
        return sort if sort is not None and sort[0] in keys else overview.DEFAULT_SORT

    def sorts(self) -> Sequence[str]:
        """Return the shown columns that ``s`` cycles through."""
        return chosen.sorts(self.grid.columns, self.SORTS)

    def _sort_by(self, column: str) -> None:
        super()._sort_by(column)
        self._remember(lambda of: replace(of, sort=self.sorted_by))

    def action_reverse(self) -> None:
        super().action_reverse()
        self._remember(lambda of: replace(of, sort=self.sorted_by))

    def _remember(self, change: Callable[[OfTarget], OfTarget]) -> None:
        self.app.preferences.change(self.remembered_as, change)

    def action_choose_columns(self) -> None:
        """Open the dialog for columns and views."""
        from qmon.tui.overview.choosing import ChoosingDialog

        preferences, name = self.app.preferences, self.remembered_as
        now = SavedView(self.filter_text, self.sorted_by, preferences.of(name).columns)
        self.app.push_screen(ChoosingDialog(self.defaults, chosen.MORE, now, self._use_view, preferences, name))

    def _use_view(self, view: SavedView) -> None:
        self.filter_text, self.sorted_by = view.filter, self._sound(view.sort)
        self._remember(lambda of: replace(of, columns=view.columns, sort=self.sorted_by))
        self.redraw()

    def places(self) -> list[PaletteItem]:
        """Add the saved views to what the palette can go to."""

        async def use(view: SavedView) -> None:
            self._use_view(view)

        views = self.app.preferences.of(self.remembered_as).views
        items = [
            PaletteItem(f"view:{name}", "", name, f"use this view: {chosen.words(view)}", "Views", partial(use, view))
            for name, view in sorted(views.items())
        ]
        return [*items, *super().places()]
