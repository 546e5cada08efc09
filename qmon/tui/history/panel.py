"""What the history screen says around its plot: what is chosen, the time axis, the marks, and the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from qmon.model import text
from qmon.model.baselines import FIGURES as BANDED
from qmon.model.baselines import WEEKS, Anomaly, Band
from qmon.recording.history.range_query import Past
from qmon.recording.times import zone_of
from qmon.tui.figures import SYMBOLS, TONES
from qmon.tui.history.plot import LEFT, PER_CELL, joined
from qmon.tui.past_reader import KnownPast
from qmon.tui.sanitize import clean, pad, shorten, width
from qmon.tui.spans import Line, LinePart, Span, cut, fit, spread

OPERATION: Final = "◆"
_HERE: Final = "▼"
_TICKS_S: Final = (
    60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0, 21_600.0, 43_200.0,
    86_400.0, 172_800.0, 604_800.0,
)  # fmt: skip
_APART: Final = 11


def _rate(value: float) -> str:
    return f"{text.rate(value)}/s"


FIGURES: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    "ready": ("depth", text.count),
    "gap": ("gap", text.count),
    "push_rate": ("push", _rate),
    "pop_rate": ("pop", _rate),
    "complete_rate": ("complete", _rate),
    "oldest_s": ("oldest", text.duration),
    "in_progress": ("in progress", text.count),
    "stuck": ("stuck", text.count),
    "scheduled": ("scheduled", text.count),
    "dead": ("dead", text.count),
}
"""By the names of ``qmon.recording.history.range_query``: what they are called, and how they are written."""
NAMES: Final = tuple(FIGURES)


@dataclass(frozen=True, slots=True)
class Event:
    """An incident or an operation of the range: from when to when, its symbol, tone and words."""

    at: float
    until_at: float
    symbol: str
    tone: str
    words: str

    @property
    def is_operation(self) -> bool:
        """Whether somebody did it, else it happened."""
        return self.symbol == OPERATION

    def overlaps(self, other: Event) -> bool:
        """Whether both were at the same time."""
        return self.at <= other.until_at and other.at <= self.until_at


def events(past: Past) -> tuple[Event, ...]:
    """The incidents and operations of a range, in the order of time."""
    found = [
        Event(each.began_at, each.last_at, SYMBOLS[each.severity], TONES[each.severity],
              clean(f"{each.cause.replace('_', ' ')}: {each.proof}"))
        for each in past.incidents
    ]  # fmt: skip
    for each in past.operations:
        done = each.operation
        words = f"{done.kind} {done.state}: {done.done} by {done.by}" + (f", {done.reason}" if done.reason else "")
        found.append(Event(each.at, each.at, OPERATION, "strong", clean(words)))
    return tuple(sorted(found, key=lambda event: (event.at, event.until_at)))


def choice_line(queue: str, span: str, past: Past | None, zone: tzinfo, state: str, cells: int) -> Line:
    """The queue, the range and its ends; at the right end what is being read."""
    left = [LinePart.of(f" {shorten(clean(queue), 30)}", "strong"), LinePart.of(span, "accent")]
    if past is not None:
        left.append(
            LinePart.of(f"{_moment(past.since_at, zone)} – {_moment(past.until_at, zone, named=True)}", "muted", 1)
        )
    return spread(left, [LinePart.of(f"{state} ", "accent")] if state else [], cells)


def figure_line(figure: str, cells: int) -> Line:
    """All figures, the chosen one marked."""
    return fit(
        [LinePart.of(f" ‹{FIGURES[n][0]}›", "strong") if n == figure else LinePart.of(f"  {FIGURES[n][0]} ", "muted",
        1 + i)
         for i, n in enumerate(NAMES)], cells, ""
    )  # fmt: skip


def axis(past: Past, zone: tzinfo, here: float | None, columns: int) -> Line:
    """Times below the plot, each behind the place it is of; ``here``: the moment that a replay shows."""
    cell_s = past.step_s * PER_CELL
    every = next((t for t in _TICKS_S if t / cell_s >= _APART), _TICKS_S[-1])
    shift = _shift(past.since_at, zone)
    at = -(-(past.since_at + shift) // every) * every - shift
    line, until = [" "] * columns, 0
    while at < past.until_at:
        place, label = int((at - past.since_at) / cell_s), f"╵{_tick(at, zone)}"
        if place >= until and place + len(label) <= columns:
            line[place : place + len(label)] = label
            until = place + len(label) + 1
        at += every
    cells: list[Span] = [(symbol, "muted") for symbol in line]
    if here is not None and past.since_at <= here < past.until_at:
        cells[min(columns - 1, int((here - past.since_at) / cell_s))] = (_HERE, "alarm")
    return ((" " * LEFT + "└", "faint"), *joined(cells))


def mark_lines(past: Past, found: Sequence[Event], chosen: Event | None, columns: int) -> list[Line]:
    """Two lines below the axis: incidents as long as they were, and operations."""
    cell_s = past.step_s * PER_CELL
    out: list[Line] = []
    for operations, name in ((False, "incidents"), (True, "operations")):
        cells: list[Span] = [(" ", "text")] * columns
        for event in sorted((e for e in found if e.is_operation is operations), key=lambda e: e is chosen):
            first = max(0, int((event.at - past.since_at) / cell_s))
            last = min(columns - 1, int((event.until_at - past.since_at) / cell_s))
            for place in range(first, last + 1):
                symbol = event.symbol if place == first else "━"
                cells[place] = (symbol, "badge" if event is chosen else event.tone)
        out.append(((pad(f"{name} ", LEFT + 1, right=True), "muted"), *joined(cells)))
    return out


def event_line(found: Sequence[Event], chosen: Event | None, zone: tzinfo, cells: int) -> Line:
    """The event that is chosen in words; else how many there are."""
    if chosen is not None:
        long = "" if chosen.is_operation else f"–{_clock(chosen.until_at, zone)} ({_lasted(chosen)})"
        lead = (
            (f" {found.index(chosen) + 1} of {len(found)}  ", "muted"), (f"{chosen.symbol} ", chosen.tone),
            (f"{_day_clock(chosen.at, zone)}{long}  ", "strong"),
        )  # fmt: skip
        room = max(10, cells - sum(width(t) for t, _ in lead) - 1)
        return cut((*lead, (shorten(chosen.words, room), "text")), cells)
    done = sum(event.is_operation for event in found)
    if not found:
        return ((" no incident and no operation of this queue in this range", "muted"),)
    return cut(((f" {_counted(len(found) - done, 'incident')}, {_counted(done, 'operation')}: ", "muted"),
                ("< >", "key"), (" go through them", "muted")), cells)  # fmt: skip


def value_line(
    past: Past, figure: str, bands: Sequence[Band | None], known: KnownPast, target: str, at: float | None, cells: int
) -> Line:
    """The value at a moment, else the newest of the range, and how it stands to what is usual, or why there is no band.

    ``at``: where the chosen mark is.
    """
    name, write = FIGURES[figure]
    steps, zone = past.steps[figure], zone_of(known.archive.zone if known.archive is not None else "UTC")
    place = int((at - past.since_at) / past.step_s) if at is not None else -1
    if not (0 <= place < len(steps) and steps[place] is not None):
        place = next((each for each in range(len(steps) - 1, -1, -1) if steps[each] is not None), 0)
    step = steps[place]
    if step is None:
        return ((" ", "text"),)
    at = past.since_at + (place + 0.5) * past.step_s
    lead = ((f" {name} ", "muted"), (write(step.mean), "strong"), (f" at {_clock(at, zone)}   ", "muted"))
    if not any(bands):
        return cut((*lead, (f"no band: {clean(_why_none(known, target, past.queue, figure))}", "muted")), cells)
    band = known.baselines.band(target, past.queue, figure, at)
    if band is None:
        return cut((*lead, ("▒ ", "depth fill"), (f"fewer than {WEEKS} weeks of this hour", "muted")), cells)
    words = f"usual {band.hour}: {write(band.low)} – {write(band.high)}, of {band.weeks} weeks"
    out: Line = ()
    if not band.low <= step.mean <= band.high:
        outside = Anomaly(figure, step.mean, band)
        out = ((f"{'△' if outside.above else '▽'} {outside.brief}  ", "accent"),)
    return cut((*lead, *out, ("▒ ", "depth fill"), (words, "muted")), cells)


def _why_none(known: KnownPast, target: str, queue: str, figure: str) -> str:
    hours = known.baselines.hours
    if known.problem:
        place, _, why = known.problem.partition(": ")
        return f"{place.rpartition('/')[2]}: {why}"
    if not hours:
        return "there is no file of what is usual (qmon pipeline baselines)"
    if figure not in BANDED:
        return f"{FIGURES[figure][0]} has none"
    if queue not in hours.get(target, {}):
        return f"not enough history of {queue}"
    return f"fewer than {WEEKS} weeks of these hours"


def nothing(past: Past, figure: str, begins_at: float, ends_at: float, zone: tzinfo) -> str:
    """Why there is nothing to plot; empty where there is."""
    if any(step is not None for step in past.steps[figure]):
        return ""
    if past.problem and not past.queues:
        return f"damaged: {past.problem}"
    if any(step is not None for steps in past.steps.values() for step in steps):
        return f"{FIGURES[figure][0]} is not known of {past.queue} in this range"
    if past.queues and past.queue not in past.queues:
        return f"{past.queue} was not recorded in this range; [ and ] go to: {', '.join(past.queues)}"
    if past.read < 1:
        return ""
    if ends_at <= begins_at:
        return "nothing is recorded of this target yet"
    return (
        f"nothing was recorded in this range; the recording is from {_moment(begins_at, zone)} to"
        f" {_moment(ends_at, zone, named=True)}"
    )


def _lasted(event: Event) -> str:
    return text.duration(max(0.0, event.until_at - event.at))


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _shift(at: float, zone: tzinfo) -> float:
    offset = datetime.fromtimestamp(at, zone).utcoffset()
    return offset.total_seconds() if offset is not None else 0.0


def _tick(at: float, zone: tzinfo) -> str:
    """A time of day; at midnight the day."""
    then = datetime.fromtimestamp(at, zone)
    return f"{then:%a} {then.day}" if (then.hour, then.minute) == (0, 0) else f"{then:%H:%M}"


def _moment(at: float, zone: tzinfo, *, named: bool = False) -> str:
    return datetime.fromtimestamp(at, zone).strftime(f"%a %Y-%m-%d %H:%M{' %Z' if named else ''}")


def _clock(at: float, zone: tzinfo) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")


def _day_clock(at: float, zone: tzinfo) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%a %H:%M:%S")
