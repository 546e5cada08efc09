"""The waits of a target as rows, and the meaning of the wait under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from qmon.model import formatting
from qmon.model.formatting import sparkline
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import View
from qmon.model.waits.meanings import wait_meaning
from qmon.model.waits.wait_rates import Waiting, WaitRate
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.plots.history_series import Values, highest_value
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.screen_texts import ScreenText
from qmon.tui.spans import Line, LinePart, entry_lines, fit_parts
from qmon.tui.waits.wait_plot import wait_steps
from qmon.tui.widgets.filter_bar import matches_filter
from qmon.tui.widgets.grid_table import GridColumn, GridRow


class WaitsText(Text):
    """The texts of the panel of waits."""

    SUMMARY = "{count:,.1f} sessions at work on average · {how}"
    SAMPLED = "{count} samples in {duration}"
    COUNTED = "counted over {duration}"
    NONE_WAITS = "no session is waiting or running"
    NO_WAITS_YET = "the second poll shows the waits"
    NO_MEANING = "no explanation in qmon; see the server's documentation"
    PER_SECOND = "per second"
    BATCHES = "batches"
    TRANSACTIONS = "transactions"
    PAGE_SPLITS = "page splits"
    LOCK_TIMEOUTS = "lock timeouts"
    GHOSTS_SKIPPED = "ghosts skipped"
    LOG_FLUSH_WAITS = "commits waiting for the log"


_BAR: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_LARGE: Final = 0.5
_IDLE: Final = "idle waits"
_NEVER: Final = 10_000
_STEP_S: Final = 30.0
_STEPS: Final = 20

COLUMNS: Final = (
    GridColumn(
        "wait",
        "WAIT",
        least=22,
        most=34,
        shrinks_to=18,
        sortable=False,
        about="name of the wait; running: the session is working",
    ),
    GridColumn(
        "sessions",
        "SESSIONS",
        True,
        least=8,
        most=8,
        sortable=False,
        about="average number of sessions in this wait: seconds waited per second",
    ),
    GridColumn(
        "share",
        "SHARE",
        True,
        least=6,
        most=6,
        sortable=False,
        about="share of all waiting and running sessions, without idle waits",
    ),
    GridColumn("bar", "", least=_BAR, most=_BAR, rank=3, sortable=False, about="the share as a bar"),
    GridColumn(
        "past",
        "LAST 10 MIN",
        least=_STEPS,
        most=_STEPS,
        rank=4,
        from_width=140,
        sortable=False,
        about="sessions in this wait over the last ten minutes, one scale for all waits",
    ),
    GridColumn(
        "per_s",
        "PER S",
        True,
        least=8,
        most=8,
        rank=5,
        from_width=100,
        sortable=False,
        about="waits that ended per second; PostgreSQL does not count them",
    ),
    GridColumn(
        "each",
        "EACH",
        True,
        least=8,
        most=8,
        rank=5,
        from_width=100,
        sortable=False,
        about="average duration of one wait",
    ),
    GridColumn(
        "signal",
        "CPU",
        True,
        least=5,
        most=5,
        rank=6,
        from_width=160,
        sortable=False,
        about="share of the wait time spent waiting for a processor, after the resource was free",
    ),
    GridColumn(
        "what",
        "WAITING FOR",
        rank=2,
        least=20,
        shorten=shorten_words,
        grows=True,
        sortable=False,
        about="explanation of the wait",
    ),
)


def columns_for(waiting: Waiting | None) -> tuple[GridColumn, ...]:
    """Return the columns. The columns about counted waits are only included if the server counts waits."""
    if waiting is not None and waiting.source is WaitSource.COUNTED:
        return COLUMNS
    widths = {"past": 108, "per_s": _NEVER, "each": _NEVER, "signal": _NEVER}
    return tuple(replace(c, from_width=widths.get(c.key, c.from_width)) for c in COLUMNS)


def past_values(memory: InMemoryHistory | None) -> dict[str, Values]:
    """Return the sessions in each wait (keyed by ``WaitRate.key``) over ten minutes, in steps of 30 seconds."""
    if memory is None:
        return {}
    found = wait_steps(memory, _STEP_S, _STEPS)
    return {name: [None if step is None else step.mean for step in each] for name, each in found.items()}


def rows_for(
    waiting: Waiting | None, filter_text: str, past: Mapping[str, Values] | None = None
) -> tuple[GridRow, ...]:
    """Return one row per wait, longest first, then rows of latches except page latches, then a row of idle waits."""
    if waiting is None:
        return ()
    past = past or {}
    top = max(1.0, highest_value(*past.values()))
    kept = [
        rate
        for rate in (*waiting.rates, *waiting.latches)
        if matches_filter(filter_text, f"{rate.name} {_wait_meaning(rate)}")
    ]
    made = [_row(rate, sparkline(past.get(rate.key, ()), top)) for rate in kept]
    if waiting.benign and not filter_text:
        inside = sum(rate.sessions for rate in waiting.benign)
        names = ", ".join(rate.name for rate in waiting.benign[:6])
        cells = [
            (formatting.count_text(len(waiting.benign), "idle wait"), "muted"),
            (_sessions_text(inside), "muted"),
            ("", "muted"),
        ]
        made.append(GridRow(_IDLE, (*cells, *[("", "muted")] * (len(COLUMNS) - 4), (clean(names), "muted"))))
    return tuple(made)


def _row(rate: WaitRate, past: str) -> GridRow:
    at_work = not rate.event
    tone = "muted" if at_work else "accent" if rate.share >= _LARGE else "text"
    latch = rate.kind == "latch"
    return GridRow(
        rate.key,
        (
            (clean(rate.name), "muted" if at_work else "strong"),
            (_sessions_text(rate.sessions), tone),
            ("" if latch else formatting.percent(rate.share), tone),
            ("" if latch else _share_bar(rate.share), tone),
            (past, "muted"),
            _rate_cell(rate.per_s),
            (formatting.milliseconds(rate.each_s * 1000), "text")
            if rate.each_s is not None
            else (formatting.UNKNOWN, "faint"),
            (formatting.percent(rate.signal), "text") if rate.signal is not None else (formatting.UNKNOWN, "faint"),
            (clean(_wait_meaning(rate)), "muted"),
        ),
    )


def _rate_cell(value: float | None) -> tuple[str, str]:
    return (figures.aligned_rate(value), "text") if value is not None else (formatting.UNKNOWN, "faint")


def _sessions_text(value: float) -> str:
    """Return ``4.50`` or ``0.02``: two decimals, so that the column lines up."""
    return "<0.01" if 0 < value < 0.005 else f"{value:,.2f}"


def _share_bar(share: float) -> str:
    """Return a share as a bar of ten cells."""
    eighths = round(min(1.0, share) * _BAR * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _wait_meaning(rate: WaitRate) -> str:
    known = wait_meaning(rate.kind, rate.event)
    return known.waits_for if known is not None else WaitsText.NO_MEANING


def meaning_lines(rate: WaitRate | None, cells: int, rows: int) -> list[Line]:
    """Return the meaning of the wait under the cursor for a queue, and what helps."""
    known = wait_meaning(rate.kind, rate.event) if rate is not None else None
    if known is None:
        return []
    each = max(1, rows // 2)
    out = entry_lines("cause", known.cause, cells, most=each)
    return (out + entry_lines("fix", known.fix, cells, "strong", most=each))[:rows]


def waits_summary(waiting: Waiting | None) -> str:
    """Return ``4.2 sessions at work on average · 118 samples in 30 s``."""
    if waiting is None:
        return ""
    seconds = formatting.duration(waiting.seconds)
    how = (
        WaitsText.SAMPLED.render(count=waiting.samples, duration=seconds)
        if waiting.source is WaitSource.SAMPLED
        else WaitsText.COUNTED.render(duration=seconds)
    )
    return WaitsText.SUMMARY.render(count=waiting.busy, how=how)


def empty_text(view: View | None, filter_text: str) -> str:
    """Return the text to show if there are no rows."""
    if view is None:
        return ScreenText.NO_FIGURES_YET
    found = view.server.waiting
    if found is not None:
        return (
            ScreenText.NO_MATCH.render(what="wait", filter=clean(filter_text))
            if filter_text and found.rates
            else WaitsText.NONE_WAITS
        )
    for failure in view.failures:
        if failure.probe in ("waits", "waits over time", "wait_totals", SESSIONS_PROBE):
            return clean(failure.text)
    return WaitsText.NO_WAITS_YET


def counter_lines(view: View | None, cells: int) -> list[Line]:
    """Return the line of counters. It is empty before the second poll, or if the server has no counters."""
    found = view.server.counters if view is not None else None
    return (
        [((f" {WaitsText.PER_SECOND}  ", "muted"), *fit_parts(_counter_parts(found), cells - 13))]
        if found is not None
        else []
    )


def _counter_parts(rates: CounterRates) -> list[LinePart]:
    """Return the counters as parts of a line. Narrow lines keep the counters that a DBA reads first."""
    named = (
        (WaitsText.BATCHES, rates.batches, 2),
        (WaitsText.TRANSACTIONS, rates.transactions, 4),
        (WaitsText.PAGE_SPLITS, rates.page_splits, 1),
        (WaitsText.LOCK_TIMEOUTS, rates.lock_timeouts, 1),
        (WaitsText.GHOSTS_SKIPPED, rates.ghosts_skipped, 5),
        (WaitsText.LOG_FLUSH_WAITS, rates.log_flush_waits, 3),
    )
    return [_counter_part(name, value, rank) for name, value, rank in named]


def _counter_part(name: str, value: float | None, rank: int) -> LinePart:
    if value is None:
        return LinePart(((f"{name} ", "muted"), (formatting.UNKNOWN, "faint")), rank)
    return LinePart(((f"{name} ", "muted"), (formatting.rate(value), "text" if value else "muted")), rank)
