"""Whose turn it is: of many queues those that are looked at are read in each poll, all others in turns."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from qmon.monitor.source import Focus

# Seconds between two readings of a queue, at most, however short the interval.
EVERY_S: Final = 10.0
# Queues up to which all are read in each poll.
AT_ONCE: Final = 60
# Seconds that a turn comes early, since polls are late now and then.
_EARLY_S: Final = 0.5
# Where polls have been late, one reads at most this many times the queues of a turn.
_CATCH_UP: Final = 2


class Turns:
    """When each queue was read last. Belongs to one collector. ``at_once``: as ``AT_ONCE``."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._read_at: dict[str, float] = {}
        # Read in each poll, since somebody looks at them, or something is wrong with them.
        self.looked_at: frozenset[str] = frozenset()
        # Those of the poll whose turn it is.
        self.others: list[str] = []
        # Seconds between two readings of a queue that nobody looks at; 0: it is read in each poll.
        self.every_s = 0.0

    def choose(self, queues: Collection[str], focus: Focus, now: float, interval_s: float) -> Collection[str]:
        """The queues to read in this poll. ``now``: our monotonic clock; ``interval_s``: seconds between polls."""
        polls = int((EVERY_S - _EARLY_S) / interval_s) if len(queues) > self._at_once else 1
        self.every_s = polls * interval_s if polls > 1 else 0.0
        self.looked_at = frozenset(focus.visible | focus.watched)
        self.others = []
        if not self.every_s:
            return queues
        others = [name for name in queues if name not in self.looked_at]
        others.sort(key=lambda name: self._read_at.get(name, -math.inf))
        late = sum(now - self._read_at.get(name, now) >= self.every_s for name in others)
        turn = math.ceil(len(others) / polls)
        self.others = others[: min(max(turn, late), _CATCH_UP * turn)]
        chosen = self.looked_at.union(self.others)
        return [name for name in queues if name in chosen]

    def again(self, queue: str) -> None:
        """Read this one in the next poll."""
        self._read_at.pop(queue, None)

    def read(self, queues: Collection[str], now: float) -> None:
        """These were read."""
        self._read_at |= dict.fromkeys(queues, now)

    def keep(self, queues: Collection[str]) -> None:
        """Forget all others."""
        self._read_at = {name: at for name, at in self._read_at.items() if name in queues}
