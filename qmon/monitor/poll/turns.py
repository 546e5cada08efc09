"""Choose the queues of each poll. Visible queues are read in each poll, and all other queues in turns."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from qmon.monitor.source import ReadScope

# Maximum seconds between two readings of a queue, however short the interval.
EVERY_S: Final = 10.0

# Maximum number of queues that are all read in each poll.
AT_ONCE: Final = 60

# A queue is read this many seconds before it is due, because polls are sometimes late.
_EARLY_S: Final = 0.5

# After late polls, a poll reads more queues in turn, up to the usual number times this factor.
_CATCH_UP: Final = 2


class Turns:
    """The times at which the queues were last read. Belongs to one collector. ``at_once``: replaces ``AT_ONCE``."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._read_at: dict[str, float] = {}
        # Queues read in each poll, because they are on screen or have a problem.
        self.read_each_poll: frozenset[str] = frozenset()
        # Queues of this poll that are read in turn.
        self.in_turn: list[str] = []
        # Seconds between two readings of a queue that is not on screen; 0: it is read in each poll.
        self.every_s = 0.0

    def choose_queues(
        self, queues: Collection[str], focus: ReadScope, now: float, interval_s: float
    ) -> Collection[str]:
        """Return the queues to read in this poll.

        ``now``: our monotonic clock; ``interval_s``: seconds between polls.
        """
        polls = int((EVERY_S - _EARLY_S) / interval_s) if len(queues) > self._at_once else 1
        self.every_s = polls * interval_s if polls > 1 else 0.0
        self.read_each_poll = frozenset(focus.visible | focus.priority_queues)
        self.in_turn = []
        if not self.every_s:
            return queues
        others = [name for name in queues if name not in self.read_each_poll]
        others.sort(key=lambda name: self._read_at.get(name, -math.inf))
        late = sum(now - self._read_at.get(name, now) >= self.every_s for name in others)
        turn = math.ceil(len(others) / polls)
        self.in_turn = others[: min(max(turn, late), _CATCH_UP * turn)]
        chosen = self.read_each_poll.union(self.in_turn)
        return [name for name in queues if name in chosen]

    def read_again_soon(self, queue: str) -> None:
        """Read this queue in the next poll."""
        self._read_at.pop(queue, None)

    def record_read(self, queues: Collection[str], now: float) -> None:
        """Record that these queues were read."""
        self._read_at |= dict.fromkeys(queues, now)

    def retain_only(self, queues: Collection[str]) -> None:
        self._read_at = {name: at for name, at in self._read_at.items() if name in queues}
