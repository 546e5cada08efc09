"""Screen 5: the history of a queue as a plot over its usual band. Incidents and operations are below the plot."""

from __future__ import annotations

import math
import time
from datetime import tzinfo
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal

from qmon.model.baseline_bands import Band
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.times import local_zone, zone_info
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.history import history_panel, marks
from qmon.tui.history.marks import PlotEvent
from qmon.tui.history.shown_range import ShownRange
from qmon.tui.operations.reading_screen import OperationsReading
from qmon.tui.past_reader import MarkFound, PastRead, PastReader, PastRequest
from qmon.tui.plots.range_plot import SCALE_CELLS, draw_cursor, range_plot_lines
from qmon.tui.sanitize import clean
from qmon.tui.shared import topics
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line, wrap_text
from qmon.tui.themes import is_plain
from qmon.tui.widgets.lines import Lines
from qmon.tui.widgets.plot_panel import PlotPanel

# Seconds after which a live range is read again.
_REREAD_S: Final = 10.0
_FRAME_ROWS: Final = 4  # lines around the plot: the name, the axis, and two lines for events
# Screens of at least this many cells list the events next to the plot.
_LIST_FROM: Final = 160
_EVENT_LIST_CELLS: Final = 56


class HistoryNotice(Text):
    """The notices of the screen."""

    NO_MORE_EVENTS = "no more incidents or operations of this queue in this direction"
    NO_REPLAY = "only a replay can jump to a moment"
    NOT_READ_YET = "no data has been read yet"
    REPLAY_MOVED = "replay moved to the cursor; 1 shows all queues at that moment"


class HistoryScreen(OperationsReading):
    """One figure of one queue over time."""

    NAME = "history"
    BINDINGS = keys.HISTORY
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_LIST_FROM, "-listed")]  # noqa: RUF012  # see DashboardScreen

    def __init__(self) -> None:
        super().__init__()
        self.figure = history_panel.NAMES[0]
        archive = self.app.known_past.archive
        zone = archive.zone if archive is not None else local_zone()
        pasts = RangeReader(archive, self.app.memory, zone)
        # The shown range.
        self.range = ShownRange(pasts)
        self.zone: tzinfo = zone_info(zone)
        self.past: PastRange | None = None
        self.plot_events: tuple[PlotEvent, ...] = ()
        self.chosen_event: PlotEvent | None = None
        # The moment whose figures are shown.
        self.cursor_at: float | None = None
        # The first end of a range that the user is marking.
        self.marked_at: float | None = None
        self._reader = PastReader(pasts, self)
        self.is_reading = False
        self._last_request: PastRequest | None = None
        self._requested_at = 0.0
        self._choose_event_at: float | None = None
        self._known_range = (0.0, 0.0)
        self._past_queues: frozenset[str] = frozenset()
        self._stopped = False
        self._plot_cache: tuple[object, list[Line]] = (None, [])

    def compose_body(self) -> ComposeResult:
        yield Lines(id="choice")
        yield Lines(id="figures")
        with Horizontal(id="past-side"):
            yield PlotPanel(SCALE_CELLS + 1, id="past")
            yield Lines(id="events")
        yield Lines(id="values")
        yield Lines(id="event")
        yield Lines(id="usual")

    # ------------------------------------------------------------------------------------------------------ reading

    @property
    def queue(self) -> str:
        """The selected queue, or the first queue; empty if no queue is known yet."""
        view, names, chosen = self.app.shown.view, self._queue_names(), self.app.selected
        if chosen is not None and (chosen in names or view is None):
            return chosen
        return names[0] if names else ""

    def _queue_names(self) -> tuple[str, ...]:
        """Return the names of the queues in the newest view and in the range."""
        view = self.app.shown.view
        now = {queue.name for queue in view.queues} if view is not None else set()
        return tuple(sorted(now | self._past_queues, key=str.casefold))

    @property
    def _step_count(self) -> int:
        """The number of steps that fit on the screen: one per column."""
        width = self.size.width
        return max(0, width - (_EVENT_LIST_CELLS + 2 if width >= _LIST_FROM else 0) - SCALE_CELLS - 2)

    def _wanted_request(self) -> PastRequest | None:
        return self.range.request_for(self.queue, self._step_count)

    def _read_range(self, *, again: bool = False) -> None:
        """Read the chosen range.

        ``again``: the range on screen is read again. The old data stays on screen until the new data is complete.
        """
        wanted = self._wanted_request()
        if wanted is not None:
            self._last_request, self._requested_at, self._stopped = wanted, time.monotonic(), False
            self._reader.read_range(wanted, complete_only=again)
            self.is_reading = True

    def _read_if_outdated(self) -> None:
        """Read if the user has chosen other data. A live range is also read again from time to time."""
        wanted, asked = self._wanted_request(), self._last_request
        if wanted is None or not self.is_current:
            return
        same = asked is not None and (asked.queue, asked.step_s, asked.count) == (
            wanted.queue,
            wanted.step_s,
            wanted.count,
        )
        old = time.monotonic() - self._requested_at >= min(_REREAD_S, 2 * wanted.step_s)
        if not same:
            self._read_range()
        elif self.range.is_live and old and not self.is_reading and not self._stopped:
            self._read_range(again=True)

    def operations_changed(self) -> None:
        """Read the range again, to show the new operations below the plot."""
        if not self.is_reading and not self._stopped and self.is_current:
            self._read_range(again=True)

    def on_past_read(self, message: PastRead) -> None:
        """Show a range, or the part of it that has been read so far."""
        if message.number != self._reader.number:
            return
        self.past, self._known_range = message.past, (message.begins_at, message.ends_at)
        self._past_queues = frozenset(message.past.queues) | (
            self._past_queues if message.past.read < 1.0 else frozenset()
        )
        self.is_reading = self.is_reading and message.past.read < 1.0
        before, self.plot_events = self.chosen_event, marks.events_in(message.past)
        if before is not None and not self.is_reading:
            self.chosen_event = next(
                (e for e in self.plot_events if e.symbol == before.symbol and e.overlaps(before)), None
            )
        if self._choose_event_at is not None and not self.is_reading:
            at, self._choose_event_at = self._choose_event_at, None
            near = [e for e in self.plot_events if e.at - 1 <= at <= e.until_at + 1]
            self.chosen_event = max(
                near,
                key=lambda event: (event.is_operation and abs(event.at - at) < 1, event.at),
                default=self.chosen_event,
            )
            self.cursor_at = at
        self.redraw()

    def on_mark_found(self, message: MarkFound) -> None:
        """Go to the incident or operation that was found."""
        if message.number != self._reader.number:
            return
        self.is_reading = False
        if message.mark is None:
            self.app.notify_briefly(HistoryNotice.NO_MORE_EVENTS)
            self.redraw()
            return
        self._choose_event_at = message.mark.at
        self._move_end(message.mark.at + self.range.length_s(self._step_count) / 2)

    def on_resize(self, event: events.Resize) -> None:
        """Redraw, because the number of steps that fit has changed."""
        self.redraw()

    def prepare_to_show(self) -> None:
        """Show the requested moment, if there is one."""
        super().prepare_to_show()
        if (at := self.app.history_moment) is not None:
            self.app.history_moment = self.chosen_event = self.marked_at = None
            self.range.show_around(at, self._step_count)
            self._choose_event_at = self.cursor_at = at
            self._read_range()

    def on_screen_suspend(self) -> None:
        """Stop reading."""
        self._reader.stop()
        if self.is_reading:
            self.is_reading, self._last_request = False, None

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        """Draw the data that was read, or the reason why there is no data."""
        self._read_if_outdated()
        past, queue, recorded = self.past, self.queue or "–", self.app.known_past.archive is not None
        state = history_panel.reading_state(past, reading=self.is_reading and recorded, stopped=self._stopped)
        self.query_one("#choice", Lines).show(
            lambda cells, _: [history_panel.choice_line(queue, self.range.span_name, past, self.zone, state, cells)]
        )
        self.query_one("#figures", Lines).show(lambda cells, _: [history_panel.figure_line(self.figure, cells)])
        if past is None:
            self._show_text("reading")
            return
        more = "" if recorded else history_panel.recording_hint(shown)
        if why := history_panel.empty_reason(past, self.figure, *self._known_range, self.zone, more):
            self._show_text(why)
            return
        bands = history_panel.bands_for(past, self.figure, self.app.known_past, shown.target)
        mark, at = self._visible_event, self._visible_cursor
        writers = {
            "#past": lambda cells, rows: self._plot_lines(past, bands, rows),
            "#events": lambda cells, rows: marks.event_list(self.plot_events, mark, self.zone, cells, rows),
            "#values": lambda cells, _: [history_panel.values_line(past, self.figure, at, self.zone, cells)],
            "#event": lambda cells, _: [marks.event_line(self.plot_events, mark, self.zone, cells)],
            "#usual": lambda cells, _: [
                history_panel.usual_line(
                    past, self.figure, bands, self.app.known_past, shown.target, at, self.zone, cells
                )
            ],
        }
        for id, writer in writers.items():
            self.query_one(id, Lines).show(writer)

    def _plot_lines(self, past: PastRange, bands: list[Band | None], rows: int) -> list[Line]:
        """Return the plot, its axis and the events. Reuse the last result if no value in the plot has changed."""
        here = self.app.known_past.here() if self.app.known_past.here is not None else None
        at = self._visible_cursor
        key = (past, self.figure, self._visible_event, here, at, self.marked_at, rows, self.app.theme)
        if self._plot_cache[0] != key:
            shown, columns = history_panel.FIGURES[self.figure], len(past.steps[self.figure])
            drawn = range_plot_lines(
                past.steps[self.figure],
                bands,
                max(2, rows - _FRAME_ROWS),
                shown.value_with_unit,
                tone=history_panel.figure_tone(shown),
                plain=is_plain(self.app.theme),
            )
            if at is not None:
                drawn = [draw_cursor(line, history_panel.step_index(past, at)) for line in drawn]
            marked = (self.marked_at, at) if self.marked_at is not None and at is not None else None
            below = [
                history_panel.axis_line(past, self.zone, here, marked),
                *marks.mark_lines(past, self.plot_events, self._visible_event, columns),
            ]
            self._plot_cache = (key, [history_panel.axis_title(self.figure), *drawn, *below])
        return self._plot_cache[1]

    @property
    def _visible_cursor(self) -> float | None:
        """The moment at the cursor, if this moment is within the shown range."""
        past, at = self.past, self.cursor_at
        return at if past is not None and at is not None and past.since_at <= at < past.until_at else None

    @property
    def _visible_event(self) -> PlotEvent | None:
        """The chosen event, if it is among the events read."""
        return self.chosen_event if self.chosen_event in self.plot_events else None

    def _show_text(self, text: str) -> None:
        """Show this text instead of the plot."""
        self.query_one("#past", Lines).show(
            lambda cells, _: [
                (),
                *(((f"  {each}", "text"),) for each in wrap_text(clean(text), cells - 3, cells - 3, 3)),
            ]
        )
        for id in ("#events", "#values", "#event", "#usual"):
            self.query_one(id, Lines).show(lambda cells, _: [((" ", "text"),)])

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Read again if needed. This screen shows no ages."""
        self._read_if_outdated()

    def _bar_bindings(self) -> list[Binding]:
        here = keys.bindings_in(self.BINDINGS)
        taken = {binding.id for binding in here}
        return [*here, *(binding for binding in keys.bindings_in(self.app.BINDINGS) if binding.id not in taken)]

    def disabled_reasons(self) -> dict[str, str]:
        """Return why ``go-there`` is disabled: only a replay can jump to a moment."""
        return {} if self.app.known_past.go is not None else {"go-there": HistoryNotice.NO_REPLAY}

    def help_topics(self) -> list[topics.TopicGroup]:
        """Return the plotted figure."""
        return topics.figure_topics(self.figure.removesuffix("_s"))

    def _move_end(self, until_at: float) -> None:
        """Move the end of the range, limited by the known data."""
        self.range.set_end(until_at, self._known_range[0], self._step_count)
        self._read_range()
        self.redraw()

    def action_figure(self, by: int) -> None:
        self.figure = history_panel.NAMES[(history_panel.NAMES.index(self.figure) + by) % len(history_panel.NAMES)]
        self.redraw()

    def action_neighbour(self, by: int) -> None:
        if (name := self.neighbour_queue(by, self._queue_names(), self.queue)) is not None:
            self.app.selected, self.chosen_event = name, None
            self.redraw()

    def action_cursor(self, by: int) -> None:
        """Move the cursor by one column. Past the edge, scroll by half a range."""
        past = self.past
        if past is None:
            return
        self.chosen_event = None
        if (at := self._visible_cursor) is None:
            self.cursor_at = history_panel.step_middle(past, history_panel.newest_step(past, self.figure))
        else:
            self.cursor_at = history_panel.step_middle(past, history_panel.step_index(past, at) + by)
            if self._visible_cursor is None:
                before = self.range.until_at
                self.action_page(by)
                if self.range.until_at == before:
                    self.cursor_at = at
        self.redraw()

    def action_mark(self) -> None:
        """Mark the moment at the cursor as one end of a range. If an end is already marked, zoom into the range."""
        past = self.past
        if past is None:
            return
        if self._visible_cursor is None:
            self.action_cursor(0)
        elif self.marked_at is None:
            self.marked_at = self.cursor_at
        elif self.cursor_at is not None:
            since_at, until_at = sorted((self.marked_at, self.cursor_at))
            self.marked_at = None
            self.range.show_between(since_at - past.step_s / 2, until_at + past.step_s / 2)
            self._read_range()
        self.redraw()

    @on(PlotPanel.MouseUsed)
    def _pressed(self, message: PlotPanel.MouseUsed) -> None:
        """Move the cursor to the mouse, or mark a range by dragging."""
        if self.past is None:
            return
        at = history_panel.step_middle(self.past, min(len(self.past.steps[self.figure]) - 1, max(0, message.column)))
        if message.dragged and self.marked_at is None:
            self.marked_at = self.cursor_at
        self.cursor_at, self.chosen_event = at, None
        if message.dragged and message.released:
            self.action_mark()
        elif not message.dragged and not message.released:
            self.marked_at = None
        self.redraw()

    @on(PlotPanel.Wheeled)
    def _wheeled(self, message: PlotPanel.Wheeled) -> None:
        """Zoom around the moment under the mouse."""
        if self.past is not None:
            self._zoom_around(message.by, history_panel.step_middle(self.past, message.column))

    def action_zoom(self, by: int) -> None:
        """Zoom around the cursor, or around the middle. A range that ends with the newest data keeps its end."""
        self._zoom_around(by, self._visible_cursor)

    def _zoom_around(self, by: int, around_at: float | None) -> None:
        if self.range.zoom(by, around_at, self._known_range[0], self._step_count):
            self._read_range()
            self.redraw()

    def action_page(self, by: int) -> None:
        """Scroll by half a range."""
        self._move_end(self.range.until_at + by * self.range.length_s(self._step_count) / 2)

    def action_end(self, by: int) -> None:
        """Go to the start (``-1``) or the end (``1``) of the known data."""
        self._move_end(math.inf if by > 0 else self._known_range[0] + self.range.length_s(self._step_count))

    def action_jump(self, direction: int) -> None:
        """Go to the next or previous incident or operation. If the event is outside the range, move the range."""
        past, forward = self.past, direction > 0
        if past is None or self.is_reading:
            return
        place = (
            self.plot_events.index(self.chosen_event)
            if self.chosen_event in self.plot_events
            else -1
            if forward
            else len(self.plot_events)
        )
        place += 1 if forward else -1
        if 0 <= place < len(self.plot_events):
            self.chosen_event = self.plot_events[place]
            self.cursor_at = self.chosen_event.at
            self.redraw()
            return
        edge = past.until_at if forward else past.since_at
        if self.chosen_event is not None:
            edge = max(edge, self.chosen_event.until_at) if forward else min(edge, self.chosen_event.at)
        self._reader.find_jump_point(past.queue, edge, forward=forward)
        self.is_reading = True
        self.redraw()

    def action_open(self) -> None:
        """Move the replay to the cursor, or to the middle of the range."""
        go, past = self.app.known_past.go, self.past
        if go is None or past is None:
            self.app.notify_briefly(self.disabled_reasons().get("go-there", HistoryNotice.NOT_READ_YET))
            return
        go(self.cursor_at or (past.since_at + past.until_at) / 2)
        self.app.notify_briefly(HistoryNotice.REPLAY_MOVED)

    def action_back(self) -> None:
        """Do the first that applies: stop reading, remove the mark, remove the cursor, go back to the overview."""
        if self.is_reading and self.app.known_past.archive is not None:
            self._reader.stop()
            self.is_reading, self._stopped = False, True
        elif self.marked_at is not None:
            self.marked_at = None
        elif self.cursor_at is not None:
            self.cursor_at = self.chosen_event = None
        else:
            super().action_back()
            return
        self.redraw()
