"""Keeps the figures since qmon started in memory, for use without a recording. Older data has longer steps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final

from qmon.model.alerts.latches import Change
from qmon.model.operation_records import Operation
from qmon.model.queue_figures import PLOTTED_FIGURES
from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.monitor.source import SourceState
from qmon.recording.format.records import JumpPoint
from qmon.recording.history.buckets import LONGEST_SPAN_S, Bins
from qmon.recording.history.collected_range import FIGURES, CollectedRange, SeenOperation
from qmon.recording.history.incidents import RunCollector
from qmon.recording.history.thinned import TIERS, ThinnedFigures, ThinnedSteps, Tier, fill_bins
from qmon.recording.history.timeline import (
    PHASES,
    TimelineEvent,
    VerdictChanges,
    alert_event,
    operation_event,
    operation_text,
    phase_event,
    sort_newest_first,
)

MOST_EVENTS: Final = 1000

# Maximum number of runs of verdicts to remember per queue.
MOST_RUNS: Final = 100
_MOST_WAITS: Final = 40
_MANY_QUEUES: Final = 50

# The tiers if there are more than `_MANY_QUEUES` queues. They cover less time: ten minutes, an hour and four hours.
_COARSE: Final = (Tier(20.0, 30), Tier(60.0, 60), Tier(300.0, 48))
_WAIT_TIERS: Final = TIERS[:2]


class _QueueHistory:
    """The history of one queue."""

    __slots__ = ("figures", "runs")

    def __init__(self, tiers: tuple[Tier, ...]) -> None:
        self.figures = ThinnedFigures(tiers)
        self.runs = RunCollector()


class InMemoryHistory:
    """Remembers the figures that the dashboard has shown and offers the same queries as a recording. Thread-safe.

    All times are seconds since the epoch on the local clock. Server times are corrected by the difference between the
    server's clock and the local clock.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.begins_at = clock()
        self.clock = clock
        self._lock = Lock()
        self._queues: dict[str, _QueueHistory] = {}
        self._waits: dict[str, ThinnedFigures] = {}
        self._verdicts = VerdictChanges()
        self._events: deque[TimelineEvent] = deque(maxlen=MOST_EVENTS)
        self._operations: dict[str, SeenOperation] = {}
        self._phase = ""
        self._ahead_s = 0.0
        self._seen_at = 0.0

    @property
    def ends_at(self) -> float:
        """Return the current time."""
        return self.clock()

    # ------------------------------------------------------------------------------------------------------- recording

    def wrap_fold(self, fold: Callable[[Snapshot], View]) -> Callable[[Snapshot], View]:
        """Return a function that calls ``fold``, records the view, and returns the view."""

        def fold_and_record(snapshot: Snapshot) -> View:
            view = fold(snapshot)
            self.record_view(view)
            return view

        return fold_and_record

    def record_view(self, view: View) -> None:
        """Record the figures and verdicts of a poll. Skip queues that this poll did not read."""
        at = self.clock()
        span_s = min(LONGEST_SPAN_S, at - self._seen_at) if self._seen_at else view.interval_s
        with self._lock:
            self._ahead_s, self._seen_at = view.sampled_at - at, at
            for queue in view.queues:
                if queue.read_at is None:
                    self._record_queue(at, max(0.0, span_s), queue, len(view.queues))
            names = {queue.name for queue in view.queues}
            for name in self._queues.keys() - names:
                del self._queues[name]
            if gone := [name for name in self._verdicts.queues if name not in names]:
                self._events.extend(self._verdicts.forget_queues(at, gone))
            self._record_waits(at, max(0.0, span_s), view)

    def _record_queue(self, at: float, span_s: float, queue: QueueView, queue_count: int) -> None:
        known = self._queues.get(queue.name)
        if known is None:
            known = self._queues[queue.name] = _QueueHistory(TIERS if queue_count <= _MANY_QUEUES else _COARSE)
        known.figures.record_reading(at, queue.span_s or span_s, _figure_values(queue))
        verdict = queue.verdict
        since_at = None if verdict.since_at is None else verdict.since_at - self._ahead_s
        known.runs.record_verdict(at, verdict.code, verdict.severity, verdict.proof, since_at)
        if len(known.runs.runs) > MOST_RUNS:
            del known.runs.runs[0]
        verdicts = [each.shift_clock(-self._ahead_s) for each in queue.verdicts or (verdict,)]
        self._events.extend(self._verdicts.record_verdicts(at, queue.name, verdicts, queue.undecided))

    def _record_waits(self, at: float, span_s: float, view: View) -> None:
        """Record the number of sessions in each wait.

        A wait that was seen before but is missing from this view counts as 0 sessions.
        """
        found = view.server.waiting
        if found is None:
            return
        now = {rate.key: rate.sessions for rate in found.rates}
        for name in now.keys() - self._waits.keys():
            self._waits[name] = ThinnedFigures(_WAIT_TIERS)
            if len(self._waits) > _MOST_WAITS:
                del self._waits[next(iter(self._waits))]
        for name, thinned in self._waits.items():
            thinned.record_reading(at, span_s, (now.get(name, 0.0),))

    def record_state(self, state: SourceState) -> None:
        """Record a change of the connection."""
        if state.phase in PHASES and state.phase != self._phase:
            self._phase = state.phase
            with self._lock:
                self._events.append(phase_event(self.clock(), state.phase, state.reason))

    def record_alert(self, change: Change) -> None:
        """Record a change of an alert."""
        with self._lock:
            self._events.append(alert_event(self.clock(), change))

    def record_operations(self, operations: Iterable[Operation]) -> None:
        """Replace the operations by their current states. Operations from before qmon started are allowed."""
        with self._lock:
            self._operations = {each.id: SeenOperation(each.started_at - self._ahead_s, each) for each in operations}

    # ------------------------------------------------------------------------------------------------------- queries

    @property
    def queues(self) -> tuple[str, ...]:
        """Names of the queues in the last poll."""
        with self._lock:
            return tuple(self._queues)

    def queue_history(self, queue: str, since_at: float, step_s: float, count: int) -> CollectedRange:
        """Return the history of a queue from ``since_at`` in ``count`` steps of ``step_s`` seconds."""
        out = CollectedRange(Bins(since_at, step_s, count, len(FIGURES)))
        with self._lock:
            known = self._queues.get(queue)
            steps: tuple[ThinnedSteps, ...] = known.figures.steps() if known is not None else ()
            out.runs = list(known.runs.runs) if known is not None else []
            out.operations = {id: each for id, each in self._operations.items() if each.operation.queue in ("", queue)}
            out.queues = set(self._queues)
        fill_bins(steps, out.bins)
        return out

    def wait_history(self, since_at: float, step_s: float, count: int) -> dict[str, Bins]:
        """Return the number of sessions in each wait, keyed by ``WaitRate.key``.

        The steps are those of ``queue_history``.
        """
        with self._lock:
            known = {name: thinned.steps() for name, thinned in self._waits.items()}
        found = {name: Bins(since_at, step_s, count, 1) for name in known}
        for name, steps in known.items():
            fill_bins(steps, found[name])
        return found

    def events(self) -> tuple[TimelineEvent, ...]:
        """Return the events, newest first."""
        with self._lock:
            found = [*self._events, *(operation_event(each.at, each.operation) for each in self._operations.values())]
        return sort_newest_first(found)

    @property
    def oldest_event_at(self) -> float:
        """All events since this time are still in memory."""
        with self._lock:
            return self._events[0].at if len(self._events) == MOST_EVENTS else self.begins_at

    def find_jump_point(self, queue: str, at: float, *, forward: bool) -> JumpPoint | None:
        """Return the next or previous incident or operation of a queue, seen from ``at``, or ``None``."""
        with self._lock:
            known = self._queues.get(queue)
            marks = [
                JumpPoint(run.first_at, "verdict", queue, f"{run.code}: {run.proof}")
                for run in (known.runs.runs if known is not None else ())
            ]
            marks += [
                JumpPoint(each.at, "operation", each.operation.queue, operation_text(each.operation))
                for each in self._operations.values()
                if each.operation.queue in ("", queue)
            ]
        return nearest_mark(marks, at, forward=forward)


def nearest_mark(marks: Iterable[JumpPoint | None], at: float, *, forward: bool) -> JumpPoint | None:
    """Return the first mark after a time, or the last mark before it."""
    beyond = [m for m in marks if m is not None and (m.at > at + 0.001 if forward else m.at < at - 0.001)]
    if not beyond:
        return None
    return min(beyond, key=lambda mark: mark.at) if forward else max(beyond, key=lambda mark: mark.at)


def _figure_values(queue: QueueView) -> tuple[float | None, ...]:
    """Return the figures in the order of ``FIGURES``, computed in the same way as in recordings."""

    values: list[float | None] = []
    for figure in PLOTTED_FIGURES:
        if not figure.moved or queue.moved is None or not queue.span_s:
            shown = figure.figure_for(queue)
            values.append(None if shown.old else shown.value)
        else:
            moved = figure.moved_for(queue)
            values.append(None if moved is None else moved / queue.span_s)
    return tuple(values)
