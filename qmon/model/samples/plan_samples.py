"""Samples of the plans of pops, as the server itself stores them (Query Store, pg_stat_statements)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanHistorySample:
    """One row: whether the server currently stores plans.

    ``read_at``: server clock, seconds since the epoch. ``why``: why the server does not store plans; empty if it does.
    ``home``: schema of the extension that stores them, if there is one.
    """

    read_at: float
    kept: bool
    why: str
    home: str


@dataclass(frozen=True, slots=True)
class PlanSample:
    """One row per plan of a statement that pops or changes rows of a queue's table.

    If plans are not distinguished (pg_stat_statements), there is one row per statement with an empty ``plan_id``.
    "Recent" is the last hour or two, or the time since the last reading.

    Attributes:
        routine: the procedure that contains the statement, else empty.
        age_s: seconds since the plan was first made, if known.
        forced: the plan was forced.
        calls: recently finished calls.
        reads: pages that these calls read, in memory or not.
        spent_s: seconds that these calls took.
        calls_before: calls before the recent time; ``reads_before`` and ``spent_before_s`` likewise.
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
    """Plans of one queue, read at ``read_at`` (server clock, seconds since the epoch).

    ``unread``: why they are unknown, else empty.
    """

    queue: str
    read_at: float
    plans: tuple[PlanSample, ...] = ()
    unread: str = ""
