"""Reports of deadlocks, where the server writes them (SQL Server): asked for after their count has risen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.secret import hide_passwords
from qmon.model.deadlock_samples import Circle, CircleSample, GraphSample
from qmon.model.deadlocks import circles_of
from qmon.monitor.jobs import Book, Job
from qmon.monitor.run import Results

_PROBE: Final = "deadlock_graphs"
_EVERY_S: Final = 15.0
_ASKED_FOR_S: Final = 150.0
"""The server hands a report over within two minutes."""
_CHARS: Final = 200


class Graphs:
    """Asks for the reports while some may still come, and gives each once. Belongs to one collector."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._count: int | None = None
        self._rose_at: float | None = None
        self._asked_at = float("-inf")
        self._newest = 0.0

    def jobs(self, now: float) -> list[Job]:
        """The job, if it is time; ``now``: our monotonic clock, seconds."""
        if self._rose_at is None or not self._book.has(_PROBE):
            return []
        if now - self._rose_at > _ASKED_FOR_S:
            self._rose_at = None
            return []
        if now - self._asked_at < _EVERY_S:
            return []
        self._asked_at = now
        return [self._book.job(_PROBE, GraphSample, {"chars": _CHARS})]

    def learn(self, results: Results, deadlocks: int | None, now: float, now_at: float) -> tuple[Circle, ...]:
        """Take in a poll: the count of deadlocks, and what reports came; returns those that are new.

        ``now_at``: the server's clock; reports from before the first poll are none of ours.
        """
        if self._newest == 0.0:
            self._newest = now_at
        if deadlocks is not None:
            if self._count is not None and deadlocks > self._count:
                self._rose_at = now
            self._count = deadlocks
        found: Sequence[GraphSample] = results.get(("", _PROBE), ())
        by_time: defaultdict[float, list[CircleSample]] = defaultdict(list)
        for row in found:
            if row.at > self._newest:
                pair = CircleSample(row.session, row.blocker, row.table_id, row.application, row.statement)
                by_time[row.at].append(replace(pair, statement=hide_passwords(pair.statement)))
        self._newest = max([self._newest, *by_time])
        return tuple(circle for at in sorted(by_time) for circle in circles_of(by_time[at]))
