"""Runs the jobs of a poll: all in one round trip where that works, one by one where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from qmon.engines.base import Connection
from qmon.engines.rows import records
from qmon.errors import ConnectionLost, DeadlineExceeded, PermissionMissing, QueryFailed
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.jobs import Job

Results = dict[tuple[str, str], tuple[Any, ...]]
"""The records of each job that worked, by queue and probe."""
_RETRY_AFTER: Final = 30


class Runner:
    """Runs jobs on one connection and remembers which of them fail, so that they do not spoil the batch each time.

    A job that failed is left out for 30 polls and then tried again; meanwhile its failure stands.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._proven: set[tuple[str, str]] = set()
        self._failing: dict[tuple[str, str], tuple[int, ProbeFailure]] = {}
        self._polls = 0
        self.one_trip = False
        """The last run took a single round trip, so that its server time means something."""

    def run(self, jobs: Sequence[Job]) -> tuple[Results, list[ProbeFailure]]:
        """Run the jobs. Raises ``ConnectionLost``; every other failure is reported beside the results."""
        self._polls += 1
        results: Results = {}
        batch = [job for job in jobs if job.key in self._proven]
        single = [job for job in jobs if job.key not in self._proven and not self._resting(job)]
        self.one_trip = not single
        if batch and not self._batch(batch, results):
            single = batch + single
            self.one_trip = False
        for job in single:
            self._single(job, results)
        asked = {job.key for job in jobs}
        return results, [failure for key, (_, failure) in self._failing.items() if key in asked]

    def _resting(self, job: Job) -> bool:
        failed = self._failing.get(job.key)
        return failed is not None and self._polls - failed[0] < _RETRY_AFTER

    def _batch(self, jobs: Sequence[Job], results: Results) -> bool:
        try:
            sets = self._connection.fetch_batch([job.bound for job in jobs])
        except ConnectionLost:
            raise
        except QueryFailed:
            return False
        for job, rows in zip(jobs, sets, strict=True):
            results[job.key] = tuple(records(job.record, rows))
        return True

    def _single(self, job: Job, results: Results) -> None:
        try:
            results[job.key] = tuple(records(job.record, self._connection.fetch(job.bound)))
        except ConnectionLost:
            raise
        except QueryFailed as problem:
            self._proven.discard(job.key)
            grant = problem.grant if isinstance(problem, PermissionMissing) else ""
            self._failing[job.key] = (self._polls, ProbeFailure(job.probe, _reason(problem), job.queue, grant))
        else:
            self._proven.add(job.key)
            self._failing.pop(job.key, None)


def _reason(problem: QueryFailed) -> str:
    if isinstance(problem, DeadlineExceeded):
        return "took longer than the poll may; tried again later"
    return str(problem)
