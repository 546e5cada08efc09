"""Screen 5: any range of the recording, with the usual band behind the line, and incidents and operations below it."""

from __future__ import annotations

import math
import time
from datetime import tzinfo
from typing import Final

from textual.app import ComposeResult
from textual.binding import Binding

from qmon.model.baselines import Band
from qmon.model.view import QueueView
from qmon.recording.history.range_query import Past
from qmon.recording.times import zone_of
from qmon.tui import keys
from qmon.tui.history import panel
from qmon.tui.history.panel import Event
from qmon.tui.history.plot import PER_CELL, plot, steps_for
from qmon.tui.history.range import SPAN_NAMES, Range
from qmon.tui.past_reader import MarkFound, PastRead, PastReader, PastRequest
from qmon.tui.sanitize import clean
from qmon.tui.shared.screen import DashboardScreen
from qmon.tui.spans import Line, wrap
from qmon.tui.status import Shown
from qmon.tui.themes import is_plain
from qmon.tui.widgets.lines import Lines

_ANEW_S: Final = 10.0
"""The end of what is being recorded is read again after so long."""
_BELOW: Final = 3


class HistoryScreen(DashboardScreen):
    """One figure of one queue over time."""

    NAME = "history"
    BINDINGS = keys.HISTORY
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.figure = panel.NAMES[0]
        self.range: Range | None = None
        """Which one is shown; ``None``: nothing is recorded."""
        self.past: Past | None = None
        self.found: tuple[Event, ...] = ()
        self.mark: Event | None = None
        self._reader: PastReader | None = None
        self.reading = False
        """Whether something is being read."""
        self._asked: PastRequest | None = None
        self._asked_at = 0.0
        self._to_choose: float | None = None
        self._recorded = (0.0, 0.0)
        self._stopped = False
        self._plotted: tuple[object, list[Line]] = (None, [])

    def body(self) -> ComposeResult:
        """What is chosen, the plot with its marks, the chosen mark, and what is usual."""
        archive = self.app.known.archive
        if archive is not None:
            self.range, self._reader = Range(archive), PastReader(archive, self)
        yield Lines(id="choice")
        yield Lines(id="figures")
        yield Lines(id="past")
        yield Lines(id="event")
        yield Lines(id="usual")

    # ------------------------------------------------------------------------------------------------- what is read

    @property
    def zone(self) -> tzinfo:
        """The clock of the recording."""
        archive = self.app.known.archive
        return zone_of(archive.zone if archive is not None else "UTC")

    @property
    def queue(self) -> str:
        """The queue that was chosen, else the first one there is; empty where none is known yet."""
        view, seen = self.app.shown.view, self.past.queues if self.past is not None else ()
        names = self._names() or seen
        chosen = self.app.selected
        if chosen is not None and (chosen in names or view is None):
            return chosen
        return names[0] if names else ""

    def _names(self) -> tuple[str, ...]:
        """The queues of now and of the range."""
        view = self.app.shown.view
        now = {queue.name for queue in view.queues} if view is not None else set()
        return tuple(sorted(now | set(self.past.queues if self.past is not None else ()), key=str.casefold))

    @property
    def _steps(self) -> int:
        """How many steps there is room for."""
        return steps_for(self.size.width)

    def _want(self) -> PastRequest | None:
        return self.range.wanted(self.queue, self._steps) if self.range is not None else None

    def _read(self, *, anew: bool = False) -> None:
        """Read the range that is chosen; ``anew``: the same one, so what is shown stays until all was read."""
        wanted = self._want()
        if wanted is not None and self._reader is not None:
            self._asked, self._asked_at, self._stopped = wanted, time.monotonic(), False
            self._reader.read(wanted, whole=anew)
            self.reading = True

    def _catch_up(self) -> None:
        """Read where what is chosen has changed, and the end of what is being recorded from time to time."""
        wanted, asked = self._want(), self._asked
        if wanted is None or self.range is None or not self.is_current:
            return
        same = asked is not None and (asked.queue, asked.step_s, asked.count) == (
            wanted.queue, wanted.step_s, wanted.count
        )  # fmt: skip
        old = time.monotonic() - self._asked_at >= _ANEW_S
        if not same:
            self._read()
        elif self.range.follows and old and not self.reading and not self._stopped:
            self._read(anew=True)

    def on_past_read(self, message: PastRead) -> None:
        """A range, or a part of it."""
        if self._reader is None or message.number != self._reader.number:
            return
        self.past, self._recorded = message.past, (message.begins_at, message.ends_at)
        if message.past.read >= 1.0:
            self.reading = False
        before, self.found = self.mark, panel.events(message.past)
        if before is not None and not self.reading:
            self.mark = next((e for e in self.found if e.symbol == before.symbol and e.overlaps(before)), None)
        if self._to_choose is not None and not self.reading:
            at, self._to_choose = self._to_choose, None
            near = [e for e in self.found if e.at - 1 <= at <= e.until_at + 1]
            self.mark = max(near, key=lambda e: (e.is_operation and abs(e.at - at) < 1, e.at), default=self.mark)
        self.redraw()

    def on_mark_found(self, message: MarkFound) -> None:
        """Go to the incident or operation that was searched for."""
        if self._reader is None or message.number != self._reader.number:
            return
        self.reading = False
        if message.mark is None:
            self.app.say("no other incident and no other operation of this queue there")
            self.redraw()
            return
        self._to_choose = message.mark.at
        if self.range is not None:
            self._go(message.mark.at + self.range.length_s(self._steps) / 2)

    def on_resize(self) -> None:
        """More or fewer steps fit."""
        self.redraw()

    def on_screen_suspend(self) -> None:
        """Another screen is shown: nothing more is read for this one."""
        if self._reader is not None:
            self._reader.stop()
        if self.reading:
            self.reading, self._asked = False, None

    # --------------------------------------------------------------------------------------------- what is shown

    def draw(self, shown: Shown, now: float, *, stale: bool) -> None:
        """Draw what was read; where nothing is recorded, say how to record."""
        self._catch_up()
        past, queue, state = self.past, self.queue or "–", self._state()
        span = SPAN_NAMES[self.range.span] if self.range is not None else ""
        self.query_one("#choice", Lines).show(
            lambda cells, _: [panel.choice_line(queue, span, past, self.zone, state, cells)]
        )
        self.query_one("#figures", Lines).show(lambda cells, _: [panel.figure_line(self.figure, cells)])
        if self.range is None or past is None:
            self._say("reading" if self.range is not None else _no_archive(shown.target, clean(shown.served)))
            return
        columns = len(past.steps[self.figure]) // PER_CELL
        why = panel.nothing(past, self.figure, *self._recorded, self.zone)
        if why:
            self._say(why)
            return
        bands = self._bands(past, columns)
        self.query_one("#past", Lines).show(lambda cells, rows: self._plot(past, bands, columns, rows))
        self.query_one("#event", Lines).show(
            lambda cells, _: [panel.event_line(self.found, self._shown_mark, self.zone, cells)]
        )
        known, at = self.app.known, self._shown_mark.at if self._shown_mark is not None else None
        self.query_one("#usual", Lines).show(
            lambda cells, _: [panel.value_line(past, self.figure, bands, known, shown.target, at, cells)]
        )

    def _plot(self, past: Past, bands: list[Band | None], columns: int, rows: int) -> list[Line]:
        """The plot, its axis and the marks; as it was, where nothing has changed with new figures of other queues."""
        here = self.app.known.here() if self.app.known.here is not None else None
        key = (past, self.figure, self._shown_mark, here, rows, self.app.theme)
        if self._plotted[0] != key:
            write = panel.FIGURES[self.figure][1]
            drawn = plot(past.steps[self.figure], bands, max(2, rows - _BELOW), write, plain=is_plain(self.app.theme))
            axis = panel.axis(past, self.zone, here, columns)
            self._plotted = (key, [*drawn, axis, *panel.mark_lines(past, self.found, self._shown_mark, columns)])
        return self._plotted[1]

    @property
    def _shown_mark(self) -> Event | None:
        """The chosen mark, where it was read already."""
        return self.mark if self.mark in self.found else None

    def _bands(self, past: Past, columns: int) -> list[Band | None]:
        known, target, cell_s = self.app.known.baselines, self.app.shown.target, past.step_s * PER_CELL
        middle = past.since_at + cell_s / 2
        return [known.band(target, past.queue, self.figure, middle + each * cell_s) for each in range(columns)]

    def _state(self) -> str:
        if self.reading:
            share = self.past.read if self.past is not None and self.past.read < 1 else 0.0
            return f"reading {share * 100:.0f} % · esc stops"
        if self._stopped:
            return "stopped: not all was read"
        return clean(f"damaged: {self.past.problem}") if self.past is not None and self.past.problem else ""

    def _say(self, words: str) -> None:
        """In place of the plot."""
        self.query_one("#past", Lines).show(
            lambda cells, _: [(), *(((f"  {each}", "text"),) for each in wrap(clean(words), cells - 3, cells - 3, 3))]
        )
        for id in ("#event", "#usual"):
            self.query_one(id, Lines).show(lambda cells, _: [((" ", "text"),)])

    def draw_ages(self, shown: Shown, now: float) -> None:
        """Nothing here has an age; what is being recorded is read again."""
        self._catch_up()

    def _bar(self) -> list[Binding]:
        here = keys.plain(self.BINDINGS)
        taken = {binding.id for binding in here}
        return [*here, *(binding for binding in keys.plain(self.app.BINDINGS) if binding.id not in taken)]

    def unavailable(self) -> dict[str, str]:
        """Only a replay can go to a moment."""
        return {} if self.app.known.go is not None else {"go-there": "only a replay can go to a moment"}

    def acting_on(self) -> QueueView | None:
        """Nothing is acted on here."""
        return None

    # ----------------------------------------------------------------------------------------------- what keys do

    def _go(self, until_at: float) -> None:
        """Let the range end there, or where what is recorded begins or ends."""
        if self.range is not None:
            self.range.end_at(until_at, self._recorded[0], self._steps)
            self._read()
            self.redraw()

    def action_figure(self, by: int) -> None:
        """The next figure, or the one before."""
        self.figure = panel.NAMES[(panel.NAMES.index(self.figure) + by) % len(panel.NAMES)]
        self.redraw()

    def action_neighbour(self, by: int) -> None:
        """The queue before or after this one."""
        if (name := self.neighbour(by, self._names(), self.queue)) is not None:
            self.app.selected, self.mark = name, None
            self.redraw()

    def action_zoom(self, by: int) -> None:
        """A longer or a shorter range, around the chosen mark, or around its middle; at the end it stays at the end."""
        around = self.mark.at if self.mark is not None else None
        if self.range is not None and self.range.zoom(by, around, self._recorded[0], self._steps):
            self._read()
            self.redraw()

    def action_travel(self, by: int) -> None:
        """Half a range earlier or later."""
        if self.range is not None:
            self._go(self.range.until_at + by * self.range.length_s(self._steps) / 2)

    def action_end(self, by: int) -> None:
        """The beginning of what is recorded, or its end."""
        if self.range is not None:
            self._go(math.inf if by > 0 else self._recorded[0] + self.range.length_s(self._steps))

    def action_jump(self, direction: int) -> None:
        """The next incident or operation, or the one before; in another range, if need be."""
        past, forward = self.past, direction > 0
        if past is None or self._reader is None or self.reading:
            return
        place = self.found.index(self.mark) if self.mark in self.found else -1 if forward else len(self.found)
        place += 1 if forward else -1
        if 0 <= place < len(self.found):
            self.mark = self.found[place]
            self.redraw()
            return
        edge = past.until_at if forward else past.since_at
        if self.mark is not None:
            edge = max(edge, self.mark.until_at) if forward else min(edge, self.mark.at)
        self._reader.jump(past.queue, edge, forward=forward)
        self.reading = True
        self.redraw()

    def action_open(self) -> None:
        """Let the replay go to the chosen mark, or else to the middle of the range."""
        go, past = self.app.known.go, self.past
        if go is None or past is None:
            self.app.say(self.unavailable().get("go-there", "nothing was read yet"))
            return
        go(self.mark.at if self.mark is not None else (past.since_at + past.until_at) / 2)
        self.app.say("the replay goes there; 1 shows all queues at that moment")

    def action_back(self) -> None:
        """Stop reading, else go back to the overview."""
        if self.reading and self._reader is not None:
            self._reader.stop()
            self.reading, self._stopped = False, True
            self.redraw()
        else:
            super().action_back()


def _no_archive(target: str, served: str) -> str:
    if served:
        return f"nothing is recorded here; the qmon serve at {served} records with --record DIR"
    return f"nothing is recorded here: `qmon connect {target} --record DIR` records what you see, and shows it here"
