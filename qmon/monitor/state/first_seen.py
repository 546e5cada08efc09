"""Watch how long messages are ready or in progress, for tables without a time column."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from typing import Final

_MOST: Final = 4000


class WatchedProgress:
    """For each message in progress: the time of the first read that found it, and the time of the previous read."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, float]] = {}
        self._first: float | None = None
        self._last = float("-inf")

    def record_ids(self, ids: Iterable[str], at: float) -> None:
        """Record the ids in progress at ``at`` (server clock, seconds); missing ids are forgotten."""
        self._since = {i: self._since.get(i, (self._last, at)) for i in ids}
        self._first = at if self._first is None else self._first
        self._last = at

    def record_gap(self) -> None:
        """Record a gap in the polls: what happened during the gap is unknown."""
        self._first, self._last = None, float("-inf")

    def watched_s(self, at: float) -> float:
        """Return for how many seconds the ids have been watched."""
        return 0.0 if self._first is None else max(0.0, at - self._first)

    def count_beyond(self, timeout_s: float, at: float) -> int:
        """Return how many messages have been seen in progress for more than ``timeout_s`` seconds."""
        return sum(1 for _, since in self._since.values() if at - since > timeout_s)

    def count_perhaps_beyond(self, timeout_s: float, at: float) -> int:
        """Return how many messages may have been in progress for more than ``timeout_s`` seconds.

        Each of them may have been popped right after the last read that did not find it.
        """
        return sum(1 for unseen_at, _ in self._since.values() if at - unseen_at > timeout_s)


class WatchedIds:
    """The times at which ids were issued, found by polling. They give the age of a head without a push time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque(maxlen=_MOST)

    def record_last_id(self, last_id: int, at: float) -> None:
        """Record the last issued id at ``at`` (server clock, seconds)."""
        if not self._seen or last_id > self._seen[-1][1]:
            self._seen.append((at, last_id))
        elif last_id < self._seen[-1][1]:
            self._seen.clear()

    def age(self, head_id: int, at: float) -> tuple[float, bool] | None:
        """Return the message's age in seconds and whether it is only a lower bound.

        Returns ``None`` if the id was issued after the last poll, or if no id was recorded yet.
        """
        position = bisect_left(self._seen, head_id, key=lambda seen: seen[1])
        if position == len(self._seen):
            return None
        return max(0.0, at - self._seen[position][0]), position == 0
