"""How slow the server is: the time of its polls against the cost of their probes, and against what is usual."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Final

_USUAL_OF: Final = 600
_NOW_OF: Final = 5
_SLOWER: Final = 4.0
_NOT_SLOWER: Final = 2.0


class Slowness:
    """How much longer the server takes for a poll than it usually does. The usual is the lower quartile of the last
    600 polls, each held against what its probes cost; now is the median of the last five."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=_USUAL_OF)
        self._at: deque[float] = deque(maxlen=_NOW_OF)
        # How many times as long as usual a poll takes; 1 where that is not known yet.
        self.times = 1.0
        # Since when it is at least four times; server clock, seconds.
        self.since_at: float | None = None

    @property
    def doubtful(self) -> bool:
        """Whether the last poll took twice as long as usual, be it that the server is slow or that a probe is dear."""
        return self.times >= _NOT_SLOWER

    @property
    def ratio(self) -> float:
        """How much longer polls take now than their probes cost; 1 where that is not known yet."""
        return median(list(self._ratios)[-_NOW_OF:]) if self._ratios else 1.0

    def see(self, server_ms: float, intrinsic_ms: float, now_at: float) -> None:
        """Take in one poll: how long it took the server, and what its probes cost; milliseconds."""
        if intrinsic_ms <= 0:
            return
        self._ratios.append(server_ms / intrinsic_ms)
        self._at.append(now_at)
        if len(self._ratios) < 2 * _NOW_OF:
            return
        usual = sorted(self._ratios)[len(self._ratios) // 4]
        self.times = self.ratio / usual if usual > 0 else 1.0
        if self.times >= _SLOWER:
            self.since_at = self._at[_NOW_OF // 2] if self.since_at is None else self.since_at
        elif self.times < _NOT_SLOWER:
            self.since_at = None
