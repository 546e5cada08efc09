"""The ``why:`` lines: the proof of the worst verdict, and what there is to say about the queue under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model.figure import Severity, Verdict
from qmon.model.view import QueueView, Trend, View
from qmon.tui import text
from qmon.tui.shared import figures
from qmon.tui.shared.sanitize import clean, shorten, width
from qmon.tui.spans import Line, Span, wrap


def why(
    view: View,
    worst: Sequence[QueueView],
    selected: QueueView | None,
    cells: int,
    rows: int,
    *,
    lost: Verdict | None = None,
) -> list[Line]:
    """At most ``rows`` lines. ``worst``: the queues, the worst first; ``lost``: the verdict on a lost target."""
    lines: list[Line] = []
    if lost is not None:
        lines.append(_lost(view.target, lost, cells))
    first = worst[0] if worst else None
    if first is not None and first.verdict.severity > Severity.FINE:
        keep = 1 if selected is not None and selected.name != first.name else 0
        lines += proof("why", first, view, cells, max(1, rows - keep))
    elif first is not None:
        but = ", but for those of Service Broker" if _broker_ails(view) else ""
        lines.append(((f" all queues are fine{but}", "muted"),))
    if selected is not None and (first is None or selected.name != first.name or not lines):
        lines += proof("here", selected, view, cells, 1)
    for failure in view.failures:
        told = f"{clean(failure.probe)}: {clean(failure.reason)}"
        help_ = f"  {clean(failure.grant)}" if failure.grant else ""
        lines.append(((" not seen: ", "muted"), (shorten(told + help_, cells - 12), "text")))
    return lines[:rows]


def _broker_ails(view: View) -> bool:
    broker = view.server.broker
    return broker is not None and any(v is not None for v in (broker.verdict, *(q.verdict for q in broker.queues)))


def _lost(target: str, verdict: Verdict, cells: int) -> Line:
    lead = (("  why: ", "muted"), (shorten(clean(target), 24), "strong"), (f" {verdict.code}: ", "alarm"))
    return (*lead, (shorten(clean(verdict.proof), max(10, cells - sum(width(t) for t, _ in lead) - 1)), "text"))


def proof(
    word: str, queue: QueueView, view: View, cells: int, rows: int, *, verdict: Verdict | None = None
) -> list[Line]:
    """``why: name is stuck in progress for 4 m: proof``, broken over at most ``rows`` lines; of the worst verdict."""
    worst, verdict = verdict is None or verdict is queue.verdict, verdict or queue.verdict
    severity = verdict.severity
    lead: list[Span] = [
        (f" {word:>4}: ", "muted"),
        (shorten(clean(queue.name), 24), "strong"),
        (" ", "text"),
        (clean(verdict.code.replace("_", " ")), figures.TONES[severity] if severity else "text"),
    ]
    since = verdict.since_at
    if since is not None and view.sampled_at - since >= 1.0:
        lead.append((f" for {text.long_age(view.sampled_at - since)}", "muted"))
    lead.append((": ", "muted"))
    told = clean(verdict.proof)
    if worst and queue.forecast.trend in (Trend.DRAINING, Trend.GROWING) and queue.forecast.text not in told:
        told = f"{told} · {clean(queue.forecast.text)}"
    used = sum(width(t) for t, _ in lead)
    pieces = wrap(told, max(10, cells - used - 1), cells - 8, rows)
    return [(*lead, (pieces[0], "text")), *(((" " * 7, "text"), (piece, "text")) for piece in pieces[1:])]
