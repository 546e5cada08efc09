"""Values as the screens show them: a figure with its symbol and the tone that fits it, moments, rates in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from qmon.model import text
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.queue_figures import MAIN
from qmon.model.verdicts.flow import PAUSED
from qmon.model.view import QueueView, View
from qmon.tui.sanitize import clean

Cell = tuple[str, str]

SYMBOLS: Final[Mapping[Severity, str]] = {
    Severity.FINE: "·",
    Severity.NOTICE: "◦",
    Severity.WARNING: "▲",
    Severity.CRITICAL: "■",
}
TONES: Final[Mapping[Severity, str]] = {
    Severity.FINE: "muted",
    Severity.NOTICE: "text",
    Severity.WARNING: "accent",
    Severity.CRITICAL: "alarm",
}


def aligned_rate(value: float) -> str:
    """A rate with room behind whole numbers, so that right-aligned columns line up on the decimal."""
    rate = text.rate(value)
    return rate if "." in rate else f"{rate}  "


def moment(at: float, *, seconds: bool = False, short: bool = False) -> str:
    """A moment in the time of this machine: ``14:32``, and where it is not today the day (``short``: for a column)."""
    when = datetime.fromtimestamp(at).astimezone()
    today = when.date() == datetime.now().astimezone().date()
    if short and not today:
        return when.strftime("%m-%d %H:%M")
    clock = when.strftime("%H:%M:%S" if seconds else "%H:%M")
    return clock if today else when.strftime("%Y-%m-%d ") + clock


def cell(figure: Figure, write: Callable[[float], str] = text.count, tone: str = "text", *, aged: bool = True) -> Cell:
    """A figure with its symbol. Zero, unknown and old values are grey.

    ``aged``: old values, and estimates older than their cadence, show their age.
    """
    shown = figure.text(write)
    if aged and figure.shows_age:
        shown = f"{shown.rstrip()} ·{text.brief(figure.age_s)}"
    return (shown, "faint" if figure.value is None else "muted" if figure.old or figure.value == 0 else tone)


def not_read(view: View, what: str, *probes: str) -> str:
    """Why something of the whole target was not read by these probes: they failed, are throttled, or had no time."""
    failed = next((clean(f.words) for f in view.failures if not f.queue and f.probe in probes), "")
    throttled = view.server.observing.of_queue("") if view.server.observing is not None else ()
    every = next((text.duration(each.every_s) for each in throttled if each.probe in probes), "")
    if every and not failed:
        return f"{what} is read every {every} now, to stay within the budget; n reads now"
    return failed or f"{what} was not read in this poll; a later poll reads it"


def unknown(queue: QueueView) -> list[tuple[str, str]]:
    """The figures of a queue that are not known, each with the reason.

    Figures that such a queue cannot have are left out: a ring fill, the oldest message of an empty queue, blocked
    messages of a table without such a state.
    """
    out = []
    none = {"fill" if queue.layout.ring is None else "", "oldest" if queue.ready.value == 0 else ""}
    none |= set() if queue.layout.has("blocked") else {"blocked"}
    for each in MAIN:
        figure = each.of(queue)
        if each.field not in none and figure.value is None and figure.reason:
            out.append((each.words, clean(figure.reason)))
    return out


# Paused, on purpose.
HELD: Final = "‖"


def mark(of: Verdict) -> Cell:
    """The symbol of a verdict and its tone: of its severity, or that somebody has paused the queue."""
    return (HELD, "held") if of.code == PAUSED.code else (SYMBOLS[of.severity], TONES[of.severity])


def verdict(queue: QueueView, hint: str) -> Cell:
    """The verdict with its mark, and the key that answers it."""
    symbol, tone = mark(queue.verdict)
    key = f" [{hint}]" if hint else ""
    return (f"{symbol} {clean(queue.verdict.code.replace('_', ' '))}{key}", tone)


_ARROWS: Final = (("drains in ", "↓ ~"), ("drains within ", "↓ ≤ "), ("growing ", "↑ "))


def short_forecast(queue: QueueView) -> Cell:
    """The forecast with an arrow for its verb, and ``~`` for its band: ``↓ ~35 m 12 s``, ``↓ ≤ 3.0 s``, ``↑ 216/s``."""
    words, tone = forecast(queue, brief=True)
    for verb, arrow in _ARROWS:
        if words.startswith(verb):
            return (arrow + words.removeprefix(verb).partition(" ±")[0], tone)
    return (words, tone)


def forecast(queue: QueueView, *, brief: bool = False) -> Cell:
    """The forecast in words, or that there is none yet. ``brief``: without what it takes."""
    words = clean(queue.forecast.text)
    words = words.partition(": ")[0] if brief else words
    return (words, "text") if words else (text.UNKNOWN, "faint")
