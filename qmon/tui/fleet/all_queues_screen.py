"""Screen 8: the queues of all targets in one table, worst first. Keys act on the queue under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual import getters, on
from textual.app import ComposeResult

from qmon.config.preferences import ALL_TARGETS
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.fleet.fleet_app import FleetApp
from qmon.tui.fleet.fleet_screen import FleetScreen
from qmon.tui.overview import queue_rows as overview
from qmon.tui.overview.overview_lines import proof_lines
from qmon.tui.overview.queue_list_screen import QueueListScreen
from qmon.tui.sanitize import clean
from qmon.tui.shown_state import ShownState
from qmon.tui.watched_target import WatchedTarget
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow
from qmon.tui.widgets.lines import Lines


class AllQueuesText(Text):
    """The text of a table without rows."""

    NO_QUEUE = "no queue is known yet"


COLUMNS: Final = (
    GridColumn("target", "TARGET", least=8, most=24, shrinks_to=12, about="the target of the queue"),
    *overview.COLUMNS,
)
# Separates target and queue in the key of a row. Neither name can contain it.
_KEY_SEPARATOR: Final = "\0"


class AllQueuesScreen(QueueListScreen, FleetScreen):
    """The queues of all targets."""

    NAME = "all-queues"
    BINDINGS = keys.ALL_QUEUES
    app = getters.app(FleetApp)
    SORT_COLUMNS = ("verdict", "target", *overview.SORT_COLUMNS[1:])

    def __init__(self) -> None:
        super().__init__()
        self._row_caches: dict[str, overview.RowCache] = {}

    def compose_body(self) -> ComposeResult:
        yield Lines(id="summary")
        yield Grid(COLUMNS, id="all-queues")
        yield Lines(id="why", most=3)

    @property
    def preferences_target(self) -> str:
        """A fixed name, so that all combinations of targets share their preferences."""
        return ALL_TARGETS

    @property
    def base_columns(self) -> tuple[GridColumn, ...]:
        return COLUMNS

    @property
    def queues(self) -> Iterable[QueueView]:
        """The queues of all targets."""
        return (queue for member in self.app.members.values() for queue in member.queues)

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        members = self.app.members.values()
        self.show_summary(now)
        of = {id(queue): member for member in members for queue in member.queues}
        every = sorted(
            (queue for member in members for queue in member.queues),
            key=lambda queue: (*of[id(queue)].ranking.sort_key(queue), of[id(queue)].name.casefold()),
        )
        kept = filter_items(
            every, self.filter_text, lambda queue: f"{of[id(queue)].name} {overview.searchable_text(queue)}"
        )
        kept = self._sort_queues(kept, of)
        rows = {member.name: self._member_rows(member, now) for member in members}
        empty = self.no_match_text("queue") if every else AllQueuesText.NO_QUEUE
        self.grid.use_columns(self.columns)
        made = [rows[of[id(queue)].name][queue.name] for queue in kept]
        arranged = self.row_arranger.arrange_rows(
            made, self.base_columns, self.columns, lambda key: self._queue_for_row(key)[1]
        )
        self.grid.show(arranged, sorted_by=self.sorted_by, empty=empty)
        self._draw_why(now)

    def _sort_queues(self, queues: list[QueueView], target_by_queue: dict[int, WatchedTarget]) -> list[QueueView]:
        by, descending = self.sorted_by
        if by == "target":
            return sorted(queues, key=lambda queue: target_by_queue[id(queue)].name.casefold(), reverse=descending)
        return overview.sort_queues(queues, by, descending)

    def _member_rows(self, member: WatchedTarget, now: float) -> dict[str, GridRow]:
        """Return the rows, keyed by queue name. Rows of a lost target are grey."""
        plain = overview.rows_for(member.queues, self.size.width, cache=self._row_caches.setdefault(member.name, {}))
        lost = member.is_lost(now)
        return {row.key: _add_target_cell(row, member, lost=lost) for row in plain}

    def _draw_why(self, now: float) -> None:
        member, queue = self._selected_queue()
        view = member.shown.view if member is not None else None
        if member is None or queue is None or view is None:
            self.query_one("#why", Lines).show(lambda cells, rows: [])
            return
        self.query_one("#why", Lines).show(
            lambda cells, rows: proof_lines("here", queue, view, cells, min(rows, 3)), stale=member.is_lost(now)
        )

    def _selected_queue(self) -> tuple[WatchedTarget | None, QueueView | None]:
        return self._queue_for_row(self.grid.cursor or "")

    def _queue_for_row(self, key: str) -> tuple[WatchedTarget | None, QueueView | None]:
        target, _, name = key.partition(_KEY_SEPARATOR)
        member = self.app.members.get(target)
        view = member.shown.view if member is not None else None
        return member, view.queue(name) if view is not None else None

    def current_queue(self) -> QueueView | None:
        """Return the queue under the cursor."""
        return self._selected_queue()[1]

    def action_act(self, action: str) -> None:
        """Act on the queue under the cursor with the runner of its target, even if keys follow each other quickly."""
        self._select_target()
        super().action_act(action)

    def _select_target(self) -> None:
        """Make the target under the cursor the current target."""
        target, _, name = (self.grid.cursor or "").partition(_KEY_SEPARATOR)
        if target in self.app.members:
            self.app.select_target(target)
            self.app.selected = name

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        if self.is_active:
            self._select_target()
            self._draw_why(self.app.clock())
            self._show_keys("")

    @on(Grid.Opened)
    async def _open_row(self, message: Grid.Opened) -> None:
        target, _, name = message.key.partition(_KEY_SEPARATOR)
        await self.app.go_to_target(target, name)

    def prepare_to_show(self) -> None:
        """Put the cursor on the queue that was last shown on another screen."""
        super().prepare_to_show()
        if self.app.has_shown_target and self.app.selected is not None:
            self.grid.select(f"{self.app.current.name}{_KEY_SEPARATOR}{self.app.selected}")


def _add_target_cell(row: GridRow, member: WatchedTarget, *, lost: bool) -> GridRow:
    cells = tuple((words, "faint") for words, _ in row.cells) if lost else row.cells
    first = (clean(member.name), "faint" if lost else "muted")
    return GridRow(f"{member.name}{_KEY_SEPARATOR}{row.key}", (first, *cells), row.notes, id=row.name)
