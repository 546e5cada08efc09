"""Service levels: the share of time in which a figure stayed below its limit, and the remaining error budget.

Only watched time with a known figure counts. An empty queue has no oldest message, so its age is below any limit. The
table of hours stores how long each value lasted. The values and the limit are rounded, with an error of less than 0.8
%.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.config.slo import Objective

DAY_S: Final = 86_400.0
_MAP_COLUMNS: Final = {"ready": "ready_ms", "oldest_seconds": "oldest_ms"}


@dataclass(frozen=True, slots=True)
class Level:
    """One queue measured against one objective over its window.

    ``counted_s``: watched seconds with a known figure. ``bad_s``: counted seconds in which the figure was at or above
    the limit. ``last_s`` and ``last_bad_s``: counted and bad seconds of the last day. ``window_s``: seconds of the
    window.
    """

    objective: Objective
    target: str
    queue: str
    counted_s: float
    bad_s: float
    last_s: float
    last_bad_s: float

    @property
    def share(self) -> float | None:
        """The share of the counted time in which the figure was below the limit."""
        return 1 - self.bad_s / self.counted_s if self.counted_s > 0 else None

    @property
    def is_met(self) -> bool | None:
        """True if the objective is met. ``None``: nothing was watched."""
        return None if self.budget_left is None else self.budget_left >= 0

    @property
    def has_enough_data(self) -> bool:
        """True if at least half of the window was counted. With less data, the share can still change a lot."""
        return self.counted_s >= self.objective.window_s / 2

    @property
    def budget_s(self) -> float:
        """The error budget: for this number of counted seconds, the figure may be at or above the limit."""
        return (1 - self.objective.share) * self.counted_s

    @property
    def budget_left(self) -> float | None:
        """The remaining share of the error budget; below 0 if overspent."""
        return 1 - self.bad_s / self.budget_s if self.counted_s > 0 else None

    @property
    def burn_rate(self) -> float | None:
        """How fast the budget was used over the last day. At 1 the budget lasts exactly as long as the window.

        The burn rate is the share of bad time divided by the share of time that may be bad (Google, "The Site
        Reliability Workbook", 2018, chapter 5).
        """
        return self.last_bad_s / self.last_s / (1 - self.objective.share) if self.last_s > 0 else None

    @property
    def goal(self) -> str:
        """The objective in a few words: ``oldest < 2m for 99 % of 28d``."""
        from qmon.model.formatting import format_duration, number
        from qmon.pipeline.report.report_formatting import good_share_text

        asked = self.objective
        age = asked.figure == "oldest_seconds"
        below = format_duration(asked.below) if age else number(asked.below)
        return f"{asked.label} < {below} for {good_share_text(asked.share)} of {format_duration(asked.window_s)}"


def longest_window_s(objectives: Sequence[Objective]) -> float:
    """Return the longest window of these objectives, in seconds."""
    return max((each.window_s for each in objectives), default=0.0)


def measure_levels(hours: DataFrame, objectives: Sequence[Objective], end: float) -> tuple[Level, ...]:
    """Measure each queue at ``end`` (seconds since the epoch). The queue with the least remaining budget comes first.

    ``hours``: the hours of the longest window, for all requested queues. A window has whole hours.
    """
    if not objectives:
        return ()
    sums = [each for place, objective in enumerate(objectives) for each in _sum_columns(place, objective, end)]
    rows = hours.where(F.col("start_at") < end).groupBy("target", "queue").agg(*sums).collect()
    return sort_by_budget(
        Level(objective, row.target, row.queue, *(row[f"{name}_{place}"] or 0.0 for name in _SUMS))
        for row in rows
        for place, objective in enumerate(objectives)
        if objective.applies_to(row.target, row.queue)
    )


def sort_by_budget(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Sort by remaining budget, the least first and unknown budgets last."""

    def order(each: Level) -> tuple[Any, ...]:
        left = each.budget_left
        return left is None, left or 0.0, each.target, each.queue, each.objective.name

    return tuple(sorted(levels, key=order))


_SUMS: Final = ("counted", "bad", "last", "last_bad")


def _sum_columns(place: int, objective: Objective, end: float) -> list[Column]:
    lasted = F.col(_MAP_COLUMNS[objective.figure])
    known, bad = _sum_ms(lasted), _sum_ms(lasted, objective.below)
    if objective.figure == "oldest_seconds":
        empty = F.coalesce(F.element_at("ready_ms", F.lit(0.0)), F.lit(0))
        known += F.greatest(F.lit(0), F.least(empty, F.round(F.col("seconds") * 1000).cast("long") - known))
    inside, last = F.col("start_at") >= end - objective.window_s, F.col("start_at") >= end - DAY_S
    parts = zip(_SUMS, ((inside, known), (inside, bad), (last, known), (last, bad)), strict=True)
    return [F.sum(F.when(which, each / 1000).otherwise(0.0)).alias(f"{name}_{place}") for name, (which, each) in parts]


def _sum_ms(lasted: Column, least: float | None = None) -> Column:
    """Return the milliseconds of all values, or of all values at or above ``least``. A missing map counts as 0."""
    entries = F.map_entries(F.coalesce(lasted, F.create_map().cast("map<double,bigint>")))
    wanted = entries if least is None else F.filter(entries, lambda each: each.key >= least)
    return F.aggregate(wanted, F.lit(0).cast("long"), lambda so_far, each: so_far + each.value)
