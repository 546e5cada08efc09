"""How fast archiving may go: small batches, and a rest that grows with what a batch costs the server."""

from __future__ import annotations

import math
from typing import Final

REST: Final = 3.0
"""A rest is at least so many times as long as the batch before it: archiving works a quarter of the time at most."""
MOST_SLOWED: Final = 5.0
"""Where a message takes longer than the quickest so far, the rest grows as much more, up to so many times."""
LONG_S: Final = 0.1
"""A batch that takes longer, in seconds, makes the next one half as large."""
IDLE_S: Final = 1.0
"""How long to wait, in seconds, where a batch found fewer messages than it could take."""
FIRST_BACK_OFF_S: Final = 0.25
LAST_BACK_OFF_S: Final = 30.0
_FORGETS: Final = 1.001
"""How the quickest message fades with each batch, so that a server that has changed for good is not held to it."""


class ArchivePace:
    """The size of the next batch, in messages, and the rest before it, in seconds.

    A batch that is slow, since the server is busy or others hold locks, is followed by a longer rest and a smaller
    batch; one that had to be given up doubles the rest each time. Both come back when batches are quick again.
    """

    def __init__(self, batch: int, pause_s: float) -> None:
        """``batch``: messages at most. ``pause_s``: seconds of rest at least."""
        self._most = batch
        self._least_pause_s = pause_s
        self._back_off_s = 0.0
        self._quickest_s = math.inf
        self.batch = batch

    def after(self, took_s: float, moved: int) -> float:
        """The rest after a batch that took so many seconds and moved so many messages."""
        self._back_off_s = 0.0
        slowed = 1.0
        if moved == self.batch:
            each_s = max(took_s / moved, 1e-9)
            self._quickest_s = min(each_s, self._quickest_s * _FORGETS)
            slowed = min(each_s / self._quickest_s, MOST_SLOWED)
        if took_s > LONG_S:
            self.batch = max(1, self.batch // 2)
        elif took_s < LONG_S / 4 and moved == self.batch:
            self.batch = min(self._most, self.batch * 2)
        return max(self._least_pause_s, REST * slowed * took_s)

    def held_up(self) -> float:
        """The rest after a batch that was given up: a lock was not to be had, or it ran out of time."""
        self.batch = max(1, self.batch // 2)
        self._back_off_s = min(LAST_BACK_OFF_S, max(FIRST_BACK_OFF_S, self._least_pause_s, 2 * self._back_off_s))
        return self._back_off_s
