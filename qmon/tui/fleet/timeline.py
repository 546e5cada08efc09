"""Screen 8: the events of all targets, newest first. Enter shows the history around an event."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from textual import on
from textual.app import ComposeResult

from qmon.recording.history.timeline import TimelineEvent, join_related_events
from qmon.recording.times import local_zone, zone_info
from qmon.tui import keys
from qmon.tui.fleet.fleet_screen import FleetScreen
from qmon.tui.sanitize import clean
from qmon.tui.status import Shown
from qmon.tui.timeline import event_rows
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow
from qmon.tui.widgets.lines import Lines

COLUMNS: Final = (
    event_rows.COLUMNS[0],
    GridColumn("target", "TARGET", least=8, most=24, shrinks_to=12, sortable=False, about="target of the event"),
    *event_rows.COLUMNS[1:],
)
# The maximum number of events per target; the newest are shown.
_MAX_EVENTS_PER_TARGET: Final = 300


class AllEventsScreen(FleetScreen):
    """Verdicts that started and ended, connections and alerts of all targets since qmon started."""

    NAME = "all-events"
    BINDINGS = keys.TIMELINE

    def __init__(self) -> None:
        super().__init__()
        self._zone: tzinfo = zone_info(local_zone())
        self._events: dict[str, tuple[str, TimelineEvent]] = {}

    def compose_body(self) -> ComposeResult:
        yield Lines(id="summary")
        yield Grid(COLUMNS, id="all-events")

    def _changed(self) -> None:
        """Do nothing: this screen is drawn once a second, because many targets change all the time."""

    def draw_figures(self, shown: Shown, now: float, *, stale: bool) -> None:
        members = self.app.members.values()
        self.show_summary(now)
        found = [
            (each.name, event)
            for each in members
            for event in join_related_events(each.memory.events()[:_MAX_EVENTS_PER_TARGET])
        ]
        found.sort(key=lambda one: -one[1].at)
        self._events = {f"{target} {event.key}": (target, event) for target, event in found}
        kept = filter_items(
            [*self._events.items()],
            self.filter_text,
            lambda one: f"{one[1][0]} {event_rows.searchable_text(one[1][1])}",
        )
        today = self.app.current.memory.ends_at
        made = [self._event_row(key, target, event, today) for key, (target, event) in kept]
        nothing = f"no event matches {clean(self.filter_text)}" if found else "no events yet"
        self.grid.show(made, empty=nothing)

    def _event_row(self, key: str, target: str, event: TimelineEvent, today: float) -> GridRow:
        of_target = event_rows.event_row(event, self._zone, today)
        when, *others = of_target.cells
        return GridRow(key, (when, (clean(target), "muted"), *others), id=f"{target}/{event.queue}")

    @on(Grid.Opened)
    async def _opened(self, message: Grid.Opened) -> None:
        target, event = self._events.get(message.key, ("", None))
        if event is not None:
            self.app.select_target(target)
            await self.app.go_to_moment(event.queue, event.at)
