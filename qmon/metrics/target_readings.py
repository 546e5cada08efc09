"""The current readings of one target, for scrapes: the last view, and totals of moved messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from qmon.metrics.metric_list import AGE, AT_LEAST, COUNTERS, GAUGES, POLL_AGE, UP, VERDICT, Metric
from qmon.model.queue_figures import MOVING_FIGURES, QueueFigure
from qmon.model.view import QueueView, View
from qmon.monitor.source import Phase, SourceState
from qmon.monitor.state.queue_track import RATES_FOLLOW

_FRESH_POLLS: Final = 3.0
_FRESH_S: Final = 10.0

# A metric, the values of its labels, and its value.
Reading = tuple[Metric, tuple[str, ...], float]


@dataclass(slots=True)
class _Total:
    """The number of messages that moved so far.

    ``shown`` never decreases: if a later poll corrects ``exact`` downwards, ``shown`` stays until ``exact`` has reached
    it again. ``known``: true while messages are counted. Then an unchanged value means that no message moved.
    """

    exact: float = 0.0
    shown: float = 0.0
    known: bool = True

    def add_moved(self, moved: float) -> None:
        self.exact += moved
        self.shown = max(self.shown, self.exact)


def _moved_messages(queue: QueueView, figure: QueueFigure) -> float | None:
    """Return the number of messages that moved since the last poll: 0 if counting starts now, ``None`` if unknown."""
    if queue.moved is not None:
        return figure.moved_for(queue)
    return 0.0 if figure.figure_for(queue).reason in RATES_FOLLOW else None


class TargetReadings:
    """Records the events of one source, and uses the records to answer scrapes. Thread-safe.

    Args:
        target: the target's name, free of secrets.
        clock: the monotonic clock of snapshots, seconds.
    """

    def __init__(self, target: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = target
        self._clock = clock
        self._lock = threading.Lock()
        self._view: View | None = None
        self._is_live = False
        self._totals: dict[tuple[str, str], _Total] = {}

    def record_event(self, event: View | SourceState) -> None:
        """Record the figures of a poll or a phase change."""
        if isinstance(event, View):
            self.record_view(event)
            return
        with self._lock:
            self._is_live = event.phase in (Phase.LIVE, Phase.LATE)

    def record_view(self, view: View) -> None:
        """Record the figures of a poll."""
        with self._lock:
            self._is_live, self._view = True, view
            counted = () if view.server.standby is not None else view.queues  # a standby does not count moved messages
            before, self._totals = self._totals, {}
            for queue in counted:
                for figure in MOVING_FIGURES:
                    key, moved = (queue.name, figure.field), _moved_messages(queue, figure)
                    if key in before or moved is not None:
                        total = self._totals[key] = before.get(key) or _Total()
                        total.add_moved(moved or 0.0)
                        total.known = moved is not None or figure.figure_for(queue).evidence.value is not None

    @property
    def is_live(self) -> bool:
        """True if the target is being polled and its last poll is fresh."""
        with self._lock:
            return self._fresh_view() is not None

    def _fresh_view(self) -> View | None:
        view = self._view
        if view is None or not self._is_live:
            return None
        return view if self._clock() - view.taken_at <= max(_FRESH_S, _FRESH_POLLS * view.interval_s) else None

    def current_readings(self) -> list[Reading]:
        """Return all current readings. For a lost target, return only ``up`` (0) and the age of its last poll."""
        with self._lock:
            view, fresh = self._view, self._fresh_view()
            totals = {} if fresh is None else {key: total.shown for key, total in self._totals.items() if total.known}
        found: list[Reading] = [(UP, (self.name,), float(fresh is not None))]
        behind_s = 0.0 if view is None else max(0.0, self._clock() - view.taken_at)
        if view is not None:
            found.append((POLL_AGE, (self.name,), behind_s))
        if fresh is not None:
            found.extend(self._verdict_readings(fresh))
            for queue in fresh.queues:
                found.extend(self._queue_readings(queue, behind_s + fresh.since_read_s(queue)))
        found.extend((COUNTERS[field], (self.name, name), total) for (name, field), total in totals.items())
        return found

    def _verdict_readings(self, view: View) -> Iterator[Reading]:
        """Yield each verdict once, including the verdicts of Service Broker's queues."""
        broker = view.server.broker
        by_name = [
            *((queue.name, queue.verdicts) for queue in view.queues),
            *(broker.verdicts.items() if broker else ()),
        ]
        found = dict.fromkeys((name, each.code, each.severity) for name, verdicts in by_name for each in verdicts)
        for name, code, severity in found:
            yield VERDICT, (self.name, name, code, severity.name.lower()), 1.0

    def _queue_readings(self, queue: QueueView, behind_s: float) -> Iterator[Reading]:
        labels = (self.name, queue.name)
        for field, metric in GAUGES.items():
            figure = queue.figure(field).evidence
            if figure.value is None:
                continue
            if figure.partial and figure.value == 0:  # row-level security may hide all rows of this queue from our role
                continue
            yield metric, labels, figure.value
            yield AGE, (*labels, field), figure.age_s + behind_s
            if figure.at_least:
                yield AT_LEAST, (*labels, field), 1.0
