"""Compute rates over the last polls from server totals: counters, waits and deadlocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from qmon.model.rates.counter_rates import CounterRates, rates_between
from qmon.model.samples.counter_samples import ServerCounters
from qmon.model.samples.deadlock_samples import Circle
from qmon.model.samples.wait_samples import WaitTotals
from qmon.model.snapshot import Snapshot
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.model.waits.wait_rates import Waiting, waiting_between
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S

# Waits on screens cover this many seconds. A shorter time would have too few samples.
SHOWN_S: Final = 30.0

# Waits for verdicts cover this many seconds, so that an improvement is visible immediately.
RECENT_S: Final = 4.0

# Minimum number of samples of waits. If the requested time has fewer samples, a longer time is used.
MIN_SAMPLES: Final = 4
_DEADLOCKS_S: Final = 60.0

# Tolerance for polls that are slightly early or late, as a factor of the requested time.
_NEARLY: Final = 0.95
_MOST_POLLS: Final = 400

Totals = TypeVar("Totals")


class CounterWindow(Generic[Totals]):
    """Totals of the last polls, without a reset between them. Not thread-safe.

    Args:
        seconds: the oldest totals are at least this old, once there are totals of that age.
        reset: returns whether counting started over between two totals. Earlier totals are then dropped.
    """

    def __init__(self, seconds: float, reset: Callable[[Totals, Totals], bool] = lambda before, now: False) -> None:
        self._seconds = seconds
        self._reset = reset
        self._points: deque[tuple[float, Totals]] = deque(maxlen=_MOST_POLLS)

    def record_totals(self, at: float, totals: Totals) -> None:
        """Record the totals at ``at`` (server clock, seconds)."""
        if self._points and self._reset(self._points[-1][1], totals):
            self._points.clear()
        self._points.append((at, totals))
        while len(self._points) > 2 and at - self._points[1][0] >= self._seconds:
            self._points.popleft()

    def clear(self) -> None:
        """Start over after a gap or a restart."""
        self._points.clear()

    def __len__(self) -> int:
        return len(self._points)

    @property
    def first(self) -> Totals:
        """The oldest totals of the window."""
        return self._points[0][1]

    @property
    def last(self) -> Totals:
        """The newest totals."""
        return self._points[-1][1]

    @property
    def seconds(self) -> float:
        """Seconds between the oldest and the newest totals."""
        return self._points[-1][0] - self._points[0][0]

    def totals_before(
        self, seconds: float, enough: Callable[[Totals], bool] = lambda before: True
    ) -> tuple[float, Totals]:
        """Return the newest totals that are at least ``seconds`` old, with their age in seconds.

        ``enough`` must also be true for these totals. If no totals qualify, return the oldest totals.
        """
        now = self._points[-1][0]
        for at, totals in reversed(self._points):
            if now - at >= seconds * _NEARLY and enough(totals):
                return now - at, totals
        return self.seconds, self.first


class CounterTrack:
    """The server's own counters (SQL Server): their rates over the usual window."""

    def __init__(self, window_s: float = RATE_WINDOW_S) -> None:
        self._window = CounterWindow[ServerCounters](
            window_s * _NEARLY, reset=lambda before, now: rates_between(before, now, 1.0) is None
        )
        self._shown: CounterRates | None = None

    def record_poll(self, snapshot: Snapshot, *, unbroken: bool) -> CounterRates | None:
        """Record one poll; ``None`` before the second poll. ``unbroken``: this poll follows the last one without a gap.

        If a poll skipped the counters, the rates of the previous poll are returned.
        """
        if not unbroken:
            self._window.clear()
            self._shown = None
        if snapshot.server_counters is not None:
            self._window.record_totals(snapshot.sampled_at, snapshot.server_counters)
            self._shown = rates_between(self._window.first, self._window.last, self._window.seconds)
        return self._shown


class WaitTrack:
    """The waits of one target's sessions over the last ``SHOWN_S`` or ``RECENT_S`` seconds."""

    def __init__(self) -> None:
        self._window = CounterWindow[WaitTotals](
            SHOWN_S, reset=lambda before, now: waiting_between(before, now) is None and now != before
        )

    def record_poll(self, snapshot: Snapshot, *, unbroken: bool) -> None:
        """Record one poll. ``unbroken``: this poll follows the previous one without a gap or a restart."""
        if not unbroken or snapshot.waits_total is None:
            self._window.clear()
        if snapshot.waits_total is not None:
            self._window.record_totals(snapshot.sampled_at, snapshot.waits_total)

    def waits_over(self, seconds: float) -> Waiting | None:
        """Return the waits of the last ``seconds``, or since watching began; ``None`` before the second sample."""
        if len(self._window) < 2:
            return None
        now = self._window.last

        def has_enough_samples(before: WaitTotals) -> bool:
            return before.samples is None or now.samples is None or now.samples - before.samples >= MIN_SAMPLES

        return waiting_between(self._window.totals_before(seconds, has_enough_samples)[1], now)


class DeadlockTrack:
    """The deadlocks of one target in the last minute, with the lock cycles that were sampled before the deadlocks."""

    def __init__(self) -> None:
        self._before: int | None = None
        self._counted: deque[tuple[float, int]] = deque()
        self._seen: deque[tuple[float, Circle]] = deque(maxlen=20)

    def record_poll(self, snapshot: Snapshot, *, unbroken: bool) -> Deadlocks:
        """Record one poll. ``unbroken``: this poll follows the previous one without a gap or a restart."""
        at, total = snapshot.sampled_at, snapshot.server.deadlocks
        if unbroken and total is not None and self._before is not None and total > self._before:
            self._counted.append((at, total - self._before))
        self._before = self._before if total is None else total
        for circle in snapshot.circles:
            if all(circle.members != known.members for _, known in self._seen):
                self._seen.append((at, circle))
        while self._counted and self._counted[0][0] <= at - _DEADLOCKS_S:
            self._counted.popleft()
        while self._seen and self._seen[0][0] <= at - _DEADLOCKS_S:
            self._seen.popleft()
        last = at - self._counted[-1][0] if self._counted else None
        return Deadlocks(sum(count for _, count in self._counted), last, tuple(circle for _, circle in self._seen))
