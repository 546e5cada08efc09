"""What the commands of ``pipeline`` print."""

from __future__ import annotations

from typing import Literal, TypedDict


class IngestReport(TypedDict):
    """``qmon pipeline run``: what the lake has taken in so far."""

    schema: Literal[1]
    batches: int
    samples: int
    segments: int
    duplicates: int
    lines: int
    bad: int


class TidiedReport(TypedDict):
    """Of one table: ``compacted`` files became ``into``; ``old_rows`` and ``removed`` files are gone."""

    table: str
    compacted: int
    into: int
    old_rows: int
    removed: int


class TidyReport(TypedDict):
    """``qmon pipeline tidy``."""

    schema: Literal[1]
    tables: list[TidiedReport]


class QueuePeriod(TypedDict):
    """A queue over the period: rates in messages per second, ``growth`` of the push rate for a day."""

    target: str
    queue: str
    push_rate: float | None
    push_rate_week_before: float | None
    pop_rate: float | None
    pop_rate_best_hour: float | None
    push_rate_growth_per_day: float | None
    outgrown_days: float | None
    ready_mean: float | None
    ready_p95: float | None
    ready_max: float | None
    oldest_p50_seconds: float | None
    oldest_p95_seconds: float | None
    oldest_p99_seconds: float | None


class IncidentOperation(TypedDict):
    """What somebody did meanwhile."""

    kind: str
    state: str
    by: str


class Incident(TypedDict):
    """A time of trouble. ``codes``: all verdicts in it; ``cause``: the worst of them."""

    target: str
    queue: str
    start_at: str
    end_at: str
    cause: str
    codes: list[str]
    proof: str | None
    ready_max: float | None
    operations: list[IncidentOperation]


class TargetWait(TypedDict):
    """How many sessions waited for it on average."""

    target: str
    wait: str
    sessions: float


class QueueMessages(TypedDict):
    """How long archived messages waited and were worked on; ``again``: share of those popped more than once."""

    target: str
    queue: str
    messages: int
    wait_p50_seconds: float | None
    wait_p95_seconds: float | None
    wait_p99_seconds: float | None
    work_p50_seconds: float | None
    work_p95_seconds: float | None
    work_p99_seconds: float | None
    again: float | None


class PeriodReport(TypedDict):
    """``qmon pipeline report``."""

    schema: Literal[1]
    from_at: str
    until_at: str
    queues: list[QueuePeriod]
    queues_left_out: int
    incidents: list[Incident]
    incidents_left_out: int
    waits: list[TargetWait]
    messages: list[QueueMessages]


class TakenReport(TypedDict):
    """What one archive gave. ``awaited``: numbers below ``upto`` that may still come."""

    queue: str
    messages: int
    upto: int
    awaited: int
    all_messages: int


class MessagesReport(TypedDict):
    """``qmon pipeline messages``."""

    schema: Literal[1]
    target: str
    queues: list[TakenReport]
