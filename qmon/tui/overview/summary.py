"""The summary line: the number of queues with problems, and the worst queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Severity, Verdict
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.verdicts.flow_verdicts import PAUSED
from qmon.model.view import QueueView, View
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, fit_parts

_TROUBLE: Final = (("is critical", "are critical", 0), ("has a warning", "have a warning", 5))
# The text for one queue, the text for several queues, and the rank. Narrow lines drop the greatest rank first.
_OTHER_STATES: Final = (
    ("is fine", "are fine", 0),
    ("has a notice", "have a notice", 7),
    ("is paused on purpose", "are paused on purpose", 8),
    ("is unknown", "are unknown", 6),
)
_CRITICAL, _WARNING = (each[1] for each in _TROUBLE)
_FINE, _NOTICE, _PAUSED, _UNKNOWN = (each[1] for each in _OTHER_STATES)


def summary_line(
    view: View, ranked: Sequence[QueueView], cells: int, age_s: float | None = None, hint: str = ""
) -> Line:
    """Return ``■ 3 of 12 queues are critical; worst: orders, 1,204 ready, oldest 14m.``

    ``ranked``: the queues of the view, worst first. ``age_s``: the age of stale figures in seconds, or ``None``.
    ``hint``: what a key does. The hint is shown if there is room.
    """
    if not ranked:
        return ((" no queue is known", "muted"),)
    worst = ranked[0]
    counts = Counter(_state_phrase(queue.verdict) for queue in ranked)
    trouble = worst.verdict.severity >= Severity.WARNING
    wanted = (*_TROUBLE, *_OTHER_STATES[2:]) if trouble else _OTHER_STATES
    clauses = [(counts[many], one, many, rank) for one, many, rank in wanted if counts[many]]
    symbol, tone = figures.verdict_mark(worst.verdict)
    then = f"As of {formatting.whole_seconds(age_s)} ago: " if age_s is not None else ""
    count, one, many, _ = clauses[0]
    parts = [LinePart(((f" {symbol} ", tone), (then, "accent"), (_share_text(count, len(ranked), one, many), tone)))]
    parts += [
        LinePart.from_text(f", {count} {one if count == 1 else many}", "text", rank)
        for count, one, many, rank in clauses[1:]
    ]
    others = len(ranked) - counts[_FINE]
    if trouble:
        parts += _worst_parts(worst, alone=counts[_CRITICAL] + counts[_WARNING] == 1)
    elif others == 1:
        parts.append(LinePart(((": ", "text"), (shorten(clean(worst.name), 24), "strong"))))
    if not trouble and all(queue.push_rate.value is None and queue.pop_rate.value is None for queue in ranked):
        parts.append(LinePart.from_text("; no rates yet", "text", 1))
    if not trouble and _has_broker_trouble(view):
        parts.append(LinePart.from_text("; Service Broker has a problem", "accent"))
    if view.server.outside:
        parts.append(LinePart.from_text("; the server has a problem", "accent"))
    parts.append(LinePart.from_text("."))
    return fit_parts([*parts, LinePart.from_text(f"  {hint}", "muted", 9)] if hint else parts, cells, "")


def _state_phrase(verdict: Verdict) -> str:
    if verdict.severity >= Severity.WARNING:
        return _CRITICAL if verdict.severity is Severity.CRITICAL else _WARNING
    if verdict.severity is Severity.FINE:
        return _FINE
    return {PAUSED.code: _PAUSED, CANNOT_TELL: _UNKNOWN}.get(verdict.code, _NOTICE)


def _share_text(count: int, total: int, one: str, many: str) -> str:
    if total == 1:
        return f"The only queue {one}"
    if count == total:
        return f"{'Both' if total == 2 else f'All {total}'} queues {many}"
    return f"{count} of {total} queues {one if count == 1 else many}"


def _worst_parts(queue: QueueView, *, alone: bool) -> list[LinePart]:
    """Return the worst queue with the number of its ready messages and the age of the oldest message."""
    name = LinePart(((": " if alone else "; worst: ", "text"), (shorten(clean(queue.name), 24), "strong")))
    said = (
        (queue.ready, LinePart.from_text(f", {queue.ready.text()} ready", rank=1)),
        (queue.oldest, LinePart.from_text(f", oldest {queue.oldest.text(formatting.short_duration)}", rank=4)),
    )
    return [name, *(part for figure, part in said if (figure.evidence.value or 0) >= 1)]


def _has_broker_trouble(view: View) -> bool:
    broker = view.server.broker
    return broker is not None and any(
        broker.database_verdicts or [q.verdict for q in broker.queues if q.verdict is not None]
    )
