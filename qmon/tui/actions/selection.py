"""Which messages of a queue are marked."""

from __future__ import annotations


class MarkedMessages:
    """Ids of one queue; marking something in another queue begins anew."""

    def __init__(self) -> None:
        self._queue = ""
        self._ids: set[str] = set()

    def of(self, queue: str) -> frozenset[str]:
        """The ids marked in this queue."""
        return frozenset(self._ids) if queue == self._queue else frozenset()

    def turn(self, queue: str, id: str) -> None:
        """Mark an id, or no longer."""
        if queue != self._queue:
            self._queue, self._ids = queue, set()
        self._ids ^= {id}

    def clear(self) -> None:
        """Nothing is marked."""
        self._ids.clear()
