"""Formats values for the screens: figures with a symbol and a tone, times, and rates in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.queue_figures import MAIN_FIGURES
from qmon.model.verdicts.flow_verdicts import PAUSED
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
    """Return a rate. Blanks follow a whole number, so that a right-aligned column lines up on the decimal point."""
    rate = formatting.rate(value)
    return rate if "." in rate else f"{rate}  "


def moment_text(at: float, *, seconds: bool = False, short: bool = False) -> str:
    """Return a time in the local time zone: ``14:32``, with the date if it is not today.

    ``at``: seconds since the epoch. ``short``: return the short form for columns.
    """
    when = datetime.fromtimestamp(at).astimezone()
    today = when.date() == datetime.now().astimezone().date()
    if short and not today:
        return when.strftime("%m-%d %H:%M")
    clock = when.strftime("%H:%M:%S" if seconds else "%H:%M")
    return clock if today else when.strftime("%Y-%m-%d ") + clock


def figure_cell(
    figure: Figure, write: Callable[[float], str] = formatting.count, tone: str = "text", *, aged: bool = True
) -> Cell:
    """Return a figure with its symbol. Zero, unknown and old values are grey.

    ``aged``: add the age to an old value, and to an estimate that is older than its cadence.
    """
    shown = figure.text(write)
    if aged and figure.shows_age:
        shown = f"{shown.rstrip()} ·{formatting.short_duration(figure.age_s)}"
    return (shown, "faint" if figure.value is None else "muted" if figure.old or figure.value == 0 else tone)


def unread_reason(view: View, what: str, *probes: str) -> str:
    """Return why these probes failed, were throttled or ran out of time.

    ``what``: the data that the probes read for the whole target.
    """
    failed = next((clean(f.text) for f in view.failures if not f.queue and f.probe in probes), "")
    throttled = view.server.observing.throttled_for("") if view.server.observing is not None else ()
    every = next((formatting.duration(each.every_s) for each in throttled if each.probe in probes), "")
    if every and not failed:
        return f"{what} is read only every {every} to stay within the cost budget; n reads now"
    return failed or f"{what} was not read in this poll; a later poll reads it"


def unknown_figures(queue: QueueView) -> list[tuple[str, str]]:
    """Return the unknown figures of a queue, each as name and reason.

    Figures that do not apply to the queue are left out. Examples: the fill of a table that is not a ring, the oldest
    message of an empty queue, and blocked messages of a table that has no state for these.
    """
    out = []
    none = {"fill" if queue.layout.ring is None else "", "oldest" if queue.ready.value == 0 else ""}
    none |= set() if queue.layout.has_figure("blocked") else {"blocked"}
    for each in MAIN_FIGURES:
        figure = each.figure_for(queue)
        if each.field not in none and figure.value is None and figure.reason:
            out.append((each.words, clean(figure.reason)))
    return out


# The symbol of a queue that was paused on purpose.
PAUSED_SYMBOL: Final = "‖"


def verdict_mark(verdict: Verdict) -> Cell:
    """Return the symbol and tone of a verdict. Both depend on the severity, but a pause has its own symbol and tone."""
    return (
        (PAUSED_SYMBOL, "held") if verdict.code == PAUSED.code else (SYMBOLS[verdict.severity], TONES[verdict.severity])
    )


def verdict_cell(queue: QueueView, hint: str) -> Cell:
    """Return the verdict with its symbol and ``hint``, the key that handles the verdict."""
    symbol, tone = verdict_mark(queue.verdict)
    key = f" [{hint}]" if hint else ""
    return (f"{symbol} {clean(queue.verdict.code.replace('_', ' '))}{key}", tone)


_ARROWS: Final = (("drains in ", "↓ ~"), ("drains within ", "↓ ≤ "), ("growing ", "↑ "))


def short_forecast_cell(queue: QueueView) -> Cell:
    """Return the forecast in short form, with an arrow for its direction: ``↓ ~35 m 12 s``, ``↑ 216/s``.

    A ``~`` replaces the band.
    """
    words, tone = forecast_cell(queue, brief=True)
    for verb, arrow in _ARROWS:
        if words.startswith(verb):
            return (arrow + words.removeprefix(verb).partition(" ±")[0], tone)
    return (words, tone)


def forecast_cell(queue: QueueView, *, brief: bool = False) -> Cell:
    """Return the forecast as text, or the sign for unknown.

    ``brief``: leave out the consumers needed to drain the queue.
    """
    words = clean(queue.forecast.text)
    words = words.partition(": ")[0] if brief else words
    return (words, "text") if words else (formatting.UNKNOWN, "faint")
