"""Types for the output of the ``pipeline`` commands."""

from __future__ import annotations

from typing import Literal, TypedDict


class IngestReport(TypedDict):
    """The output of ``qmon pipeline run``: the contents of the lake so far."""

    schema: Literal[1]
    batches: int
    samples: int
    segments: int
    duplicates: int
    lines: int
    bad: int


class QueuePeriod(TypedDict):
    """A queue over the period. Rates are in messages per second; ``growth`` is the growth of the push rate per day.

    ``watched``: the share of the period in which qmon watched the queue. ``counters_watched``: the share of the period
    in which qmon read the queue's counters, from which it computes rates. Fields that end in ``_before`` contain the
    figure for the previous period of equal length.
    """

    target: str
    queue: str
    watched: float
    counters_watched: float
    incidents: int
    incident_seconds: float
    incident_before_seconds: float | None
    push_rate: float | None
    push_rate_before: float | None
    pop_rate: float | None
    pop_rate_best_hour: float | None
    push_rate_growth_per_day: float | None
    outgrown_days: float | None
    outgrown_earliest_days: float | None
    outgrown_latest_days: float | None
    ready_mean: float | None
    ready_p95: float | None
    ready_max: float | None
    oldest_p50_seconds: float | None
    oldest_p95_seconds: float | None
    oldest_p99_seconds: float | None
    oldest_p95_before_seconds: float | None


class LookAt(TypedDict):
    """One of the findings to look at first. ``queue``: null if the finding concerns a whole target."""

    about: Literal["level", "incident", "capacity", "coverage", "unusual", "change"]
    text: str
    target: str
    queue: str | None


class ServiceLevel(TypedDict):
    """A queue measured against one ``[[slo]]``, counted in watched seconds.

    ``enough_data``: true if at least half of the window was watched. ``kept``: the share of the watched seconds in
    which the figure was below the limit. ``budget_left``: the remaining
    share of the error budget, below 0 if overspent. ``burn_rate``: how fast the last day used the budget; at a rate of
    1, the budget lasts exactly as long as the window.
    """

    target: str
    queue: str
    slo: str
    figure: str
    below: float
    objective: float
    window_seconds: float
    counted_seconds: float
    kept: float | None
    met: bool | None
    enough_data: bool
    budget_left: float | None
    burn_rate: float | None


class UnusualHours(TypedDict):
    """Consecutive hours in which a figure's mean was outside its band. ``value``: the mean of the worst hour."""

    target: str
    queue: str
    figure: str
    start_at: str
    end_at: str
    value: float
    usual: float
    usual_low: float
    usual_high: float


class PeriodOperation(TypedDict):
    """An operation in the period. ``queue``: null if the operation affected the whole target."""

    target: str
    queue: str | None
    started_at: str
    kind: str | None
    state: str | None
    by: str | None
    reason: str | None
    done: int | None


class TargetCoverage(TypedDict):
    """How much of a target was watched. ``watched``: a share. The longest gap is in whole hours."""

    target: str
    watched: float
    watched_seconds: float
    longest_gap_seconds: float
    longest_gap_at: str | None


class IncidentOperation(TypedDict):
    """An operation during the incident."""

    kind: str
    state: str
    by: str


class PeriodIncident(TypedDict):
    """An incident. ``codes``: all verdicts of the incident. ``cause``: the worst of these verdicts."""

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
    """The average number of sessions in a wait."""

    target: str
    wait: str
    sessions: float


class QueueMessages(TypedDict):
    """Wait and work times of archived messages. ``again``: share of messages popped more than once."""

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


class BadLines(TypedDict):
    """Unusable lines of recordings with the same reason. ``first_day``, ``last_day``: days of their segments, UTC."""

    target: str
    reason: str
    lines: int
    first_day: str
    last_day: str


class PeriodReport(TypedDict):
    """The output of ``qmon pipeline report``. ``healthy``: share of the watched time without an incident of a queue."""

    schema: Literal[1]
    from_at: str
    until_at: str
    headline: str
    look_at: list[LookAt]
    healthy: float | None
    levels: list[ServiceLevel]
    queues: list[QueuePeriod]
    queues_left_out: int
    unusual: list[UnusualHours]
    incidents: list[PeriodIncident]
    incidents_left_out: int
    operations: list[PeriodOperation]
    coverage: list[TargetCoverage]
    waits: list[TargetWait]
    messages: list[QueueMessages]
    bad_lines: list[BadLines]
