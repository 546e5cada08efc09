"""Formats values for the screens: figures with a symbol and a tone, times, and rates in columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.forecast import Trend
from qmon.model.queue_figures import BYTES, COUNT, FIGURES_BY_FIELD, MAIN_FIGURES, RATE, SECONDS, SESSIONS, SHARE
from qmon.model.reasons import Reason
from qmon.model.verdicts.flow_verdicts import PAUSED
from qmon.model.view import QueueView, View
from qmon.texts import Text
from qmon.tui.sanitize import clean, shorten_words, text_width
from qmon.tui.widgets.grid_table import Cell, GridColumn


class UnreadText(Text):
    """Why figures of the whole target are unknown."""

    THROTTLED = "{what} is read only every {duration} to stay within the cost budget; n reads now"
    NOT_READ = "{what} was not read in this poll; a later poll reads it"


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


# The usual and the short form of the values of a column, by unit.
_FORMS: Final[Mapping[str, tuple[Callable[[float], str], Callable[[float], str]]]] = {
    COUNT: (formatting.count, formatting.short_count),
    SESSIONS: (formatting.count, formatting.short_count),
    RATE: (aligned_rate, formatting.short_rate),
    SECONDS: (formatting.compact_duration, formatting.short_duration),
    SHARE: (formatting.percent, formatting.percent),
    BYTES: (formatting.size, formatting.size),
}


def figure_column(field: str, rank: int, width: int) -> GridColumn:
    """Return the column of a figure. ``rank``: see ``GridColumn``."""
    figure = FIGURES_BY_FIELD[field]
    return GridColumn(field, figure.column_title, True, rank, width=width, about=figure.about)


def column_cell(figure: Figure, column: GridColumn, tone: str = "text", *, mark: str = "", aged: bool = True) -> Cell:
    """Return a figure in the longest form that fits into its column: ``~40,112 ·12s``, ``~40k·12s`` or ``~40k·``.

    So the width of a column does not depend on its values, and no digit is ever cut.

    Args:
        column: its key is the field of the figure.
        mark: a symbol in front of the figure.
        aged: see ``figure_cell``.
    """
    unit = FIGURES_BY_FIELD[column.key].unit
    write, short = _FORMS[unit]
    usual, shown_tone = figure_cell(figure, write, tone, aged=aged)
    if figure.value is None:
        return (f"{usual}  " if unit == RATE else usual, shown_tone)
    if text_width(mark + usual) <= column.width:
        return (mark + usual, shown_tone)
    briefly, age = figure.text(short), formatting.short_duration(figure.age_s)
    forms = (f"{briefly}·{age}", f"{briefly}·") if aged and figure.shows_age else (usual.rstrip(), briefly)
    fits = (each for each in map(mark.__add__, forms) if text_width(each) <= column.width)
    # The tone shows that a figure is unusual even if there is no room for the mark.
    return (next(fits, forms[-1]), shown_tone)


def unread_reason(view: View, data: str, *probes: str) -> str:
    """Return why these probes failed, were throttled or ran out of time.

    ``data``: the data that the probes read for the whole target.
    """
    failed = next((clean(f.text) for f in view.failures if not f.queue and f.probe in probes), "")
    throttled = view.server.observing.throttled_for("") if view.server.observing is not None else ()
    every = next((formatting.duration(each.every_s) for each in throttled if each.probe in probes), "")
    if every and not failed:
        return UnreadText.THROTTLED.render(what=data, duration=every)
    return failed or UnreadText.NOT_READ.render(what=data)


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
        if each.field not in none and figure.value is None and figure.reason not in ("", Reason.NOT_IN_TABLE):
            out.append((each.screen_name, clean(figure.reason)))
    return out


# Width of a rate in a short forecast.
_RATE_CELLS: Final = 6

# The symbol of a queue that was paused on purpose.
PAUSED_SYMBOL: Final = "‖"


def verdict_mark(verdict: Verdict) -> Cell:
    """Return the symbol and tone of a verdict. Both depend on the severity, but a pause has its own symbol and tone."""
    return (
        (PAUSED_SYMBOL, "held") if verdict.code == PAUSED.code else (SYMBOLS[verdict.severity], TONES[verdict.severity])
    )


def verdict_cell(queue: QueueView, hint: str) -> Cell:
    """Return the worst verdict with its symbol, the number of other problems, and ``hint``: ``■ no pops +1 [4]``.

    ``hint``: the key that handles the verdict.
    """
    symbol, tone = verdict_mark(queue.verdict)
    others = [each for each in queue.verdicts if each.severity >= Severity.WARNING and each.code != queue.verdict.code]
    more = f" +{len(others)}" if others else ""
    key = f" [{hint}]" if hint else ""
    return (f"{symbol} {clean(queue.verdict.code.replace('_', ' '))}{more}{key}", tone)


_VERDICT_CELL: Final = re.compile(r"(?P<verdict>.*?)(?P<more> \+\d+)?(?P<key> \[[^\]]*\])?")


def shorten_verdict(text: str, cells: int) -> str:
    """Return the text of a ``verdict_cell`` in at most ``cells`` cells.

    The key is dropped first. Then the verdict is cut between two words, and the number of other problems is kept.
    """
    parts = _VERDICT_CELL.fullmatch(text)
    if text_width(text) <= cells or parts is None:
        return shorten_words(text, cells)
    more = parts["more"] or ""
    return shorten_words(parts["verdict"], max(0, cells - text_width(more))) + more if cells > len(more) else ""


def short_forecast_cell(queue: QueueView) -> Cell:
    """Return the forecast in at most ten cells, with an arrow for its direction: ``↓ ~35m12s``, ``↑ 216/s``.

    A ``~`` replaces the band, and ``≤`` is the end of a band that begins now. The consumers needed to drain the queue
    are left out.
    """
    found = queue.forecast
    if found.seconds is not None and found.band_s is not None:
        is_bound = found.band_s >= found.seconds
        left = found.seconds + found.band_s if is_bound else found.seconds
        return (f"↓ {'≤' if is_bound else '~'}{formatting.compact_duration(left)}", "text")
    if found.trend is Trend.GROWING and found.growth is not None:
        rate = formatting.rate(found.growth)
        return (f"↑ {rate if len(rate) <= _RATE_CELLS else formatting.short_rate(found.growth)}/s", "text")
    return forecast_cell(queue)


def forecast_cell(queue: QueueView) -> Cell:
    """Return the forecast as text, or the sign for unknown."""
    words = clean(queue.forecast.text)
    return (words, "text") if words else (formatting.UNKNOWN, "faint")
