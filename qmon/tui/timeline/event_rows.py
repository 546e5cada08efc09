"""The rows of the event log: one row per event."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final, NamedTuple

from qmon.model.figure import Severity
from qmon.model.verdicts.flow_verdicts import PAUSED
from qmon.recording.history.timeline import EventKind, TimelineEvent
from qmon.tui.figures import PAUSED_SYMBOL, SYMBOLS, TONES
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets.grid_table import GridColumn, GridRow

COLUMNS: Final = (
    GridColumn("when", "WHEN", least=8, most=14, sortable=False, about="time of the event, newest first"),
    GridColumn(
        "kind",
        "KIND",
        rank=2,
        least=8,
        most=12,
        sortable=False,
        from_width=100,
        about="verdict, operation, connection to the server, or alert",
    ),
    GridColumn("queue", "QUEUE", least=6, most=24, shrinks_to=10, sortable=False, about="empty: about the server"),
    GridColumn(
        "what",
        "WHAT",
        least=16,
        most=40,
        shrinks_to=16,
        sortable=False,
        about="subject of the event and its outcome",
    ),
    GridColumn(
        "words",
        "DETAILS",
        rank=3,
        least=16,
        shorten=shorten_words,
        grows=True,
        sortable=False,
        about="figures behind a verdict; user and reason of an operation",
    ),
)

# The columns if several targets are watched.
FLEET_COLUMNS: Final = (
    COLUMNS[0],
    GridColumn("target", "TARGET", least=8, most=24, shrinks_to=12, sortable=False, about="target of the event"),
    *COLUMNS[1:],
)


class TargetEvent(NamedTuple):
    """An event of a target. ``key`` identifies it among the events of all targets."""

    key: str
    target: str
    event: TimelineEvent


# Symbol and tone of events of severity fine. Verdicts and alerts have the symbol and tone of their severity.
_KINDS: Final = {
    EventKind.OPERATION: ("◆", "strong"),
    EventKind.CONNECTION: ("●", "muted"),
}


def event_row(target_event: TargetEvent, zone: tzinfo, now: float, *, with_target: bool) -> GridRow:
    """Return the row of an event. If the event is on another day than ``now``, the row shows the date.

    ``with_target``: add a cell for the target, for use with ``FLEET_COLUMNS``.
    """
    event = target_event.event
    when = (_time_text(event.at, zone, now), "text")
    symbol, tone = _symbol_and_tone(event)
    fine = event.severity is Severity.FINE
    cells = (
        (event.kind.value, "muted"),
        (clean(event.queue) if not event.others else f"{1 + len(event.others)} queues", "text"),
        (f"{symbol} {clean(event.about)} {clean(event.change)}", tone),
        (_event_text(event), "muted" if fine else "text"),
    )
    if not with_target:
        return GridRow(target_event.key, (when, *cells), id=event.queue)
    id = f"{target_event.target}/{event.queue}" if event.queue else target_event.target
    return GridRow(target_event.key, (when, (clean(target_event.target), "muted"), *cells), id=id)


def _event_text(event: TimelineEvent) -> str:
    """Return the text of an event.

    The event's own text only describes the first queue. If there are several queues, their names come first.
    """
    names = f"{', '.join(map(clean, (event.queue, *event.others)))}: " if event.others else ""
    return names + clean(event.text)


def detail_lines(target_event: TargetEvent, cells: int, rows: int) -> list[Line]:
    """Return the whole text of an event, in at most ``rows`` lines."""
    event = target_event.event
    symbol, tone = _symbol_and_tone(event)
    return [
        *entry_lines("what", f"{symbol} {event.about} {event.change}", cells, tone, most=1),
        *entry_lines("details", _event_text(event), cells, most=rows - 1),
    ]


def _symbol_and_tone(event: TimelineEvent) -> tuple[str, str]:
    if event.severity is Severity.FINE and event.kind in _KINDS:
        return _KINDS[event.kind]
    if event.kind is EventKind.VERDICT and event.about == PAUSED.code and event.change != "ended":
        return PAUSED_SYMBOL, "held"
    return SYMBOLS[event.severity], TONES[event.severity]


def _time_text(at: float, zone: tzinfo, now: float) -> str:
    """Return ``03:12:04``, or ``11-17 03:12`` for another day."""
    then = datetime.fromtimestamp(at, zone)
    today = then.date() == datetime.fromtimestamp(now, zone).date()
    return then.strftime("%H:%M:%S" if today else "%m-%d %H:%M")


def searchable_text(target_event: TargetEvent, *, with_target: bool) -> str:
    """Return the text that the filter searches."""
    event = target_event.event
    queues = " ".join((event.queue, *event.others))
    words = f"{event.kind} {queues} {event.about} {event.change} {event.text}"
    return f"{target_event.target} {words}" if with_target else words
