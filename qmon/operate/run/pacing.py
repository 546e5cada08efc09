"""How large the next batch is and how long to rest before it, so that consumers do not feel it."""

from __future__ import annotations

from typing import Final

TARGET_S: Final = 0.02
"""Seconds a batch should take: nobody waits longer for a row of ours."""
FIRST: Final = 20
LARGEST: Final = 100
"""Rows at the most. A popper wades through those that a batch has written and not committed, and its own commit waits
while the log of the batch is written; see ``make bench ARGS=acting``."""
REST: Final = 2.0
"""Rest after a batch, as a multiple of the time it took: two thirds of the time belong to the consumers."""
LONGEST_REST_S: Final = 2.0


class BatchPace:
    """Follows what batches take. Not for several threads."""

    def __init__(self, first: int = FIRST, largest: int = LARGEST) -> None:
        self.size = first
        self._largest = largest

    def after(self, rows: int, seconds: float) -> float:
        """A batch of so many rows took so many seconds; returns the seconds to rest. At most doubles the size."""
        if rows > 0 and seconds > 0:
            fitting = int(rows * TARGET_S / seconds)
            self.size = max(1, min(fitting, 2 * self.size, self._largest))
        return min(seconds * REST, LONGEST_REST_S)

    def held_up(self) -> float:
        """A batch had to be given up, for a deadlock or a lock; returns the seconds to rest."""
        self.size = max(1, self.size // 4)
        return TARGET_S * 4
