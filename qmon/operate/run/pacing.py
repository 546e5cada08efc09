"""Chooses the size of the next batch and the rest before it, so that batches do not slow producers and consumers."""

from __future__ import annotations

import math
from typing import Final

# Target duration of a batch, in seconds. A consumer that needs a row locked by the batch waits at most about this long.
TARGET_S: Final = 0.02
FIRST_BATCH: Final = 20

# Maximum number of rows in a batch. A consumer must skip the rows that a batch has written but not committed. The
# consumer's commit also waits while the server writes the log of the batch; see `make bench ARGS=acting`.
LARGEST_BATCH: Final = 100

# Rest after a batch, as a multiple of the batch's duration. With this factor, qmon normally works a third of the time.
REST_FACTOR: Final = 2.0
LONGEST_REST_S: Final = 2.0

# With a rate limit, run at least this many batches per second, so that few messages arrive at once.
_MIN_BATCHES_PER_S: Final = 5

ARCHIVE_TARGET_S: Final = 0.1

# Rest after a batch of archived messages, as a multiple of the batch's duration. With this factor, archiving works at
# most a quarter of the time.
ARCHIVE_REST_FACTOR: Final = 3.0

# Archiving rests longer when rows take longer than in the quickest batch, at most by this factor.
MAX_SLOWDOWN: Final = 5.0

# Seconds that archiving waits after a batch with fewer messages than the batch's maximum.
IDLE_S: Final = 1.0
ARCHIVE_BACK_OFF_S: Final = 0.25

BACK_OFF_S: Final = 0.08
MAX_BACK_OFF_S: Final = 30.0

# The quickest time per row grows by this factor with each batch, so that pacing adapts to a server that stays slower.
_QUICKEST_GROWTH: Final = 1.001


def largest_batch_for(rate: float | None) -> int:
    """Return the maximum number of rows in a batch. ``rate``: maximum number of rows per second, or ``None``."""
    return LARGEST_BATCH if rate is None else min(LARGEST_BATCH, max(1, int(rate / _MIN_BATCHES_PER_S)))


class BatchPace:
    """Adapt batch size and rest to the duration of batches. Not thread-safe.

    A batch is slow if the server is busy or other sessions hold locks. After a slow batch, the rest becomes longer and
    the next batch becomes smaller. Each failed batch doubles the rest. Rest and size return to normal when batches are
    quick again. If a smaller batch was hardly quicker, the network or waiting for a processor took most of the time.
    In this case, the next batch gets twice as many rows as the last full batch.
    """

    def __init__(
        self,
        first: int = FIRST_BATCH,
        largest: int = LARGEST_BATCH,
        *,
        target_s: float = TARGET_S,
        rest_factor: float = REST_FACTOR,
        shortest_rest_s: float = 0.0,
        longest_rest_s: float = LONGEST_REST_S,
        max_slowdown: float = 1.0,
        back_off_s: float = BACK_OFF_S,
    ) -> None:
        """``rest_factor``: factor on the duration of a batch.

        ``max_slowdown``: maximum additional factor when rows are slow. ``back_off_s``: seconds to rest after the first
        failed batch. The rest doubles with each further consecutive failure.
        """
        self.size = first
        self._largest, self._target_s = largest, target_s
        self._rest, self._shortest_rest_s, self._longest_rest_s = rest_factor, shortest_rest_s, longest_rest_s
        self._most_slowed, self._first_back_off_s = max_slowdown, back_off_s
        self._back_off_s = 0.0
        self._quickest_s = math.inf
        # Number of rows in the last full batch, and its duration in seconds.
        self._last_full_batch = (0, 0.0)

    def record_batch(self, rows: int, seconds: float) -> float:
        """Record a batch of ``rows`` rows that took ``seconds``. Return the seconds to rest.

        Usually, a full batch at most doubles the size of the next batch. A batch that was not full does not increase
        the size.
        """
        self._back_off_s = 0.0
        slowed = 1.0
        if rows > 0 and seconds > 0:
            fitting, most = int(rows * self._target_s / seconds), self.size
            if rows >= self.size:
                most *= 2
                if seconds > self._target_s and self._was_smaller_in_vain(rows, seconds):
                    fitting = most = 2 * self._last_full_batch[0]
                self._last_full_batch = (rows, seconds)
                self._quickest_s = min(seconds / rows, self._quickest_s * _QUICKEST_GROWTH)
                slowed = min(seconds / rows / self._quickest_s, self._most_slowed)
            self.size = max(1, min(fitting, most, self._largest))
        return max(self._shortest_rest_s, min(seconds * self._rest * slowed, self._longest_rest_s))

    def _was_smaller_in_vain(self, rows: int, seconds: float) -> bool:
        """Return whether the batch was smaller than the last full batch but saved less than half the expected time."""
        rows_before, seconds_before = self._last_full_batch
        return rows < rows_before and seconds > seconds_before * (1 + rows / rows_before) / 2

    def record_given_up(self) -> float:
        """Record a batch that failed because of a deadlock, lock or timeout. Return the seconds to rest."""
        self.size = max(1, self.size // 2)
        self._last_full_batch = (0, 0.0)
        first = max(self._first_back_off_s, self._shortest_rest_s)
        self._back_off_s = min(MAX_BACK_OFF_S, max(first, 2 * self._back_off_s))
        return self._back_off_s


def archive_pace(batch: int, pause_s: float) -> BatchPace:
    """Return the pace of archiving. ``batch``: maximum size of a batch. ``pause_s``: minimum rest in seconds."""
    return BatchPace(
        batch,
        batch,
        target_s=ARCHIVE_TARGET_S,
        rest_factor=ARCHIVE_REST_FACTOR,
        shortest_rest_s=pause_s,
        longest_rest_s=math.inf,
        max_slowdown=MAX_SLOWDOWN,
        back_off_s=ARCHIVE_BACK_OFF_S,
    )
