"""Incidents and operations on the history screen: marks below the plot, a list next to it, and the chosen event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from qmon.model import formatting
from qmon.recording.history.range_query import PastRange
from qmon.recording.history.timeline import operation_text
from qmon.texts import Text
from qmon.tui.figures import SYMBOLS, TONES
from qmon.tui.history.time_text import clock_text, day_clock_text
from qmon.tui.plots.cells import join_spans
from qmon.tui.plots.range_plot import SCALE_CELLS
from qmon.tui.sanitize import clean, pad, shorten, text_width
from qmon.tui.spans import Line, Span, cut_line, wrap_text


class EventsText(Text):
    """The texts about the events of a range."""

    TITLE = "incidents and operations"
    INCIDENT = "{verdict}: {proof}"
    NONE = "no incident or operation of this queue in this range"
    NONE_LISTED = "no event in this range"
    POSITION = "{number} of {count}"
    COUNTS = "{incidents}, {operations}"
    GO_TO_EACH = "go to each"
    TIME = "{since}–{until} ({duration})"


OPERATION: Final = "◆"


@dataclass(frozen=True, slots=True)
class PlotEvent:
    """An incident or operation in the range, with start and end (seconds since the epoch), symbol, tone and text."""

    at: float
    until_at: float
    symbol: str
    tone: str
    text: str

    @property
    def is_operation(self) -> bool:
        """True for an operation, False for an incident."""
        return self.symbol == OPERATION

    def overlaps(self, other: PlotEvent) -> bool:
        """Return True if this event and ``other`` overlap in time."""
        return self.at <= other.until_at and other.at <= self.until_at


def events_in(past: PastRange) -> tuple[PlotEvent, ...]:
    """Return the incidents and operations of a range, ordered by time."""
    found = [
        PlotEvent(
            each.began_at,
            each.last_at,
            SYMBOLS[each.severity],
            TONES[each.severity],
            clean(EventsText.INCIDENT.render(verdict=each.cause.replace("_", " "), proof=each.proof)),
        )
        for each in past.incidents
    ]
    found += [
        PlotEvent(each.at, each.at, OPERATION, "strong", clean(operation_text(each.operation)))
        for each in past.operations
    ]
    return tuple(sorted(found, key=lambda event: (event.at, event.until_at)))


def mark_lines(past: PastRange, events: Sequence[PlotEvent], chosen: PlotEvent | None, columns: int) -> list[Line]:
    """Return the two lines below the axis: a line of incidents with their durations, and a line of operations."""
    out: list[Line] = []
    for operations, name in ((False, "incidents"), (True, "operations")):
        cells: list[Span] = [(" ", "text")] * columns
        for event in sorted((e for e in events if e.is_operation is operations), key=lambda event: event is chosen):
            first = max(0, int((event.at - past.since_at) / past.step_s))
            last = min(columns - 1, int((event.until_at - past.since_at) / past.step_s))
            for place in range(first, last + 1):
                symbol = event.symbol if place == first else "━"
                cells[place] = (symbol, "badge" if event is chosen else event.tone)
        out.append(((pad(f"{name} ", SCALE_CELLS + 1, right=True), "muted"), *join_spans(cells)))
    return out


def event_line(events: Sequence[PlotEvent], chosen: PlotEvent | None, zone: tzinfo, cells: int) -> Line:
    """Return the full text of the chosen event. If no event is chosen, return the number of events."""
    if chosen is not None:
        lead = (
            (f" {EventsText.POSITION.render(number=events.index(chosen) + 1, count=len(events))}  ", "muted"),
            (f"{chosen.symbol} ", chosen.tone),
            (f"{_time_text(chosen, zone)}  ", "strong"),
        )
        room = max(10, cells - sum(text_width(t) for t, _ in lead) - 1)
        return cut_line((*lead, (shorten(chosen.text, room), "text")), cells)
    done = sum(event.is_operation for event in events)
    if not events:
        return ((f" {EventsText.NONE}", "muted"),)
    counts = EventsText.COUNTS.render(
        incidents=formatting.count_text(len(events) - done, "incident"),
        operations=formatting.count_text(done, "operation"),
    )
    return cut_line(
        (
            (f" {counts}: ", "muted"),
            ("< >", "key"),
            (f" {EventsText.GO_TO_EACH}", "muted"),
        ),
        cells,
    )


def event_list(
    events: Sequence[PlotEvent], chosen: PlotEvent | None, zone: tzinfo, cells: int, rows: int
) -> list[Line]:
    """Return the list next to the plot, newest first. If it does not fit, it starts with the chosen event."""
    newest = list(reversed(events))
    first = newest.index(chosen) if chosen in newest and len(newest) * 3 > rows else 0
    lines: list[Line] = [
        ((EventsText.TITLE, "title"), (f"  {len(events)}" if events else f"  {EventsText.NONE_LISTED}", "muted"))
    ]
    for event in newest[first:]:
        tone = "strong" if event is chosen else "text"
        lines.append(((f"{event.symbol} ", event.tone), (_time_text(event, zone), tone)))
        lines += [
            ((f"  {piece}", "text" if event is chosen else "muted"),)
            for piece in wrap_text(event.text, cells - 2, cells - 2, 2)
        ]
    return lines[:rows]


def _time_text(event: PlotEvent, zone: tzinfo) -> str:
    if event.is_operation:
        return day_clock_text(event.at, zone)
    lasted = formatting.duration(max(0.0, event.until_at - event.at))
    return EventsText.TIME.render(
        since=day_clock_text(event.at, zone), until=clock_text(event.until_at, zone), duration=lasted
    )
