"""The status report: one JSON-friendly object made of a view. What is unknown is null, never 0."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from qmon.model.figure import Figure, Verdict
from qmon.model.report_target import target_object, use_figures
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView, View

SCHEMA: Final = 1

_WHOLE: Final = (
    "ready", "in_progress", "stuck", "scheduled", "dead", "done", "bytes", "pushers", "poppers", "poppers_waiting",
)  # fmt: skip


def status_object(view: View) -> dict[str, Any]:
    """The object that ``qmon status --json`` prints.

    Counts are whole messages, rates messages per second over ``window_seconds``, ``oldest_seconds`` seconds, ``fill``
    0 to 1. ``approximate`` maps a figure to ``~`` (estimated) or ``≥`` (at least); ``unknown`` maps one to the reason;
    ``age_seconds`` maps those that were read before this poll to their age; ``old`` maps those that are too old to say
    anything, and so unknown, to what was last read.
    """
    probe = view.server
    return {
        "schema": SCHEMA,
        "target": view.target,
        "engine": view.engine,
        "server_version": view.server_version,
        "sampled_at": iso(view.sampled_at),
        "probe": {
            "client_ms": round(probe.client_ms, 3),
            "server_ms": None if probe.server_ms is None else round(probe.server_ms, 3),
            "buffers": probe.buffers,
            "cpu_ms": probe.cpu_ms,
        },
        **target_object(probe),
        "queues": [queue_object(queue) for queue in view.queues],
        "failures": [failure_object(f) for f in (*view.failures, *(f for q in view.queues for f in q.failures))],
    }


def queue_object(queue: QueueView) -> dict[str, Any]:
    """One queue of the status report."""
    figures = {
        "ready": queue.ready,
        "in_progress": queue.in_progress,
        "stuck": queue.stuck,
        "scheduled": queue.scheduled,
        "dead": queue.dead,
        "oldest_seconds": queue.oldest,
        "push_rate": queue.push_rate,
        "pop_rate": queue.pop_rate,
        "complete_rate": queue.complete_rate,
        "gap": queue.gap,
        "fill": queue.fill,
        "pushers": queue.pushers,
        "done": queue.done,
        "bytes": queue.bytes,
        "growth": queue.growth,
        "poppers": queue.poppers,
        "poppers_waiting": queue.poppers_waiting,
        **use_figures(queue.use),
    }
    return {
        "name": queue.name,
        "design": queue.layout.design,
        **{name: _value(name, figure.evidence) for name, figure in figures.items()},
        "window_seconds": None if queue.window_s is None else round(queue.window_s, 3),
        "verdict": {"code": queue.verdict.code, "proof": queue.verdict.proof},
        "verdicts": [_verdict(each) for each in queue.verdicts or (queue.verdict,)],
        "approximate": {n: "≥" if f.at_least else "~" for n, f in figures.items() if f.at_least or f.estimated},
        "unknown": {n: f.evidence.reason or "not known" for n, f in figures.items() if f.evidence.value is None},
        "age_seconds": {n: round(f.age_s, 3) for n, f in figures.items() if f.age_s > 0},
        "old": {n: _value(n, f) for n, f in figures.items() if f.old},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """``since`` is null where it is not known since when."""
    since = None if verdict.since_at is None else iso(verdict.since_at)
    severity = verdict.severity.name.lower()
    return {"code": verdict.code, "proof": verdict.proof, "severity": severity, "since": since, "key": verdict.key}


def failure_object(failure: ProbeFailure) -> dict[str, str]:
    """One failure of the status report; ``queue`` and ``grant`` only where there is one."""
    found = {"probe": failure.probe, "reason": failure.reason}
    if failure.queue:
        found["queue"] = failure.queue
    if failure.grant:
        found["grant"] = failure.grant
    return found


def iso(seconds: float) -> str:
    """A moment in seconds since the epoch as UTC, ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _value(name: str, figure: Figure) -> float | int | None:
    if figure.value is None:
        return None
    if name in _WHOLE or name == "gap":
        return round(figure.value)
    return round(figure.value, 4)
