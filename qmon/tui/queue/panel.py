"""What the queue screen says about one queue: its title, its figures, and what is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.model.figure import Figure
from qmon.model.view import QueueView, View
from qmon.tui import text
from qmon.tui.overview.trends import top
from qmon.tui.plots.blocks import sparkline
from qmon.tui.plots.series import Reading, sample, window
from qmon.tui.queue.verdicts import said
from qmon.tui.shared import figures
from qmon.tui.shared.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, Span, fit, spread, wrap
from qmon.tui.waits.usage import size

_SPARK_CELLS = 12
_READ: Final = {
    "head": "depth and oldest", "ring_sweep": "lost numbers", "ring": "positions", "held": "rows held",
    "progress": "in progress and stuck", "scheduled": "scheduled", "in_state": "dead", "messages": "rows",
}  # fmt: skip


def title(queue: QueueView, cells: int) -> list[Line]:
    """Name, design and tables, and at the right end the verdict."""
    tables = clean(str(queue.layout.table))
    if queue.layout.data_table is not None:
        tables += f" + {clean(str(queue.layout.data_table))}"
    said, tone = figures.verdict(queue)
    left = [
        LinePart.of(f" {shorten(clean(queue.name), 40)}", "strong"),
        LinePart.of(queue.layout.design, "muted", 1),
        LinePart.of(tables, "muted", 2),
    ]
    return [spread(left, [LinePart.of(f"{said} ", tone)], cells)]


def readings(queue: QueueView, cells: int) -> list[Line]:
    """Two lines of figures: what moves, with its trend, and what lies there."""
    moving = [
        _moving(queue, "depth", "ready", queue.ready, "depth", cells),
        _moving(queue, "push", "push_rate", queue.push_rate, "push", cells),
        _moving(queue, "pop", "pop_rate", queue.pop_rate, "pop", cells),
        LinePart((("complete ", "muted"), *_rate(queue.complete_rate)), 5),
        LinePart((("forecast ", "muted"), figures.forecast(queue)), 3),
    ]
    lying = [
        _lying("oldest", queue.oldest, 0, write=text.long_age),
        _lying("in progress", queue.in_progress, 1),
        _lying("stuck", queue.stuck, 0, hot=True),
        _lying("scheduled", queue.scheduled, 4),
        _lying("dead", queue.dead, 3, hot=True),
        _lying(queue.gap_kind or "gap", queue.gap, 2),
    ]
    if queue.pushers.value is not None:
        lying.append(_lying("pushers", queue.pushers, 5))
    if queue.poppers.value is not None:
        waiting = text.figure(queue.poppers_waiting, text.count)
        lying.append(LinePart((*_lying("poppers", queue.poppers, 4).spans, (f" ({waiting} waiting)", "muted")), 4))
    if queue.done.value is not None:
        lying.append(_lying("done", queue.done, 4))
    if queue.bytes.value is not None:
        grows = f" ({size(queue.growth.value)}/s)" if queue.growth.value and queue.growth.value >= 1 else ""
        lying.append(LinePart((*_lying("size", queue.bytes, 5, write=size).spans, (grows, "muted")), 5))
    if queue.layout.ring is not None:
        lying.append(_lying("fill", queue.fill, 2, write=text.percent))
    if queue.ready.old:
        lying.insert(0, LinePart.of(f"all of {text.long_age(queue.ready.age_s)} ago:", "accent", 0))
    elif queue.ready.age_s >= 1.0:
        lying.append(LinePart.of(f"depth counted {text.long_age(queue.ready.age_s)} ago", "muted", 5))
    return [_indented(moving, cells), _indented(lying, cells)]


def _indented(parts: list[LinePart], cells: int) -> Line:
    return ((" ", "text"), *fit(parts, cells - 2))


def _rate(figure: Figure) -> tuple[Span, ...]:
    value, tone = figures.cell(figure, text.rate)
    return ((value, tone),) if figure.value is None else ((value, tone), ("/s", "muted"))


def _moving(queue: QueueView, name: str, reading: Reading, figure: Figure, tone: str, cells: int) -> LinePart:
    """A figure with its sparkline, where the line is long enough to hold all of them."""
    value: tuple[Span, ...] = _rate(figure) if reading != "ready" else (figures.cell(figure, tone="strong"),)
    spans: tuple[Span, ...] = ((f"{name} ", "muted"), *value)
    if cells >= 100:
        values = sample(queue.history, reading, _SPARK_CELLS, window(queue.history))
        spans = (*spans, (f" {sparkline(values, top(reading, values))}", f"{tone} fill"))
    return LinePart(spans, 0)


def _lying(
    name: str, figure: Figure, rank: int, *, write: Callable[[float], str] = text.count, hot: bool = False
) -> LinePart:
    value, tone = figures.cell(figure, write, "alarm" if hot else "text")
    return LinePart(((f"{name} ", "muted"), (value, tone)), rank)


def because(queue: QueueView, view: View, cells: int, rows: int) -> list[Line]:
    """What is wrong with this queue, with its proof, and what was."""
    return said(queue, view, cells, rows)


def unknowns(queue: QueueView) -> list[tuple[str, str]]:
    """What is not known of this queue and why: probes that failed, with the GRANT that helps, then figures."""
    failed = [(clean(f.probe), clean(f.words)) for f in queue.failures]
    names: dict[str, list[str]] = {}
    for name, reason in figures.unknown(queue):
        names.setdefault(reason, []).append(name)
    return [*failed, *shed(queue), *((", ".join(same), reason) for reason, same in names.items())]


def shed(queue: QueueView) -> list[tuple[str, str]]:
    """What is read less often of this queue to stay within the budget, and how often."""
    out: dict[str, list[str]] = {}
    for each in queue.shed:
        said = f"every {text.age(each.every_s)} instead of {text.age(each.instead_s)}, to stay within the budget"
        out.setdefault(said, []).append(_read_by(each.probe))
    return [(f"shed: {', '.join(dict.fromkeys(names))}", f"read {said}") for said, names in out.items()]


def _read_by(probe: str) -> str:
    """What a probe reads, for people."""
    return next((words for begins, words in _READ.items() if probe.startswith(begins)), clean(probe.replace("_", " ")))


def unknown_lines(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """The list of what is not known as running text, for narrow screens."""
    found = unknowns(queue)
    if not found:
        return []
    told = " · ".join(f"{name}: {reason}" for name, reason in found)
    pieces = wrap(told, cells - 13, cells - 13, rows)
    return [((" not known  " if i == 0 else " " * 12, "muted"), (piece, "muted")) for i, piece in enumerate(pieces)]


def unknown_list(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """The list of what is not known as a column beside the plot: what, and below it the reason."""
    found = unknowns(queue)
    if not found:
        return [(("every figure is known", "muted"),)]
    lines: list[Line] = []
    for name, reason in found:
        lines += [((piece, "text"),) for piece in wrap(name, cells, cells, 2)]
        lines += [((f"  {piece}", "muted"),) for piece in wrap(reason, cells - 2, cells - 2, 4)]
    if len(lines) > rows:
        lines = [*lines[: rows - 1], ((f"… {len(lines) - rows + 1} lines more", "muted"),)]
    return lines
