"""Samples of the plans by which a queue is popped, as the server itself remembers them (Query Store)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanHistorySample:
    """One row: whether the server remembers plans now. ``read_at``: its clock, seconds since the epoch.

    ``why``: why it does not, else empty.
    """

    read_at: float
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class PlanSample:
    """One row a plan of a statement that takes or changes rows of a queue's table.

    ``routine``: the procedure that the statement is in, else empty; ``age_s``: seconds since the plan was first made;
    ``forced``: somebody wants this one. ``calls`` that ended in the last hour or two, and pages that these have read,
    in memory or not; ``calls_before`` and ``reads_before``: in the days before.
    """

    statement_id: str
    plan_id: str
    routine: str
    age_s: float
    forced: bool
    calls: int
    reads: float
    calls_before: int
    reads_before: float
    statement: str


@dataclass(frozen=True, slots=True)
class QueuePlans:
    """What was read of one queue at ``read_at`` (server clock, seconds since the epoch).

    ``unread``: why nothing is known, else empty.
    """

    queue: str
    read_at: float
    plans: tuple[PlanSample, ...] = ()
    unread: str = ""
