"""The server's own counters over time: keeps those of the last polls, and gives rates over the usual window."""

from __future__ import annotations

from collections import deque

from qmon.model.rates.counters import CounterRates, rates_between
from qmon.model.samples.counters import ServerCounters
from qmon.model.snapshot import Snapshot
from qmon.monitor.state.rate_window import RATE_WINDOW_S


class CounterTrack:
    """The memory of one target. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, ServerCounters]] = deque(maxlen=256)
        self._shown: CounterRates | None = None

    def add(self, snapshot: Snapshot, *, unbroken: bool) -> CounterRates | None:
        """Take in one poll; ``None`` before the second. ``unbroken``: it follows the one before without a gap.

        A poll that left the counters out has the rates of the one before.
        """
        if not unbroken:
            self._kept.clear()
            self._shown = None
        counters, at = snapshot.server_counters, snapshot.sampled_at
        if counters is None:
            return self._shown
        if self._kept and rates_between(self._kept[-1][1], counters, 1.0) is None:
            self._kept.clear()
        self._kept.append((at, counters))
        while len(self._kept) > 2 and at - self._kept[1][0] >= RATE_WINDOW_S * 0.95:
            self._kept.popleft()
        since, first = self._kept[0]
        self._shown = rates_between(first, counters, at - since)
        return self._shown
