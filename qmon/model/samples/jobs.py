"""Samples of the server's own scheduler: which of its jobs pop from a queue (SQL Server Agent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# `outcome` of a step that failed (documentation of `dbo.sysjobsteps`).
FAILED: Final = 0


@dataclass(frozen=True, slots=True)
class JobStepSample:
    """One row a step of a job whose command names one of the ``name``s that were asked for.

    ``read_at``: the server's clock, seconds since the epoch. ``enabled``: its schedule starts the job. ``outcome`` of
    its last run: 0 failed, 1 succeeded, 2 retry, 3 canceled; ``ran_s``: seconds since that began. ``None``: not known.
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
    """A step of a job that names a queue's table or what pops from it. The rest is as in ``JobStepSample``."""

    queue: str
    job: str
    step: int
    enabled: bool
    outcome: int | None
    ran_s: float | None


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs that work on queues, as last read. ``unread``: why nothing is known, with the GRANT that helps."""

    jobs: tuple[QueueJob, ...] = ()
    unread: str = ""
