"""What is known of one target now, for scrapes: its last view, and totals of what moved."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from qmon.metrics.metrics import AGE, AT_LEAST, COUNTERS, GAUGES, POLL_AGE, UP, VERDICT, Metric
from qmon.model.view import QueueView, View
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.queue import RATES_FOLLOW
from qmon.monitor.state.target import TargetHistory

_FRESH_POLLS: Final = 3.0
_FRESH_S: Final = 10.0
_RATE_OF: Final = {"pushed": "push_rate", "popped": "pop_rate", "completed": "complete_rate"}
# A metric, its labels' values, and its value.
Reading = tuple[Metric, tuple[str, ...], float]


@dataclass(slots=True)
class _Total:
    """What has moved so far. ``shown`` never falls: what later polls take back is made up for first.

    ``known``: whether it goes on, so that what does not rise has not moved.
    """

    exact: float = 0.0
    shown: float = 0.0
    known: bool = True

    def add(self, moved: float) -> None:
        self.exact += moved
        self.shown = max(self.shown, self.exact)


def _moved(queue: QueueView, source: str) -> float | None:
    """What moved since the poll before; 0 where counting begins with this one, ``None``: not known in this poll."""
    if queue.flow is not None:
        moved: float | None = getattr(queue.flow, source)
        return moved
    return 0.0 if getattr(queue, _RATE_OF[source]).reason in RATES_FOLLOW else None


class TargetReadings:
    """Takes the events of one source, and answers scrapes from what it knows. Thread-safe.

    Args:
        target: its name, free of secrets.
        clock: the monotonic clock of snapshots, seconds.
        told: takes each view and each change of phase, too, and returns at once.
    """

    def __init__(
        self,
        target: str,
        clock: Callable[[], float] = time.monotonic,
        told: Callable[[View | SourceState], object] = lambda _: None,
    ) -> None:
        self.name = target
        self._clock = clock
        self._lock = threading.Lock()
        self._history = TargetHistory()
        self._told = told
        self._view: View | None = None
        self._live = False
        self._totals: dict[tuple[str, str], _Total] = {}

    def take(self, event: Event | View) -> None:
        """Take in one poll, as it was read or as somebody has made a view of it already, or a change of phase."""
        if isinstance(event, SourceState):
            with self._lock:
                self._live = event.phase in (Phase.LIVE, Phase.LATE)
            self._told(event)
            return
        view = event if isinstance(event, View) else self._history.add(event)
        self.seen(view)
        self._told(view)

    def seen(self, view: View) -> None:
        """Take in the figures of a poll."""
        with self._lock:
            self._live, self._view = True, view
            counted = () if view.server.standby is not None else view.queues  # a standby does not count
            before, self._totals = self._totals, {}
            for queue in counted:
                for metric in COUNTERS:
                    key, moved = (queue.name, metric.source), _moved(queue, metric.source)
                    if key in before or moved is not None:
                        total = self._totals[key] = before.get(key) or _Total()
                        rate = getattr(queue, _RATE_OF[metric.source]).evidence
                        total.add(moved or 0.0)
                        total.known = moved is not None or rate.value is not None

    @property
    def live(self) -> bool:
        """Whether the target is polled now, and its last poll is fresh."""
        with self._lock:
            return self._fresh() is not None

    def _fresh(self) -> View | None:
        view = self._view
        if view is None or not self._live:
            return None
        return view if self._clock() - view.taken_at <= max(_FRESH_S, _FRESH_POLLS * view.interval_s) else None

    def now(self) -> list[Reading]:
        """All that is known now. Of a target that is lost only that it is, and the age of its last poll."""
        with self._lock:
            view, fresh = self._view, self._fresh()
            totals = {} if fresh is None else {key: total.shown for key, total in self._totals.items() if total.known}
        found: list[Reading] = [(UP, (self.name,), float(fresh is not None))]
        behind_s = 0.0 if view is None else max(0.0, self._clock() - view.taken_at)
        if view is not None:
            found.append((POLL_AGE, (self.name,), behind_s))
        if fresh is not None:
            found.extend(self._verdicts(fresh))
            for queue in fresh.queues:
                found.extend(self._of_queue(queue, behind_s + fresh.since_read_s(queue)))
        of_source = {metric.source: metric for metric in COUNTERS}
        found.extend((of_source[source], (self.name, name), total) for (name, source), total in totals.items())
        return found

    def _verdicts(self, view: View) -> Iterator[Reading]:
        """Each verdict once, with those of Service Broker's queues."""
        broker = view.server.broker
        by_name = [
            *((queue.name, queue.verdicts) for queue in view.queues),
            *(broker.verdicts.items() if broker else ()),
        ]
        found = dict.fromkeys((name, each.code, each.severity) for name, verdicts in by_name for each in verdicts)
        for name, code, severity in found:
            yield VERDICT, (self.name, name, code, severity.name.lower()), 1.0

    def _of_queue(self, queue: QueueView, behind_s: float) -> Iterator[Reading]:
        labels = (self.name, queue.name)
        for metric in GAUGES:
            figure = getattr(queue, metric.source).evidence
            if figure.value is None:
                continue
            if figure.partial and figure.value == 0:  # our role may see no row at all
                continue
            yield metric, labels, figure.value
            yield AGE, (*labels, metric.source), figure.age_s + behind_s
            if figure.at_least:
                yield AT_LEAST, (*labels, metric.source), 1.0
