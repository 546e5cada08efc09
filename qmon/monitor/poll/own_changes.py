"""The queues whose messages this qmon changes: their figures are read again, and their rates leave qmon's work out."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class OwnChanges:
    """Changes begin and end on any thread; one thread polls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()
        self._ended: set[str] = set()
        self._at_begin: frozenset[str] = frozenset()

    @contextmanager
    def of(self, queue: str) -> Iterator[None]:
        """Mark the queue as one that is changed in this block."""
        with self._lock:
            self._under_way[queue] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[queue] -= 1
                self._ended.add(queue)

    def poll_begins(self) -> frozenset[str]:
        """Return the queues that were changed since the poll before began to read, or are being changed."""
        with self._lock:
            self._at_begin = self._now()
            self._ended.clear()
        return self._at_begin

    def poll_ended(self) -> frozenset[str]:
        """Return these and the queues whose changes began or ended while the poll read."""
        with self._lock:
            return self._at_begin | self._now()

    def _now(self) -> frozenset[str]:
        return frozenset(self._ended).union(queue for queue, count in self._under_way.items() if count)
