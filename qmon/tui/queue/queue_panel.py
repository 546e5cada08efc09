"""The panels of the queue screen: title, figures, verdicts, and unknown figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Figure, PastVerdict
from qmon.model.gap_ledger import READY, Ledger
from qmon.model.probe_table import family_of
from qmon.model.queue_figures import DIRECT_FIGURES
from qmon.model.view import QueueView, View
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.actions.availability import verdict_keys
from qmon.tui.overview.overview_lines import proof_lines
from qmon.tui.plots.history_series import Reading
from qmon.tui.plots.sparklines import sparklines_for
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, Span, cut_line, fit_parts, spread_parts, wrap_text


class QueuePanelText(Text):
    """The texts of the panels."""

    PEAK = "{plot} peak {value}"
    WAITING = "({count} waiting)"
    DEPTH_COUNTED_AGO = "depth counted {age} ago"
    THROTTLED = "throttled: {figures}"
    READ_EVERY = "read every {duration} instead of {usual} to stay within the cost budget"
    UNKNOWN = "{figure}: {reason}"
    ALL_KNOWN = "every figure is known"
    MORE_LINES = "… {count} more lines"
    MORE_VERDICTS = "and {verdicts}"
    PAST_VERDICT = "{symbol} {verdict} at {time} UTC for {duration}"
    PAST_PROOF = "{verdict}: {proof}"
    PUSHED_NOT_POPPED = "pushed, not popped"
    GAP = "gap"
    GAP_BY_STATE = "the gap, by state"


# The maximum number of verdict lines on a short screen.
SHORT_VERDICT_ROWS: Final = 4
# The maximum number of verdict lines on a tall screen.
TALL_VERDICT_ROWS: Final = 9


_SPARK_CELLS = 12
# Narrower screens have shorter sparklines, so that the forecast fits.
_SHORT_SPARK_CELLS = 7
_LONG_FROM = 140


def title_lines(queue: QueueView, cells: int) -> list[Line]:
    """Return name, design and tables, and the verdict at the right end."""
    tables = clean(str(queue.layout.table))
    if queue.layout.data_table is not None:
        tables += f" + {clean(str(queue.layout.data_table))}"
    verdict, tone = figures.verdict_cell(queue, verdict_keys(queue, current="2"))
    left = [
        LinePart.from_text(f" {shorten(clean(queue.name), 40)}", "strong"),
        LinePart.from_text(queue.layout.design, "muted", 1),
        LinePart.from_text(tables, "muted", 2),
    ]
    return [spread_parts(left, [LinePart.from_text(f"{verdict} ", tone)], cells)]


def reading_lines(queue: QueueView, cells: int, since_read_s: float = 0.0) -> list[Line]:
    """Return two lines of figures: rates and depth with their trends, then counts.

    ``since_read_s``: seconds from the reading of the queue to the reading of the view.
    """
    spark_cells = _SPARK_CELLS if cells >= _LONG_FROM else _SHORT_SPARK_CELLS
    drawn = (
        {
            name: QueuePanelText.PEAK.render(plot=drawn.bars(), value=drawn.peak_text())
            for name, drawn in sparklines_for(queue, spark_cells).items()
        }
        if cells >= 100 and queue.history
        else {}
    )
    moving = [
        _trend_part("depth", "ready", queue.ready, drawn),
        _trend_part("push", "push_rate", queue.push_rate, drawn),
        _trend_part("pop", "pop_rate", queue.pop_rate, drawn),
        LinePart((("complete ", "muted"), *_rate_spans(queue.complete_rate)), 5),
        LinePart((("forecast ", "muted"), figures.forecast_cell(queue)), 3),
    ]
    lying = [
        _figure_part("oldest", queue.oldest, 0, write=formatting.duration),
        _figure_part("in progress", queue.in_progress, 1),
        _figure_part("stuck", queue.stuck, 0, hot=True),
        _figure_part("scheduled", queue.scheduled, 4),
        _figure_part("dead", queue.dead, 3, hot=True),
        _figure_part("gap", queue.gap, 2),
    ]
    if queue.blocked.value:
        age = f" ({queue.blocked_oldest.text(formatting.duration)})" if queue.blocked_oldest.value is not None else ""
        lying.insert(3, LinePart((*_figure_part("blocked", queue.blocked, 0, hot=True).spans, (age, "muted")), 0))
    if queue.producers.value is not None:
        lying.append(_figure_part("producers", queue.producers, 5))
    if queue.consumers.value is not None:
        waiting = queue.consumers_waiting.text(formatting.count)
        lying.append(
            LinePart(
                (
                    *_figure_part("consumers", queue.consumers, 4).spans,
                    (f" {QueuePanelText.WAITING.render(count=waiting)}", "muted"),
                ),
                4,
            )
        )
    if queue.done.value is not None:
        lying.append(_figure_part("done", queue.done, 4))
    if queue.bytes.value is not None:
        grows = f" ({formatting.size(queue.growth.value)}/s)" if queue.growth.value and queue.growth.value >= 1 else ""
        lying.append(
            LinePart((*_figure_part("size", queue.bytes, 5, write=formatting.size).spans, (grows, "muted")), 5)
        )
    if queue.layout.ring is not None:
        lying.append(_figure_part("fill", queue.fill, 2, write=formatting.percent))
    lying += [
        _figure_part(each.screen_name, each.figure_for(queue), 4, write=each.value_with_unit)
        for each in DIRECT_FIGURES
        if each.figure_for(queue).value is not None
    ]
    age_s = queue.ready.age_s + since_read_s
    if age_s >= 1.0 and not queue.ready.old:
        lying.append(
            LinePart.from_text(QueuePanelText.DEPTH_COUNTED_AGO.render(age=formatting.duration(age_s)), "muted", 5)
        )
    return [_indent_line(moving, cells), _indent_line(lying, cells)]


def _indent_line(parts: list[LinePart], cells: int) -> Line:
    return ((" ", "text"), *fit_parts(parts, cells - 2))


def _rate_spans(figure: Figure) -> tuple[Span, ...]:
    value, tone = figures.figure_cell(figure, formatting.rate)
    return ((value, tone),) if figure.value is None else ((value, tone), ("/s", "muted"))


def _trend_part(name: str, reading: Reading, figure: Figure, drawn: Mapping[Reading, str]) -> LinePart:
    """Return a figure with its sparkline. The sparkline is left out unless the line has room for all sparklines."""
    value: tuple[Span, ...] = (
        _rate_spans(figure) if reading != "ready" else (figures.figure_cell(figure, tone="strong"),)
    )
    spans: tuple[Span, ...] = ((f"{name} ", "muted"), *value)
    if reading in drawn:
        spans = (*spans, (f" {drawn[reading]}", f"{name} fill"))
    return LinePart(spans, 0)


def _figure_part(
    name: str, figure: Figure, rank: int, *, write: Callable[[float], str] = formatting.count, hot: bool = False
) -> LinePart:
    value, tone = figures.figure_cell(figure, write, "alarm" if hot else "text")
    return LinePart(((f"{name} ", "muted"), (value, tone)), rank)


def unknown_items(queue: QueueView) -> list[tuple[str, str]]:
    """Return failed probes of this queue, each with its reason and a GRANT if one helps, then unknown figures."""
    failed = [(clean(f.probe), clean(f.text)) for f in queue.failures]
    names: dict[str, list[str]] = {}
    for name, reason in figures.unknown_figures(queue):
        names.setdefault(reason, []).append(name)
    return [*failed, *throttled_items(queue), *((", ".join(same), reason) for reason, same in names.items())]


def throttled_items(queue: QueueView) -> list[tuple[str, str]]:
    """Return the data that is read less often to stay within the cost budget, and how often it is read."""
    out: dict[str, list[str]] = {}
    for each in queue.throttled:
        often = QueuePanelText.READ_EVERY.render(
            duration=formatting.duration(each.every_s), usual=formatting.duration(each.instead_s)
        )
        out.setdefault(often, []).append(_probe_subject(each.probe))
    return [
        (QueuePanelText.THROTTLED.render(figures=", ".join(dict.fromkeys(names))), often)
        for often, names in out.items()
    ]


def _probe_subject(probe: str) -> str:
    """Return a readable name for the data that a probe reads."""
    declared = family_of(probe)
    return (declared.subject if declared is not None else "") or clean(probe.replace("_", " "))


def unknown_lines(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Return the unknown figures as running text, for narrow screens."""
    found = unknown_items(queue)
    if not found:
        return []
    words = " · ".join(QueuePanelText.UNKNOWN.render(figure=name, reason=reason) for name, reason in found)
    pieces = wrap_text(words, cells - 13, cells - 13, rows)
    return [((" unknown    " if i == 0 else " " * 12, "muted"), (piece, "muted")) for i, piece in enumerate(pieces)]


def unknown_column(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Return the unknown figures as a column next to the plot. The reason is below each figure."""
    found = unknown_items(queue)
    if not found:
        return [((QueuePanelText.ALL_KNOWN, "muted"),)]
    lines: list[Line] = []
    for name, reason in found:
        lines += [((piece, "text"),) for piece in wrap_text(name, cells, cells, 2)]
        lines += [((f"  {piece}", "muted"),) for piece in wrap_text(reason, cells - 2, cells - 2, 4)]
    if len(lines) > rows:
        lines = [*lines[: rows - 1], ((QueuePanelText.MORE_LINES.render(count=len(lines) - rows + 1), "muted"),)]
    return lines


def verdict_lines(queue: QueueView, view: View, cells: int, rows: int) -> list[Line]:
    """Return at most ``rows`` lines: the worst verdict, the other verdicts, then past verdicts, newest first."""
    verdicts = queue.verdicts or (queue.verdict,)
    past_rows = min(len(queue.past), max(1, rows - 1 - len(verdicts)), 3) if queue.past else 0
    left = rows - past_rows
    lines: list[Line] = []
    for number, verdict in enumerate(verdicts):
        rest = len(verdicts) - number - 1
        room = left - len(lines)
        if room == 1 and rest:
            more = QueuePanelText.MORE_VERDICTS.render(verdicts=formatting.count_text(rest + 1, "more verdict"))
            lines.append(((f"        {more}", "muted"),))
            break
        word = "why" if number == 0 else "also"
        lines += proof_lines(word, queue, view, cells, min(2, max(1, room - rest)), verdict=verdict)
    return lines + _past_lines(queue, cells, past_rows)


def _past_lines(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """Return one line per past verdict. If there is only one row, return a line with as many verdicts as fit."""
    if not rows:
        return []
    if rows == 1:
        spans: list[Span] = [(" earlier: ", "muted")]
        for number, each in enumerate(queue.past):
            spans += [*([(" · ", "faint")] if number else []), (_past_verdict_text(each), "muted")]
        return [cut_line(spans, cells)]
    return [
        cut_line(
            (
                (" earlier: " if number == 0 else " " * 10, "muted"),
                (QueuePanelText.PAST_PROOF.render(verdict=_past_verdict_text(each), proof=clean(each.proof)), "muted"),
            ),
            cells,
        )
        for number, each in enumerate(queue.past[:rows])
    ]


def _past_verdict_text(past: PastVerdict) -> str:
    first = datetime.fromtimestamp(past.since_at, UTC)
    lasted = formatting.duration(past.until_at - past.since_at)
    return QueuePanelText.PAST_VERDICT.render(
        symbol=figures.SYMBOLS[past.severity], verdict=clean(past.code), time=f"{first:%H:%M:%S}", duration=lasted
    )


def ledger_lines(queue: QueueView, cells: int) -> list[Line]:
    """Return one line per part of the gap and a line with the sum; empty without a ledger."""
    ledger = queue.ledger
    if ledger is None:
        return []
    title: str = QueuePanelText.PUSHED_NOT_POPPED if queue.layout.ring is not None else QueuePanelText.GAP
    rows = [(part.name, _count_text(ledger, part.name, part.count)) for part in ledger.parts]
    width = max(len(count) for _, count in (*rows, ("", formatting.count(ledger.total))))
    room = max(4, cells - width - 2)
    lines: list[Line] = [(("── ", "faint"), (QueuePanelText.GAP_BY_STATE, "title"))]
    for (name, count), part in zip(rows, ledger.parts, strict=True):
        tone = "muted" if part.count == 0 else "text"
        *above, last = wrap_text(clean(name), room, room, 2)
        lines += [((each, "muted"),) for each in above]
        lines.append(((last.ljust(room), "muted"), (count.rjust(width + 2), tone)))
    lines.append(((title.ljust(room), "muted"), (formatting.count(ledger.total).rjust(width + 2), "strong")))
    return lines


def _count_text(ledger: Ledger, name: str, count: int) -> str:
    """Return a count with its symbol. Only the number of ready messages and the remainder can be estimates."""
    exact = not ledger.estimated or (name != READY and name != ledger.parts[-1].name)
    return formatting.count(count) if exact else f"~{formatting.count(count)}"
