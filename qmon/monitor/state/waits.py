"""Waits over time: keeps the totals of the last polls, and gives what was waited for over a long and a short window."""

from __future__ import annotations

from collections import deque
from typing import Final

from qmon.model.samples.waits import WaitTotals
from qmon.model.snapshot import Snapshot
from qmon.model.waits.waiting import Waiting, waiting_between

SHOWN_S: Final = 30.0
"""Seconds that the screen's figures are taken over: fewer looks than that say little."""
RECENT_S: Final = 4.0
"""Seconds for verdicts, so that a cure is seen at once."""
LOOKS: Final = 4
"""Fewer looks say nothing: where that few fell into the time asked for, it is as long as it takes."""


class WaitTrack:
    """The memory of one target. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, WaitTotals]] = deque(maxlen=256)

    def add(self, snapshot: Snapshot, *, unbroken: bool) -> None:
        """Take in one poll. ``unbroken``: it follows the one before without a gap or a restart."""
        totals = snapshot.waits_total
        if not unbroken or totals is None:
            self._kept.clear()
        if totals is None:
            return
        if self._kept and waiting_between(self._kept[-1][1], totals) is None and totals != self._kept[-1][1]:
            self._kept.clear()
        self._kept.append((snapshot.sampled_at, totals))
        while len(self._kept) > 2 and snapshot.sampled_at - self._kept[1][0] >= SHOWN_S:
            self._kept.popleft()

    def over(self, seconds: float) -> Waiting | None:
        """What was waited for in the last so many seconds, or in as many as there are; ``None`` before the second."""
        if len(self._kept) < 2:
            return None
        at, now = self._kept[-1]
        for when, before in reversed(self._kept):
            if at - when >= seconds * 0.95 and _enough(before, now):
                return waiting_between(before, now)
        return waiting_between(self._kept[0][1], now)


def _enough(before: WaitTotals, now: WaitTotals) -> bool:
    return before.looks is None or now.looks is None or now.looks - before.looks >= LOOKS
