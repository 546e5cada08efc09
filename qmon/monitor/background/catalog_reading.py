"""Decide when to read the catalog again, and store the newest result.

Polls request a reading and pick up its result between two polls. A background reader reads the catalog, because a
reading may take seconds if there are many tables or the server is busy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection
from qmon.monitor.catalog.resolve import NO_QUEUES, Resolved

EVERY_S: Final = 120.0

# Seconds between readings while a queue is gone or a table was locked.
LOST_S: Final = 3.0

# Minimum pause between these readings, as a multiple of the duration of a reading.
_COST_FACTOR: Final = 30.0

Resolve = Callable[[Connection, Resolved], Resolved]


class CatalogReading:
    """The queues of a target as found in the catalog. Used by the polling thread, except for ``read_if_requested``.

    ``resolve``: finds the queues over a connection, given the last result.
    """

    def __init__(self, resolve: Resolve, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolve = resolve
        self._clock = clock
        self._lock = threading.Lock()
        # While a reading is requested: the last result at the time of the request. Otherwise: `None`.
        self._requested_before: Resolved | None = None
        # The result of the requested reading, and how many seconds the reading took.
        self._result: tuple[Resolved, float] | None = None
        self._resolved = NO_QUEUES
        self._seen_states: Mapping[str, frozenset[str]] = {}
        self._read_at = float("-inf")
        self._reread_s = LOST_S
        # True if earlier results must be discarded, because queues are now found in a different way.
        self.discards_earlier = False
        # True if a queue is gone or a table was locked. The catalog is then read again soon.
        self.rereads_soon = False

    def set_resolver(self, resolve: Resolve) -> None:
        """Use ``resolve`` for discovery from now on. May be called from any thread."""
        self._resolve, self.discards_earlier = resolve, True

    @property
    def is_due(self) -> bool:
        """Whether to read the catalog again now. Always true after a poll has found an unknown state."""
        if self._resolved.seen != self._seen_states:
            return True
        return self._clock() - self._read_at >= (self._reread_s if self.rereads_soon else EVERY_S)

    def record_states(self, states: Mapping[str, Collection[str]]) -> None:
        """Record the unknown state values that a poll has found, keyed by queue."""
        added = {
            queue: frozenset(values) - self._seen_states.get(queue, frozenset()) for queue, values in states.items()
        }
        for queue, values in added.items():
            if values:
                self._seen_states = {**self._seen_states, queue: self._seen_states.get(queue, frozenset()) | values}

    @property
    def is_requested(self) -> bool:
        """Whether a requested reading has not ended successfully."""
        with self._lock:
            return self._requested_before is not None

    def request_reading(self) -> None:
        """Request a reading in the background."""
        with self._lock:
            if self._result is None and self._requested_before is None:
                self._requested_before = replace(self._resolved, seen=self._seen_states)

    def take_result(self) -> Resolved | None:
        """Return the catalog read in the background since the last call, or ``None``."""
        with self._lock:
            found, self._result = self._result, None
        return None if found is None else self._record_result(*found)

    def read_now(self, connection: Connection) -> Resolved:
        """Read the catalog now on this connection, and discard a background result, which may be older."""
        began = self._clock()
        resolve = self._resolve
        found = resolve(
            connection, replace(NO_QUEUES if self.discards_earlier else self._resolved, seen=self._seen_states)
        )
        self.discards_earlier = self._resolve is not resolve
        with self._lock:
            self._requested_before = self._result = None
        return self._record_result(found, self._clock() - began)

    def read_if_requested(self, connection: Connection) -> None:
        """Read the catalog if a reading was requested. Runs in the background reader's thread."""
        with self._lock:
            before = self._requested_before
        if before is None:
            return
        began = self._clock()
        found = self._resolve(connection, before)
        with self._lock:
            if self._requested_before is before:
                self._requested_before, self._result = None, (found, self._clock() - began)

    def _record_result(self, resolved: Resolved, took_s: float) -> Resolved:
        self._resolved, self._read_at = resolved, self._clock()
        self._reread_s = min(max(LOST_S, took_s * _COST_FACTOR), EVERY_S)
        self.rereads_soon = resolved.locked or any(problem.gone for problem in resolved.problems)
        return resolved
