"""Samples of the server's scheduler (SQL Server Agent): the jobs that pop from a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# `outcome` of a step whose last run failed (documentation of `dbo.sysjobsteps`).
FAILED_OUTCOME: Final = 0


@dataclass(frozen=True, slots=True)
class JobStepSample:
    """One row per job step whose command contains one of the requested ``name``s.

    Attributes:
        read_at: server clock, seconds since the epoch.
        enabled: true if the schedule of the job starts the job.
        outcome: result of the last run: 0 failed, 1 succeeded, 2 retry, 3 canceled; ``None`` if unknown.
        ran_s: seconds since the last run started; ``None`` if unknown.
    """

    name: str
    read_at: float
    job: str
    step: int
    enabled: bool
    outcome: int | None
    ran_s: float | None
    command: str


@dataclass(frozen=True, slots=True)
class QueueJob:
    """A job step that names a queue's table or a routine that pops from it.

    Other fields are as in ``JobStepSample``.
    """

    queue: str
    job: str
    step: int
    enabled: bool
    outcome: int | None
    ran_s: float | None


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs that work on queues, as last read. ``unread``: why jobs are unknown, and the GRANT that fixes this."""

    jobs: tuple[QueueJob, ...] = ()
    unread: str = ""
