"""Samples of the plans of pops that the server stores (Query Store, pg_stat_statements)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanHistorySample:
    """One row: whether the server currently stores plans.

    ``read_at``: server clock, seconds since the epoch. ``why``: why the server does not store plans; empty if it does.
    ``home``: schema of the extension that stores plans, if there is such an extension.
    """

    read_at: float
    kept: bool
    why: str
    home: str


@dataclass(frozen=True, slots=True)
class PlanSample:
    """One row per plan of a statement that pops or changes rows of a queue's table.

    If the server does not distinguish plans (pg_stat_statements), there is one row per statement with an empty
    ``plan_id``. "Recent" is the last hour or two, or the time since the last reading.

    Attributes:
        routine: the procedure that contains the statement, else empty.
        age_s: seconds since the plan was first made, if known.
        forced: true if the plan was forced.
        calls: number of recently finished calls.
        reads: pages that the recent calls read, in memory or not.
        spent_s: seconds that the recent calls took.
        calls_before: number of calls before the recent time.
        reads_before: pages that the calls before the recent time read.
        spent_before_s: seconds that the calls before the recent time took.
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

    ``unread``: why the plans are unknown, else empty.
    """

    queue: str
    read_at: float
    plans: tuple[PlanSample, ...] = ()
    unread: str = ""
