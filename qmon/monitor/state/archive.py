"""Done messages over time: how fast they grow, and when rows were last taken out of the table."""

from __future__ import annotations

from collections import deque
from typing import Final

from qmon.model.rates.archiving import Archiving
from qmon.model.samples.polled import CounterSample
from qmon.model.view import Figure

_OVER_S: Final = 30.0
_KEPT: Final = 400


class ArchiveTrack:
    """The done messages of one queue. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, at: float | None) -> None:
        self._points: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self._deleted: int | None = None
        self._last_at: float | None = None
        self._started_at = at
        self._usual_s: float | None = None

    def add(self, counters: CounterSample | None, done: Figure, at: float) -> Archiving | None:
        """Take in one poll at ``at`` (server clock, seconds); ``None`` where the done messages are not known."""
        if counters is None or done.value is None:
            return None
        if self._deleted is None or counters.deleted < self._deleted:
            self._begin(at)
        elif counters.deleted > self._deleted:
            if self._last_at is not None:
                self._usual_s = max(self._usual_s or 0.0, at - self._last_at)
            self._last_at = at
        self._deleted = counters.deleted
        self._points.append((at, done.value))
        while len(self._points) > 2 and at - self._points[1][0] >= _OVER_S:
            self._points.popleft()
        first_at, first = self._points[0]
        span = at - first_at
        since = self._last_at if self._last_at is not None else self._started_at or at
        return Archiving(done.value, (done.value - first) / span if span > 0 else 0.0, span, at - since, self._usual_s)
