"""Screen 7: the event log of all queues, newest first. Enter shows the history around an event."""

from __future__ import annotations

from datetime import tzinfo
from math import inf

from textual import on
from textual.app import ComposeResult

from qmon.recording.history.timeline import TimelineEvent, join_related_events
from qmon.recording.times import local_zone, zone_info
from qmon.tui import keys
from qmon.tui.history.time_text import day_clock_text
from qmon.tui.operations.reading_screen import OperationsReading
from qmon.tui.sanitize import clean
from qmon.tui.status import Shown
from qmon.tui.timeline import event_rows
from qmon.tui.timeline.reader import EventsRead, EventsReader
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridRow
from qmon.tui.widgets.lines import Lines


class TimelineScreen(OperationsReading):
    """Verdicts that started and ended, operations, connections and alerts.

    Events come from memory, older ones from recordings.
    """

    NAME = "timeline"
    BINDINGS = keys.TIMELINE

    def __init__(self) -> None:
        super().__init__()
        known, memory = self.app.known_past, self.app.memory
        self._zone: tzinfo = zone_info(known.archive.zone if known.archive is not None else local_zone())
        self._recorded: tuple[TimelineEvent, ...] = ()
        self._reader: EventsReader | None = None
        if known.archive is not None:
            self._reader = EventsReader(known.archive, memory.oldest_event_at if memory is not None else inf, self)
        self._events: dict[str, TimelineEvent] = {}
        self._rows: dict[str, tuple[TimelineEvent, GridRow]] = {}

    def compose_body(self) -> ComposeResult:
        yield Lines(id="timeline-heading")
        yield Grid(event_rows.COLUMNS, id="timeline")

    def on_screen_resume(self) -> None:
        """Read the first part of the recordings, once."""
        super().on_screen_resume()
        if self._reader is not None and not self._recorded:
            self._reader.read_more()

    def on_events_read(self, message: EventsRead) -> None:
        """Show older events below the others."""
        if self._reader is not None:
            self._reader.finish_read(message)
        self._recorded += message.events
        self.redraw()

    def draw_figures(self, shown: Shown, now: float, *, stale: bool) -> None:
        memory = self.app.memory
        found = join_related_events((*(memory.events() if memory is not None else ()), *self._recorded))
        self._events = {event.key: event for event in found}
        newest_at = found[0].at if found else 0.0
        today = memory.ends_at if memory is not None else newest_at
        kept = filter_items(tuple(self._events.values()), self.filter_text, event_rows.searchable_text)
        made = {event.key: self._reuse_or_build_row(event, today) for event in kept}
        self._rows = made
        self.grid.show([row for _, row in made.values()], empty=self._empty_text())

    def _reuse_or_build_row(self, event: TimelineEvent, today: float) -> tuple[TimelineEvent, GridRow]:
        """Return the previous row if the event is the same, otherwise a new one."""
        before = self._rows.get(event.key)
        if (
            before is not None
            and before[0] == event
            and before[1].cells[0][0] == event_rows.time_text(event.at, self._zone, today)
        ):
            return before
        return event, event_rows.event_row(event, self._zone, today)

    def _empty_text(self) -> str:
        if self._events:
            return f"no event matches {clean(self.filter_text)}"
        reading = self._reader is not None and self._reader.is_reading
        return "reading the recordings" if reading else "no events yet"

    def draw_ages(self, shown: Shown, now: float) -> None:
        """Draw the title, with the number of events and the time of the oldest."""
        count = len(self.grid.row_keys)
        of = f"{count} of {len(self._events)}" if self.filter_text else f"{count}"
        oldest = min((event.at for event in self._events.values()), default=None)
        parts = [of]
        if self._reader is not None and not self._reader.is_complete:
            parts.append("reading" if self._reader.is_reading else "G reads older events")
        elif self.app.memory is not None and self._reader is None:
            parts.append(f"since {day_clock_text(self.app.memory.oldest_event_at, self._zone)}")
        elif oldest is not None:
            parts.append(f"since {day_clock_text(oldest, self._zone)}")
        if self._problem:
            parts.append(f"operations cannot be read: {clean(self._problem)}")
        self.show_heading("timeline-heading", "event log", " · ".join(parts), aged=False)

    @on(Grid.Selected)
    def _cursor_moved(self, message: Grid.Selected) -> None:
        """Read older events when the cursor reaches the last row."""
        if self._reader is not None and message.key is not None and self.grid.row_keys[-1:] == (message.key,):
            self._reader.read_more()
            self.redraw()

    @on(Grid.Opened)
    async def _opened(self, message: Grid.Opened) -> None:
        event = self._events.get(message.key)
        if event is not None:
            await self.app.go_to_moment(event.queue, event.at)
