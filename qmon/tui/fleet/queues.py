"""Screen 9: the queues of all targets in one table, worst first. Keys act on the queue under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual import getters, on
from textual.app import ComposeResult

from qmon.config.preferences import ALL_TARGETS
from qmon.model.view import QueueView
from qmon.tui import keys
from qmon.tui.fleet.app import FleetApp
from qmon.tui.fleet.member import Member
from qmon.tui.fleet.screen import FleetScreen
from qmon.tui.overview import rows as overview
from qmon.tui.overview.arranging import ArrangedScreen
from qmon.tui.overview.panels import proof
from qmon.tui.sanitize import clean
from qmon.tui.status import Shown
from qmon.tui.widgets.columns import GridColumn, GridRow
from qmon.tui.widgets.filter_bar import keep
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines

COLUMNS: Final = (
    GridColumn("target", "TARGET", least=8, most=24, shrinks_to=12, about="the target of the queue"),
    *overview.COLUMNS,
)
# Separates target and queue in the key of a row. Neither name can contain it.
_BETWEEN: Final = "\0"


class AllQueuesScreen(ArrangedScreen, FleetScreen):
    """The queues of all targets."""

    NAME = "all-queues"
    BINDINGS = keys.ALL_QUEUES
    app = getters.app(FleetApp)
    SORTS = ("verdict", "target", *overview.SORTS[1:])

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, overview.Known] = {}

    def body(self) -> ComposeResult:
        yield Lines(id="summary")
        yield Grid(COLUMNS, id="all-queues")
        yield Lines(id="why", most=3)

    @property
    def remembered_as(self) -> str:
        """One shared name, whichever targets are watched."""
        return ALL_TARGETS

    @property
    def usual(self) -> tuple[GridColumn, ...]:
        return COLUMNS

    @property
    def queues(self) -> Iterable[QueueView]:
        """The queues of all targets."""
        return (queue for member in self.app.members.values() for queue in member.queues)

    def draw(self, shown: Shown, now: float, *, stale: bool) -> None:
        members = self.app.members.values()
        self.show_summary(now)
        of = {id(queue): member for member in members for queue in member.queues}
        every = sorted(
            (queue for member in members for queue in member.queues),
            key=lambda queue: (*of[id(queue)].ranking.order(queue), of[id(queue)].name.casefold()),
        )
        kept = keep(every, self.filter_text, lambda queue: f"{of[id(queue)].name} {overview.words(queue)}")
        kept = self._ordered(kept, of)
        rows = {member.name: self._rows(member, now) for member in members}
        empty = f"no queue matches {clean(self.filter_text)}" if every else "no queue is known yet"
        self.grid.use_columns(self.columns)
        made = [rows[of[id(queue)].name][queue.name] for queue in kept]
        arranged = self.arranged.rows(made, self.usual, self.columns, lambda key: self._of_row(key)[1])
        self.grid.show(arranged, sorted_by=self.sorted_by, empty=empty)
        self._draw_why(now)

    def _ordered(self, kept: list[QueueView], of: dict[int, Member]) -> list[QueueView]:
        by, descending = self.sorted_by
        if by == "target":
            return sorted(kept, key=lambda queue: of[id(queue)].name.casefold(), reverse=descending)
        return overview.ordered(kept, by, descending)

    def _rows(self, member: Member, now: float) -> dict[str, GridRow]:
        """Return the rows by queue name. Those of a lost target are grey."""
        plain = overview.rows(member.queues, self.size.width, known=self._known.setdefault(member.name, {}))
        lost = member.lost(now)
        return {row.key: _with_target(row, member, lost=lost) for row in plain}

    def _draw_why(self, now: float) -> None:
        member, queue = self._selected()
        view = member.shown.view if member is not None else None
        if member is None or queue is None or view is None:
            self.query_one("#why", Lines).show(lambda cells, rows: [])
            return
        self.query_one("#why", Lines).show(
            lambda cells, rows: proof("here", queue, view, cells, min(rows, 3)), stale=member.lost(now)
        )

    def _selected(self) -> tuple[Member | None, QueueView | None]:
        return self._of_row(self.grid.cursor or "")

    def _of_row(self, key: str) -> tuple[Member | None, QueueView | None]:
        target, _, name = key.partition(_BETWEEN)
        member = self.app.members.get(target)
        view = member.shown.view if member is not None else None
        return member, view.queue(name) if view is not None else None

    def acting_on(self) -> QueueView | None:
        """Return the queue under the cursor."""
        return self._selected()[1]

    def action_act(self, action: str) -> None:
        """Act on the queue under the cursor with its target's runner, even if keys follow quickly."""
        self._take_up()
        super().action_act(action)

    def _take_up(self) -> None:
        """Make the target under the cursor the current one."""
        target, _, name = (self.grid.cursor or "").partition(_BETWEEN)
        if target in self.app.members:
            self.app.take_up(target)
            self.app.selected = name

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        if self.is_current:
            self._take_up()
            self._draw_why(self.app.clock())
            self._show_keys("")

    @on(Grid.Opened)
    async def _opened(self, message: Grid.Opened) -> None:
        target, _, name = message.key.partition(_BETWEEN)
        await self.app.go_to(target, name)

    def on_screen_resume(self) -> None:
        """Put the cursor on the queue that was last shown on another screen."""
        if self.app.left_all and self.app.selected is not None:
            self.grid.select(f"{self.app.current.name}{_BETWEEN}{self.app.selected}")


def _with_target(row: GridRow, member: Member, *, lost: bool) -> GridRow:
    cells = tuple((words, "faint") for words, _ in row.cells) if lost else row.cells
    first = (clean(member.name), "faint" if lost else "muted")
    return GridRow(f"{member.name}{_BETWEEN}{row.key}", (first, *cells), row.notes, id=row.name)
