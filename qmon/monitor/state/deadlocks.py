"""Deadlocks over time: those of the last minute, with what was seen just before them."""

from __future__ import annotations

from collections import deque
from typing import Final

from qmon.model.samples.deadlocks import Circle
from qmon.model.snapshot import Snapshot
from qmon.model.waits.deadlocks import Deadlocks

KEPT_S: Final = 60.0


class DeadlockTrack:
    """The memory of one target. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._before: int | None = None
        self._counted: deque[tuple[float, int]] = deque()
        self._seen: deque[tuple[float, Circle]] = deque(maxlen=20)

    def add(self, snapshot: Snapshot, *, unbroken: bool) -> Deadlocks:
        """Take in one poll. ``unbroken``: it follows the one before without a gap or a restart."""
        at, total = snapshot.sampled_at, snapshot.server.deadlocks
        if unbroken and total is not None and self._before is not None and total > self._before:
            self._counted.append((at, total - self._before))
        self._before = self._before if total is None else total
        for circle in snapshot.circles:
            if all(circle.members != known.members for _, known in self._seen):
                self._seen.append((at, circle))
        while self._counted and self._counted[0][0] <= at - KEPT_S:
            self._counted.popleft()
        while self._seen and self._seen[0][0] <= at - KEPT_S:
            self._seen.popleft()
        last = at - self._counted[-1][0] if self._counted else None
        return Deadlocks(sum(count for _, count in self._counted), last, tuple(circle for _, circle in self._seen))
