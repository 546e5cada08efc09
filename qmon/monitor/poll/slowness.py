"""Measure how slow the server is: the time of its polls relative to the cost of their probes."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Final

_USUAL_OF: Final = 600
_NOW_OF: Final = 5
_SLOWER: Final = 4.0
_NOT_SLOWER: Final = 2.0


class Slowness:
    """How many times longer than usual the server takes for a poll.

    The time of each poll is divided by the cost of its probes. The usual value is the lower quartile of the last 600
    polls. The current value is the median of the last five polls.
    """

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=_USUAL_OF)
        self._at: deque[float] = deque(maxlen=_NOW_OF)
        # How many times longer than usual a poll takes; 1 until known.
        self.factor = 1.0
        # When the factor reached four (server clock, seconds); `None` again after it has fallen below two.
        self.since_at: float | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether recent polls took at least twice as long as usual, because of a slow server or an expensive probe."""
        return self.factor >= _NOT_SLOWER

    @property
    def ratio(self) -> float:
        """Time of recent polls divided by the cost of their probes; 1 until known."""
        return median(list(self._ratios)[-_NOW_OF:]) if self._ratios else 1.0

    def record_poll(self, server_ms: float, intrinsic_ms: float, now_at: float) -> None:
        """Record the server time of one poll and the cost of its probes, both in milliseconds."""
        if intrinsic_ms <= 0:
            return
        self._ratios.append(server_ms / intrinsic_ms)
        self._at.append(now_at)
        if len(self._ratios) < 2 * _NOW_OF:
            return
        usual = sorted(self._ratios)[len(self._ratios) // 4]
        self.factor = self.ratio / usual if usual > 0 else 1.0
        if self.factor >= _SLOWER:
            self.since_at = self._at[_NOW_OF // 2] if self.since_at is None else self.since_at
        elif self.factor < _NOT_SLOWER:
            self.since_at = None
