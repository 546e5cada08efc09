"""When the catalogue is read anew, and what it said last.

Polls ask for it and take it in between two of them. A background reader reads, since that may take seconds where tables
are many or the server is busy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection
from qmon.monitor.catalog.resolve import NOTHING, Resolved

EVERY_S: Final = 120.0
# Seconds between readings while a queue is gone, or a table was locked.
LOST_S: Final = 3.0
# … but at least this many times what a reading takes.
_COST_FACTOR: Final = 30.0

Resolve = Callable[[Connection, Resolved], Resolved]


class CatalogReading:
    """The queues of a target as the catalogue has them. Used by the thread that polls, but for ``read``.

    ``resolve``: finds them over a connection, given what it found last.
    """

    def __init__(self, resolve: Resolve, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolve = resolve
        self._clock = clock
        self._lock = threading.Lock()
        # What was found last when it was asked for; `None`: it is not.
        self._before: Resolved | None = None
        # What was read since, and how long that took.
        self._found: tuple[Resolved, float] | None = None
        self._resolved = NOTHING
        self._seen: Mapping[str, frozenset[str]] = {}
        self._read_at = float("-inf")
        self._again_s = LOST_S
        # What was found so far counts for nothing: queues are found in another way from now on.
        self.anew = False
        # Something is missing that may come back: it is read again soon.
        self.gone = False

    def find_by(self, resolve: Resolve) -> None:
        """Find the queues this way from now on; from any thread."""
        self._resolve, self.anew = resolve, True

    @property
    def due(self) -> bool:
        """Whether it is time to read it again; at once after polls have met a state that is not known."""
        if self._resolved.seen != self._seen:
            return True
        return self._clock() - self._read_at >= (self._again_s if self.gone else EVERY_S)

    def learn_states(self, seen: Mapping[str, Collection[str]]) -> None:
        """Take in the values of states that a poll has met and that are not known, by queue."""
        added = {queue: frozenset(values) - self._seen.get(queue, frozenset()) for queue, values in seen.items()}
        for queue, values in added.items():
            if values:
                self._seen = {**self._seen, queue: self._seen.get(queue, frozenset()) | values}

    def ask(self) -> None:
        """Have it read in the background."""
        with self._lock:
            if self._found is None and self._before is None:
                self._before = replace(self._resolved, seen=self._seen)

    def take(self) -> Resolved | None:
        """What was read in the background since this was last called, if anything was."""
        with self._lock:
            found, self._found = self._found, None
        return None if found is None else self._learn(*found)

    def read_here(self, connection: Connection) -> Resolved:
        """Read it at once; what is being read in the background is left out, as it may be older."""
        began = self._clock()
        resolve = self._resolve
        found = resolve(connection, replace(NOTHING if self.anew else self._resolved, seen=self._seen))
        self.anew = self._resolve is not resolve
        with self._lock:
            self._before = self._found = None
        return self._learn(found, self._clock() - began)

    def read(self, connection: Connection) -> None:
        """Read it if it was asked for; in the thread of the background reader."""
        with self._lock:
            before = self._before
        if before is None:
            return
        began = self._clock()
        found = self._resolve(connection, before)
        with self._lock:
            if self._before is before:
                self._before, self._found = None, (found, self._clock() - began)

    def _learn(self, found: Resolved, took_s: float) -> Resolved:
        self._resolved, self._read_at = found, self._clock()
        self._again_s = min(max(LOST_S, took_s * _COST_FACTOR), EVERY_S)
        self.gone = found.locked or any(problem.gone for problem in found.problems)
        return found
