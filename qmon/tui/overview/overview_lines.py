"""The target line, and the ``why:`` lines with the proof of the worst verdict and details of the selected queue."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model import formatting
from qmon.model.combined_figures import total_figure
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.forecast import Trend
from qmon.model.queue_figures import FIGURES_BY_FIELD
from qmon.model.samples.polled_samples import WaitSample
from qmon.model.verdicts.server_warnings import NEARLY_ALL
from qmon.model.view import QueueView, View
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.overview.column_choice import OPTIONAL_COLUMNS
from qmon.tui.sanitize import clean, shorten, text_width
from qmon.tui.spans import Line, LinePart, Span, fit_parts, wrap_text


class TargetLineText(Text):
    """The texts of the target line and of the proofs."""

    FAILING = "▲ {probes} failing"
    NO_WAITS = "none"
    HELD_FOR = " for {duration}"


def target_lines(view: View, cells: int) -> list[Line]:
    """Return one line about the server, with the numbers of scheduled and dead messages of all queues."""
    server = view.server
    parts = [
        _rate_part("tx/s", server.commits, 0),
        _rate_part("rollbacks/s", server.rollbacks, 3),
        _rate_part("deadlocks/s", server.deadlocks, 5, hot=True),
        LinePart((("sessions ", "muted"), _number_span(server.sessions)), 4),
        _session_limit_part(view),
        _blocked_part(view),
        _waits_part(server.waits, 2),
        *_optional_total_parts(view),
        _failing_probes_part(view),
    ]
    return [fit_parts([LinePart(((" ", "text"), *parts[0].spans), 0), *parts[1:]], cells)]


def _optional_total_parts(view: View) -> list[LinePart]:
    """Return the sums of scheduled and dead messages over all queues. A sum of 0 is left out."""
    parts = []
    for field in OPTIONAL_COLUMNS:
        queues = [q for q in view.queues if q.layout.has_figure(field) or q.figure(field).value is not None]
        figure = total_figure(FIGURES_BY_FIELD[field], queues)
        if figure.value:
            parts.append(LinePart(((f"{field} ", "muted"), (figure.text(), "strong")), 1))
    return parts


def _rate_part(name: str, figure: Figure, rank: int, *, hot: bool = False) -> LinePart:
    value = figure.text(formatting.rate)
    tone = "alarm" if hot and figure.value else "text" if figure.value else "muted"
    return LinePart(((f"{name} ", "muted"), (value, tone)), rank)


def _session_limit_part(view: View) -> LinePart:
    """Return the number of sessions in use and the number that the server allows, if both are known."""
    used, limit = view.server.sessions_used, view.server.sessions_limit
    if used is None or limit is None:
        return LinePart(())
    full = used >= NEARLY_ALL * limit
    spans: tuple[Span, ...] = (("all sessions ", "muted"), (f"{used:,} of {limit:,}", "alarm" if full else "text"))
    return LinePart(spans, 1 if full else 6)


def _number_span(value: int | None) -> Span:
    return (formatting.UNKNOWN, "faint") if value is None else (str(value), "text")


def _blocked_part(view: View) -> LinePart:
    if view.server.blocking is None:
        return LinePart((("blocked ", "muted"), (formatting.UNKNOWN, "faint")), 1)
    waiters = view.server.blocking.waiters
    return LinePart((("blocked ", "muted"), (str(waiters), "alarm" if waiters else "muted")), 1)


def _waits_part(waits: Sequence[WaitSample] | None, rank: int) -> LinePart:
    """Return the three waits with the most sessions. Running on a processor is not a wait."""
    if waits is None:
        return LinePart((("waits ", "muted"), (formatting.UNKNOWN, "faint")), rank)
    real = sorted((w for w in waits if w.event), key=lambda wait: (-wait.sessions, wait.kind, wait.event))[:3]
    if not real:
        return LinePart((("waits ", "muted"), (TargetLineText.NO_WAITS, "muted")), rank)
    spans: list[Span] = [("waits ", "muted")]
    for index, wait in enumerate(real):
        spans += [(", " if index else "", "muted"), (f"{clean(wait.kind)}:{clean(wait.event)} ", "text")]
        spans.append((str(wait.sessions), "strong"))
    return LinePart(tuple(spans), rank)


def _failing_probes_part(view: View) -> LinePart:
    """Return the number of failing probes. The queue screen also shows the failing probes of its queue."""
    failing = len(view.failures) + sum(len(q.failures) for q in view.queues)
    if not failing:
        return LinePart(())
    return LinePart.from_text(
        TargetLineText.FAILING.render(probes=formatting.count_text(failing, "probe")), "accent", 1
    )


def why_lines(
    view: View,
    ranked_queues: Sequence[QueueView],
    selected: QueueView | None,
    cells: int,
    rows: int,
    *,
    lost: Verdict | None = None,
) -> list[Line]:
    """Return at most ``rows`` lines about the worst queue, the server, the selected queue and failed probes.

    ``ranked_queues``: the queues, worst first. ``lost``: the verdict on a target that cannot be reached.
    """
    lines: list[Line] = []
    if lost is not None:
        lines.append(_lost_line(view.target, lost, cells))
    first = ranked_queues[0] if ranked_queues else None
    outside = [_server_problem_line(words, cells) for words in view.server.outside[: max(1, rows - 1)]]
    if first is not None and first.verdict.severity > Severity.FINE:
        keep = len(outside) + (1 if selected is not None and selected.name != first.name else 0)
        lines += proof_lines("why", first, view, cells, max(1, rows - keep))
    lines += outside
    if selected is not None and (first is None or selected.name != first.name or len(lines) == len(outside)):
        lines += proof_lines("here", selected, view, cells, 1)
    for failure in view.failures:
        words = f"{clean(failure.probe)}: {clean(failure.reason)}"
        help_ = f"  {clean(failure.grant)}" if failure.grant else ""
        lines.append(((" unknown:  ", "muted"), (shorten(words + help_, cells - 12), "text")))
    return lines[:rows]


def _server_problem_line(problem: str, cells: int) -> Line:
    lead = (("  why: ", "muted"), ("server", "strong"), (": ", "muted"))
    return (*lead, (shorten(clean(problem), max(10, cells - sum(text_width(t) for t, _ in lead) - 1)), "alarm"))


def _lost_line(target: str, verdict: Verdict, cells: int) -> Line:
    lead = (("  why: ", "muted"), (shorten(clean(target), 24), "strong"), (f" {verdict.code}: ", "alarm"))
    return (*lead, (shorten(clean(verdict.proof), max(10, cells - sum(text_width(t) for t, _ in lead) - 1)), "text"))


def proof_lines(
    label: str, queue: QueueView, view: View, cells: int, rows: int, *, verdict: Verdict | None = None
) -> list[Line]:
    """Return ``why: name is stuck in progress for 4 m: proof`` in at most ``rows`` lines.

    ``verdict``: by default, the worst verdict of the queue.
    """
    worst, verdict = verdict is None or verdict is queue.verdict, verdict or queue.verdict
    lead: list[Span] = [
        (f" {label:>4}: ", "muted"),
        (shorten(clean(queue.name), 24), "strong"),
        (" ", "text"),
        (clean(verdict.code.replace("_", " ")), figures.verdict_mark(verdict)[1] if verdict.severity else "text"),
    ]
    since = verdict.since_at
    if since is not None and view.sampled_at - since >= 1.0:
        lead.append((TargetLineText.HELD_FOR.render(duration=formatting.duration(view.sampled_at - since)), "muted"))
    lead.append((": ", "muted"))
    words = clean(verdict.proof)
    if worst and queue.forecast.trend in (Trend.DRAINING, Trend.GROWING) and queue.forecast.text not in words:
        words = f"{words} · {clean(queue.forecast.text)}"
    used = sum(text_width(t) for t, _ in lead)
    pieces = wrap_text(words, max(10, cells - used - 1), cells - 8, rows)
    return [(*lead, (pieces[0], "text")), *(((" " * 7, "text"), (piece, "text")) for piece in pieces[1:])]
