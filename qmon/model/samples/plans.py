"""Samples of the plans by which a queue is popped, as the server itself remembers them (Query Store)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanHistorySample:
    """One row: whether the server remembers plans now. ``read_at``: its clock, seconds since the epoch.

    ``why``: why it does not, else empty. ``home``: the schema of what remembers, where it has one.
    """

    read_at: float
    kept: bool
    why: str
    home: str


@dataclass(frozen=True, slots=True)
class PlanSample:
    """One row a plan of a statement that takes or changes rows of a queue's table; where plans are not told apart
    (pg_stat_statements) one row a statement, with an empty ``plan_id``.

    ``routine``: the procedure that the statement is in, else empty; ``age_s``: seconds since the plan was first made,
    where known; ``forced``: somebody wants this one. ``calls`` that ended lately (in the last hour or two, or since the
    last reading), and pages that these have read, in memory or not; ``calls_before`` and ``reads_before``: in the time
    before. ``spent_s`` and ``spent_before_s``: seconds that they took.
    """

    statement_id: str
    plan_id: str
    routine: str
    age_s: float | None
    forced: bool
    calls: int
    reads: float
    spent_s: float
    calls_before: int
    reads_before: float
    spent_before_s: float | None
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
