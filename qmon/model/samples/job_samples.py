"""Samples of the server's own scheduler (SQL Server Agent): which of its jobs pop from a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# `outcome` of a step that failed (documentation of `dbo.sysjobsteps`).
FAILED_OUTCOME: Final = 0


@dataclass(frozen=True, slots=True)
class JobStepSample:
    """One row per job step whose command contains one of the requested ``name``s.

    Attributes:
        read_at: server clock, seconds since the epoch.
        enabled: the schedule of the job starts it.
        outcome: how its last run ended: 0 failed, 1 succeeded, 2 retry, 3 canceled; ``None``: unknown.
        ran_s: seconds since that run started; ``None``: unknown.
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
    """The jobs that work on queues, as last read. ``unread``: why they are unknown, with the GRANT that fixes it."""

    jobs: tuple[QueueJob, ...] = ()
    unread: str = ""
