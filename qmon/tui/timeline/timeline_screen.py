"""Screen 7: the events of all queues and targets, newest first. Enter shows the history around an event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from functools import partial
from itertools import chain

from textual import on
from textual.app import ComposeResult

from qmon.recording.history.timeline import TimelineEvent, join_related_events
from qmon.recording.times import local_zone, zone_info
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.history.time_text import day_clock_text
from qmon.tui.operations.reading_screen import OperationsReading
from qmon.tui.sanitize import clean
from qmon.tui.shown_state import ShownState
from qmon.tui.timeline.event_reader import EventsRead, EventsReader
from qmon.tui.timeline.event_rows import (
    COLUMNS,
    FLEET_COLUMNS,
    TargetEvent,
    detail_lines,
    event_row,
    searchable_text,
)
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridRow
from qmon.tui.widgets.lines import Lines


class TimelineText(Text):
    """The texts of the screen."""

    NONE = "no events yet"
    READING = "reading the recordings"
    IS_READING = "reading"
    READ_KEY = "G reads older events"
    SELECTED = "selected event"
    SINCE = "since {time}"
    UNREADABLE = "operations cannot be read: {problem}"
    UNREADABLE_OF = "operations of {target} cannot be read: {problem}"


class TimelineScreen(OperationsReading):
    """Verdicts that started and ended, operations, connections and alerts of all targets.

    New events come from memory, and older events from recordings.
    """

    NAME = "timeline"
    BINDINGS = keys.TIMELINE

    def __init__(self) -> None:
        super().__init__()
        archives = [archive for target in self.targets if (archive := target.past.archive) is not None]
        one_zone = not self.shows_all_targets and archives
        self._zone: tzinfo = zone_info(archives[0].zone if one_zone else local_zone())
        self._reader = EventsReader(self.targets, self) if archives else None
        # The recorded events that were read so far, keyed by target.
        self._recorded: dict[str, list[TimelineEvent]] = {}
        # The events of the last collection, keyed by target.
        self._given: dict[str, Sequence[TimelineEvent]] = {}
        # The events of the last collection, after related events were joined, keyed by target.
        self._joined: dict[str, list[TargetEvent]] = {}
        # The events of all targets, newest first, keyed by `TargetEvent.key`.
        self._events: dict[str, TargetEvent] = {}
        self._rows: dict[str, tuple[TargetEvent, GridRow]] = {}
        # The values from which the rows were drawn: events, filter, day, and the text for an empty table.
        self._drawn: tuple[dict[str, TargetEvent], str, date, str] = {}, "", date.min, ""

    @property
    def targets(self) -> Sequence[DashboardTarget]:
        return [member.target for member in self.app.members.values()]

    def compose_body(self) -> ComposeResult:
        yield Lines(id="timeline-heading")
        yield Grid(FLEET_COLUMNS if self.shows_all_targets else COLUMNS, id="timeline")
        yield Lines(id="chosen-heading")
        yield Lines(id="chosen")

    def prepare_to_show(self) -> None:
        """Read the first part of the recordings. This happens only once."""
        super().prepare_to_show()
        if self._reader is not None and not self._recorded:
            self._reader.read_more()

    def on_events_read(self, message: EventsRead) -> None:
        """Show older events below the known events."""
        if self._reader is not None:
            self._reader.finish_read(message)
        for target, event in message.events:
            self._recorded.setdefault(target, []).append(event)
        self._collect_events()
        self.redraw()

    def tick(self) -> None:
        """Show new events, including events of targets whose figures are not in ``shown``."""
        self._read_if_old()
        self.redraw()

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        if not shown.frozen or not self._events:
            self._collect_events()
        newest_at = next((found.event.at for found in self._events.values()), 0.0)
        today = next((target.memory.ends_at for target in self.targets if target.memory is not None), newest_at)
        day, empty = datetime.fromtimestamp(today, self._zone).date(), self._empty_text()
        drawn = (self._events, self.filter_text, day, empty)
        before, self._drawn = self._drawn, drawn
        if before[0] is self._events and before[1:] == drawn[1:]:
            return
        if before[2] != day:
            self._rows = {}
        kept = filter_items(
            self._events.values(), self.filter_text, partial(searchable_text, with_target=self.shows_all_targets)
        )
        self._rows = {found.key: self._reuse_or_build_row(found, today) for found in kept}
        self.grid.show([row for _, row in self._rows.values()], empty=empty)
        self._draw_selected_event()

    def _collect_events(self) -> None:
        """Collect the events of all targets, if there are new events."""
        given = {target.name: self._target_events(target) for target in self.targets}
        changed = [name for name, events in given.items() if events != self._given.get(name)]
        for name in changed:
            self._joined[name] = [
                TargetEvent(f"{name} {event.key}", name, event) for event in join_related_events(given[name])
            ]
        if changed:
            self._given = given
            found = sorted(chain.from_iterable(self._joined[name] for name in given), key=lambda each: -each.event.at)
            self._events = {each.key: each for each in found}

    def _target_events(self, target: DashboardTarget) -> Sequence[TimelineEvent]:
        """Return all known events of a target, newest first."""
        events = target.memory.events() if target.memory is not None else ()
        return sorted((*events, *self._recorded.get(target.name, ())), key=lambda event: -event.at)

    def _reuse_or_build_row(self, event: TargetEvent, today: float) -> tuple[TargetEvent, GridRow]:
        """Return the previous row if the event has not changed, otherwise a new row."""
        before = self._rows.get(event.key)
        if before is not None and before[0] == event:
            return before
        return event, event_row(event, self._zone, today, with_target=self.shows_all_targets)

    def _empty_text(self) -> str:
        if self._events:
            return self.no_match_text("event")
        reading = self._reader is not None and self._reader.is_reading
        return TimelineText.READING if reading else TimelineText.NONE

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Draw the title, with the number of events and the time of the oldest."""
        count = len(self.grid.row_keys)
        of = f"{count} of {len(self._events)}" if self.filter_text else f"{count}"
        parts = [of]
        if self._reader is not None and not self._reader.is_complete:
            parts.append(TimelineText.IS_READING if self._reader.is_reading else TimelineText.READ_KEY)
        elif (since_at := self._complete_since()) is not None:
            parts.append(TimelineText.SINCE.render(time=day_clock_text(since_at, self._zone)))
        parts += [
            TimelineText.UNREADABLE_OF.render(target=clean(name), problem=clean(problem))
            if self.shows_all_targets
            else TimelineText.UNREADABLE.render(problem=clean(problem))
            for name, problem in self.problems.items()
            if problem
        ]
        self.show_heading("timeline-heading", "event log", " · ".join(parts), aged=False)
        self.show_heading("chosen-heading", TimelineText.SELECTED, aged=False)

    def _complete_since(self) -> float | None:
        """Return the moment from which on no event is missing.

        If there are recordings, this is the time of the oldest event that was read.
        """
        if self._reader is None:
            return max((each.memory.oldest_event_at for each in self.targets if each.memory is not None), default=None)
        return min((found.event.at for found in self._events.values()), default=None)

    def _draw_selected_event(self) -> None:
        """Draw the whole text of the event under the cursor."""
        found = self._events.get(self.grid.cursor or "")
        self.set_class(found is None, "-nothing-chosen")
        if found is not None:
            self.query_one("#chosen", Lines).show(lambda cells, rows: detail_lines(found, cells, rows))

    @on(Grid.Selected)
    def _cursor_moved(self, message: Grid.Selected) -> None:
        """Show the whole text of the event. Read older events when the cursor reaches the last row."""
        self._draw_selected_event()
        if self._reader is not None and message.key is not None and self.grid.row_keys[-1:] == (message.key,):
            self._reader.read_more()
            self.redraw()

    @on(Grid.Opened)
    async def _open_row(self, message: Grid.Opened) -> None:
        found = self._events.get(message.key)
        if found is not None:
            self.app.select_target(found.target)
            await self.app.go_to_moment(found.event.queue, found.event.at)
