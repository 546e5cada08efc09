"""Detect from a queue's head and depth whether messages leave the queue, if its rates are unknown."""

from __future__ import annotations

from typing import Final

from qmon.model.evidence import Motion
from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.snapshot import QueueSamples

# The push time of the same oldest message may differ by this many seconds between two polls.
_SAME_S: Final = 1.0


class MotionTrack:
    """The head and the depth of one queue, from poll to poll. Not thread-safe."""

    def __init__(self) -> None:
        self._head: tuple[str | None, float | None] | None = None
        self._rows: dict[str, float] = {}
        self._began_at = self._read_at = 0.0
        self._moved_at: float | None = None

    def record_gap(self) -> None:
        """Record a time in which the queue was not read. Messages may have left it and others arrived."""
        self._head, self._rows = None, {}

    def record_poll(self, samples: QueueSamples, at: float) -> Motion | None:
        """Record one poll at ``at`` (server clock, seconds); ``None`` until the queue has been counted.

        A queue moves if it has another head or fewer rows. It does not stand still while a transaction holds rows,
        because consumers skip a locked head.
        """
        first = not self._rows
        moved = self._has_head_moved(samples, at) | self._have_rows_fallen(samples)
        if moved and not first:
            self._moved_at = at
        if any(holder.running for holder in (*(samples.held or ()), *samples.locked)):
            self._began_at = at
        if not self._rows:
            return None
        moved_s = None if self._moved_at is None else at - self._moved_at
        if self._head is None:
            return Motion(None, None, moved_s)
        # The time ends at the newest poll that read the head, because the head may have moved after that poll.
        since = self._began_at if self._moved_at is None else max(self._began_at, self._moved_at)
        return Motion(self._head[0], max(0.0, self._read_at - since), moved_s)

    def _has_head_moved(self, samples: QueueSamples, at: float) -> bool:
        if samples.head is None:
            return False
        pushed_at = None if samples.head.oldest_s is None else at - samples.head.oldest_s
        known = samples.head.counted > 0 and (samples.head.head_id is not None or pushed_at is not None)
        now = (samples.head.head_id, pushed_at) if known else None
        before, self._head, self._read_at = self._head, now, at
        if now is not None and before is not None and _is_same_head(now, before):
            self._head = before  # keep the old time, so that a slow drift adds up and finally counts as a move
            return False
        self._began_at = at
        return before is not None and now != before

    def _have_rows_fallen(self, samples: QueueSamples) -> bool:
        now: dict[str, float] = {}
        if samples.head is not None and (samples.head.counted < samples.head_limit or samples.head_limit > COUNT_LIMIT):
            now["head"] = float(samples.head.counted)
        if (counted := samples.depth or samples.count) is not None:
            now["depth" if samples.depth is not None else "count"] = float(counted.ready)
        fell = any(rows < self._rows.get(source, 0.0) for source, rows in now.items())
        self._rows |= now
        return fell


def _is_same_head(one: tuple[str | None, float | None], other: tuple[str | None, float | None]) -> bool:
    if one[0] is not None or other[0] is not None:
        return one[0] == other[0]
    return one[1] is not None and other[1] is not None and abs(one[1] - other[1]) <= _SAME_S
