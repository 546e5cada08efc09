"""The figures that the dashboard showed after a poll, as one line. Reports over months are computed from these lines.

The line follows its snapshot. Lines can be added up in any order. A line keeps the figures that were shown, even if
later versions of qmon compute other figures from the same samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qmon.model.figure import Severity
from qmon.model.queue_figures import MOVING_FIGURES, RECORDED_FIGURES
from qmon.model.view import QueueView, View


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one poll: one list per figure, in the order of ``queue``. ``None`` or an empty list: unknown.

    ``sequence`` and ``sampled_at`` have the same values as in the snapshot. ``poll_s``: seconds since the previous
    poll; ``None`` if polling was interrupted. ``span_s``: seconds since the previous reading of the queue's counters,
    which may be several polls ago. ``pushed``, ``popped``, ``completed``: messages moved in these ``span_s`` seconds.
    ``since_at`` and ``proof`` are only set for verdicts of severity warning or higher. ``wait``: names of waits;
    ``sessions``: the number of sessions in each of these waits.
    """

    sequence: int
    sampled_at: float
    server_ms: float | None = None
    queue: tuple[str, ...] = ()
    design: tuple[str, ...] = ()
    ready: tuple[float | None, ...] = ()
    in_progress: tuple[float | None, ...] = ()
    stuck: tuple[float | None, ...] = ()
    oldest_s: tuple[float | None, ...] = ()
    scheduled: tuple[float | None, ...] = ()
    dead: tuple[float | None, ...] = ()
    fill: tuple[float | None, ...] = ()
    span_s: tuple[float | None, ...] = ()
    pushed: tuple[float | None, ...] = ()
    popped: tuple[float | None, ...] = ()
    completed: tuple[float | None, ...] = ()
    verdict: tuple[str, ...] = ()
    severity: tuple[int, ...] = ()
    since_at: tuple[float | None, ...] = ()
    proof: tuple[str | None, ...] = ()
    wait: tuple[str, ...] = ()
    sessions: tuple[int, ...] = ()
    gap: tuple[float | None, ...] = ()
    poll_s: float | None = None
    blocked: tuple[float | None, ...] = ()


def figures_from_view(view: View) -> Figures:
    """Return the figures to record for a view."""
    queues = view.queues

    def column(figure: Callable[[QueueView], float | None]) -> tuple[float | None, ...]:
        return _known_or_empty(figure(q) for q in queues)

    waits = view.server.waits or ()
    return Figures(
        sequence=view.sequence,
        sampled_at=view.sampled_at,
        server_ms=view.server.server_ms,
        queue=tuple(q.name for q in queues),
        design=tuple(q.layout.design for q in queues),
        **{f.recorded_name: _known_or_empty(f.figure_for(q).evidence.value for q in queues) for f in RECORDED_FIGURES},
        **{f.moved: _known_or_empty(f.moved_for(q) for q in queues) for f in MOVING_FIGURES},
        span_s=column(lambda queue: queue.span_s),
        verdict=tuple(q.verdict.code for q in queues),
        severity=tuple(int(q.verdict.severity) for q in queues),
        since_at=column(lambda queue: queue.verdict.since_at if _has_trouble(queue) else None),
        proof=tuple(q.verdict.proof if _has_trouble(q) else None for q in queues)
        if any(map(_has_trouble, queues))
        else (),
        wait=tuple(f"{w.kind}:{w.event}" for w in waits),
        sessions=tuple(w.sessions for w in waits),
        poll_s=view.span_s,
    )


def _known_or_empty(values: Iterable[float | None]) -> tuple[float | None, ...]:
    """Return the values, or an empty tuple if all are unknown."""
    found = tuple(values)
    return found if any(value is not None for value in found) else ()


def _has_trouble(queue: QueueView) -> bool:
    return queue.verdict.severity >= Severity.WARNING
