"""The done messages of one queue over time: evidence of ``archive behind``."""

from __future__ import annotations

from typing import Final

from qmon.model.evidence import Archiving
from qmon.model.figure import Figure
from qmon.model.samples.polled import CounterSample
from qmon.monitor.state.rates.counters import CounterWindow

_WINDOW_S: Final = 30.0


class ArchiveTrack:
    """The done messages of one queue: how fast they grow, and when rows were last taken out of the table."""

    def __init__(self) -> None:
        self._done = CounterWindow[float](_WINDOW_S)
        self._deleted: int | None = None
        self._began_at = 0.0
        self._last_at: float | None = None
        self._usual_s: float | None = None

    def add(self, counters: CounterSample | None, done: Figure, at: float) -> Archiving | None:
        """Take in one poll at ``at`` (server clock, seconds); ``None`` where the done messages are not known."""
        if counters is None or done.value is None:
            return None
        if self._deleted is None or counters.deleted < self._deleted:
            self._done.clear()
            self._began_at, self._last_at, self._usual_s = at, None, None
        elif counters.deleted > self._deleted:
            if self._last_at is not None:
                self._usual_s = max(self._usual_s or 0.0, at - self._last_at)
            self._last_at = at
        self._deleted = counters.deleted
        self._done.add(at, done.value)
        seconds = self._done.seconds
        growth = (done.value - self._done.first) / seconds if seconds > 0 else 0.0
        silent_s = at - (self._began_at if self._last_at is None else self._last_at)
        return Archiving(done.value, growth, seconds, silent_s, self._usual_s)
