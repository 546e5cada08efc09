"""How large the next batch is and how long to rest before it, so that pushers and poppers do not feel it."""

from __future__ import annotations

import math
from typing import Final

# Seconds a batch of an action should take: nobody waits longer for a row that it has locked.
TARGET_S: Final = 0.02
FIRST: Final = 20
# Rows of a batch, at most. A popper must skip those that a batch has written and not committed, and its commit waits
# while the log of the batch is written; see `make bench ARGS=acting`.
LARGEST: Final = 100
# Rest after a batch, as a multiple of the time it took: two thirds of the time belong to the consumers.
REST: Final = 2.0
LONGEST_REST_S: Final = 2.0

# Where there is a rate: so many batches a second at least, so that few messages come at once.
_BATCHES_A_S: Final = 5

ARCHIVE_TARGET_S: Final = 0.1
# Archiving works a quarter of the time at most.
ARCHIVE_REST: Final = 3.0
# How many times longer the rest of archiving gets, at most, as rows take longer than the quickest so far.
MOST_SLOWED: Final = 5.0
# How long archiving waits, in seconds, where a batch found fewer messages than it could take.
IDLE_S: Final = 1.0
ARCHIVE_BACK_OFF_S: Final = 0.25

BACK_OFF_S: Final = 0.08
LAST_BACK_OFF_S: Final = 30.0
# How the quickest row fades with each batch, so that a server that has changed for good is not held to it.
_FORGETS: Final = 1.001


def largest_at(rate: float | None) -> int:
    """Rows of a batch at the most; ``rate``: rows a second, where there is one to keep to."""
    return LARGEST if rate is None else min(LARGEST, max(1, int(rate / _BATCHES_A_S)))


class BatchPace:
    """Follows what batches take. Not for several threads.

    A batch that is slow, since the server is busy or others hold locks, is followed by a longer rest and a smaller
    batch; one that had to be given up doubles the rest each time. Both come back when batches are quick again. Where
    fewer rows hardly made it quicker, the time is not of the rows but of the way to the server, or of waiting for a
    processor: then it takes twice as many rows as before instead.
    """

    def __init__(
        self,
        first: int = FIRST,
        largest: int = LARGEST,
        *,
        target_s: float = TARGET_S,
        rest: float = REST,
        shortest_rest_s: float = 0.0,
        longest_rest_s: float = LONGEST_REST_S,
        most_slowed: float = 1.0,
        back_off_s: float = BACK_OFF_S,
    ) -> None:
        """``rest``: of the time that a batch took. ``most_slowed``: how much longer it is at most where rows are slow.

        ``back_off_s``: the rest after a batch that was given up, which doubles from then on.
        """
        self.size = first
        self._largest, self._target_s = largest, target_s
        self._rest, self._shortest_rest_s, self._longest_rest_s = rest, shortest_rest_s, longest_rest_s
        self._most_slowed, self._first_back_off_s = most_slowed, back_off_s
        self._back_off_s = 0.0
        self._quickest_s = math.inf
        # Rows and seconds of the last full batch.
        self._before = (0, 0.0)

    def after(self, rows: int, seconds: float) -> float:
        """Take in what a batch of rows took, in seconds; returns the seconds to rest.

        A full batch at most doubles the size of the next one; another one does not raise it.
        """
        self._back_off_s = 0.0
        slowed = 1.0
        if rows > 0 and seconds > 0:
            fitting, most = int(rows * self._target_s / seconds), self.size
            if rows >= self.size:
                most *= 2
                if seconds > self._target_s and self._in_vain(rows, seconds):
                    fitting = most = 2 * self._before[0]
                self._before = (rows, seconds)
                self._quickest_s = min(seconds / rows, self._quickest_s * _FORGETS)
                slowed = min(seconds / rows / self._quickest_s, self._most_slowed)
            self.size = max(1, min(fitting, most, self._largest))
        return max(self._shortest_rest_s, min(seconds * self._rest * slowed, self._longest_rest_s))

    def _in_vain(self, rows: int, seconds: float) -> bool:
        """Whether the batch had fewer rows than the one before, and that saved less than half of what it should."""
        rows_before, seconds_before = self._before
        return rows < rows_before and seconds > seconds_before * (1 + rows / rows_before) / 2

    def given_up(self) -> float:
        """A batch had to be given up, for a deadlock, a lock or time; returns the seconds to rest."""
        self.size = max(1, self.size // 2)
        self._before = (0, 0.0)
        first = max(self._first_back_off_s, self._shortest_rest_s)
        self._back_off_s = min(LAST_BACK_OFF_S, max(first, 2 * self._back_off_s))
        return self._back_off_s


def archive_pace(batch: int, pause_s: float) -> BatchPace:
    """The pace of archiving. ``batch``: messages at most. ``pause_s``: seconds of rest at least."""
    return BatchPace(
        batch,
        batch,
        target_s=ARCHIVE_TARGET_S,
        rest=ARCHIVE_REST,
        shortest_rest_s=pause_s,
        longest_rest_s=math.inf,
        most_slowed=MOST_SLOWED,
        back_off_s=ARCHIVE_BACK_OFF_S,
    )
