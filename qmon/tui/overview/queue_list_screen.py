"""The base class of screens that list queues. The user can choose columns and order, and qmon remembers the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from qmon.config.preferences import TargetPreferences
from qmon.model.view import QueueView
from qmon.tui.overview import column_choice as chosen
from qmon.tui.overview import queue_rows as overview
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.widgets.grid_table import GridColumn


class QueueListScreen(DashboardScreen):
    """A table of queues. Subclasses define the target for the preferences, and the usual columns."""

    def __init__(self) -> None:
        super().__init__()
        self.sorted_by = self._valid_sort(self.app.preferences.target_preferences(self.preferences_target).sort)
        self.row_arranger = chosen.RowArranger()
        self.optional_columns = chosen.OptionalColumns()

    @property
    def preferences_target(self) -> str:
        """The target whose preferences this screen uses."""
        return self.app.shown.target

    @property
    def base_columns(self) -> tuple[GridColumn, ...]:
        """The columns that the rows are built with."""
        return overview.COLUMNS

    @property
    def default_columns(self) -> tuple[GridColumn, ...]:
        """The columns that are shown if the user has chosen none."""
        return self.optional_columns.columns_with_optional(self.base_columns, self.queues, self.preferences_target)

    @property
    def queues(self) -> Iterable[QueueView]:
        """The queues of the newest figures."""
        view = self.app.shown.view
        return view.queues if view is not None else ()

    @property
    def columns(self) -> tuple[GridColumn, ...]:
        """The columns to show."""
        return chosen.chosen_columns(
            self.app.preferences.target_preferences(self.preferences_target).columns, self.default_columns
        )

    def _valid_sort(self, sort: tuple[str, bool] | None) -> tuple[str, bool]:
        """Return ``sort`` if its column exists, or the default order."""
        keys = {column.key for column in (*self.base_columns, *chosen.EXTRA_COLUMNS) if column.sortable}
        return sort if sort is not None and sort[0] in keys else overview.DEFAULT_SORT

    def sortable_columns(self) -> Sequence[str]:
        """Return the shown columns that ``s`` cycles through."""
        return chosen.sort_columns_for(self.grid.columns, self.SORT_COLUMNS)

    def _sort_by(self, column: str) -> None:
        super()._sort_by(column)
        self._save_preference(lambda of: replace(of, sort=self.sorted_by))

    def action_reverse(self) -> None:
        super().action_reverse()
        self._save_preference(lambda of: replace(of, sort=self.sorted_by))

    def _save_preference(self, change: Callable[[TargetPreferences], TargetPreferences]) -> None:
        self.app.preferences.change_target(self.preferences_target, change)

    def action_choose_columns(self) -> None:
        """Open the dialog for columns."""
        columns = self.app.preferences.target_preferences(self.preferences_target).columns
        self.app.push_screen(
            chosen.ColumnDialog(self.default_columns, chosen.EXTRA_COLUMNS, columns, self._show_columns)
        )

    def _show_columns(self, columns: tuple[str, ...]) -> None:
        self._save_preference(lambda of: replace(of, columns=columns))
        self.redraw()
