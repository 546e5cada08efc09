"""The summary line: the number of queues with problems, and the worst queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from qmon.model import formatting
from qmon.model.figure import Severity, Verdict
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.verdicts.flow_verdicts import PAUSED
from qmon.model.view import QueueView, View
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, fit_parts


class SummaryText(Text):
    """The parts of the line."""

    ONE_CRITICAL = "is critical"
    CRITICAL = "are critical"
    ONE_WARNING = "has a warning"
    WARNING = "have a warning"
    ONE_FINE = "is fine"
    FINE = "are fine"
    ONE_NOTICE = "has a notice"
    NOTICE = "have a notice"
    ONE_PAUSED = "is paused on purpose"
    PAUSED = "are paused on purpose"
    ONE_UNKNOWN = "is unknown"
    UNKNOWN = "are unknown"
    NO_QUEUE = "no queue is known"
    AS_OF = "As of {age} ago: "
    ONLY_QUEUE = "The only queue {state}"
    BOTH_QUEUES = "Both queues {state}"
    ALL_QUEUES = "All {count} queues {state}"
    SOME_QUEUES = "{count} of {total} queues {state}"
    ALSO = ", {count} {state}"
    NAME = ": "
    WORST = "; worst: "
    READY = ", {count} ready"
    OLDEST = ", oldest {age}"
    NO_RATES = "; no rates yet"
    BROKER = "; Service Broker has a problem"
    SERVER = "; the server has a problem"
    END = "."


class _State(NamedTuple):
    """A state of queues: the text for one queue, the text for several, and the rank of the text.

    Narrow lines drop the text with the greatest rank first.
    """

    one: SummaryText
    several: SummaryText
    rank: int

    def text_for(self, count: int) -> SummaryText:
        return self.one if count == 1 else self.several


_CRITICAL: Final = _State(SummaryText.ONE_CRITICAL, SummaryText.CRITICAL, 0)
_WARNING: Final = _State(SummaryText.ONE_WARNING, SummaryText.WARNING, 5)
_FINE: Final = _State(SummaryText.ONE_FINE, SummaryText.FINE, 0)
_NOTICE: Final = _State(SummaryText.ONE_NOTICE, SummaryText.NOTICE, 7)
_PAUSED: Final = _State(SummaryText.ONE_PAUSED, SummaryText.PAUSED, 8)
_UNKNOWN: Final = _State(SummaryText.ONE_UNKNOWN, SummaryText.UNKNOWN, 6)


def summary_line(
    view: View, ranked: Sequence[QueueView], cells: int, age_s: float | None = None, hint: str = ""
) -> Line:
    """Return ``■ 3 of 12 queues are critical; worst: orders, 1,204 ready, oldest 14m.``

    ``ranked``: the queues of the view, worst first. ``age_s``: the age of stale figures in seconds, or ``None``.
    ``hint``: what a key does. The hint is shown if there is room.
    """
    if not ranked:
        return ((f" {SummaryText.NO_QUEUE}", "muted"),)
    worst = ranked[0]
    counts = Counter(_state_of(queue.verdict) for queue in ranked)
    trouble = worst.verdict.severity >= Severity.WARNING
    wanted = (_CRITICAL, _WARNING, _PAUSED, _UNKNOWN) if trouble else (_FINE, _NOTICE, _PAUSED, _UNKNOWN)
    first, *others_named = (state for state in wanted if counts[state])
    symbol, tone = figures.verdict_mark(worst.verdict)
    then = SummaryText.AS_OF.render(age=formatting.whole_seconds(age_s)) if age_s is not None else ""
    share = _share_text(counts[first], len(ranked), first)
    parts = [LinePart(((f" {symbol} ", tone), (then, "accent"), (share, tone)))]
    parts += [
        LinePart.from_text(
            SummaryText.ALSO.render(count=counts[each], state=each.text_for(counts[each])), "text", each.rank
        )
        for each in others_named
    ]
    others = len(ranked) - counts[_FINE]
    if trouble:
        parts += _worst_parts(worst, alone=counts[_CRITICAL] + counts[_WARNING] == 1)
    elif others == 1:
        parts.append(LinePart(((SummaryText.NAME, "text"), (shorten(clean(worst.name), 24), "strong"))))
    if not trouble and all(queue.push_rate.value is None and queue.pop_rate.value is None for queue in ranked):
        parts.append(LinePart.from_text(SummaryText.NO_RATES, "text", 1))
    if not trouble and _has_broker_trouble(view):
        parts.append(LinePart.from_text(SummaryText.BROKER, "accent"))
    if view.server.outside:
        parts.append(LinePart.from_text(SummaryText.SERVER, "accent"))
    parts.append(LinePart.from_text(SummaryText.END))
    return fit_parts([*parts, LinePart.from_text(f"  {hint}", "muted", 9)] if hint else parts, cells, "")


def _state_of(verdict: Verdict) -> _State:
    if verdict.severity >= Severity.WARNING:
        return _CRITICAL if verdict.severity is Severity.CRITICAL else _WARNING
    if verdict.severity is Severity.FINE:
        return _FINE
    return {PAUSED.code: _PAUSED, CANNOT_TELL: _UNKNOWN}.get(verdict.code, _NOTICE)


def _share_text(count: int, total: int, state: _State) -> str:
    words = state.text_for(count)
    if total == 1:
        return SummaryText.ONLY_QUEUE.render(state=words)
    if count < total:
        return SummaryText.SOME_QUEUES.render(count=count, total=total, state=words)
    if total == 2:
        return SummaryText.BOTH_QUEUES.render(state=words)
    return SummaryText.ALL_QUEUES.render(count=total, state=words)


def _worst_parts(queue: QueueView, *, alone: bool) -> list[LinePart]:
    """Return the worst queue with the number of its ready messages and the age of the oldest message."""
    name = LinePart(
        ((SummaryText.NAME if alone else SummaryText.WORST, "text"), (shorten(clean(queue.name), 24), "strong"))
    )
    said = (
        (queue.ready, LinePart.from_text(SummaryText.READY.render(count=queue.ready.text()), rank=1)),
        (
            queue.oldest,
            LinePart.from_text(SummaryText.OLDEST.render(age=queue.oldest.text(formatting.short_duration)), rank=4),
        ),
    )
    return [name, *(part for figure, part in said if (figure.evidence.value or 0) >= 1)]


def _has_broker_trouble(view: View) -> bool:
    broker = view.server.broker
    return broker is not None and any(
        broker.database_verdicts or [q.verdict for q in broker.queues if q.verdict is not None]
    )
