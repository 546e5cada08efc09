"""Compare the buffers that a statement reads per call with earlier calls, and detect changes of its plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from qmon.model.samples.plan_samples import PlanSample

# Minimum ratio of the buffers per call now to the buffers per call before.
MIN_READS_RATIO: Final = 3.0

# Minimum buffers per call. Statements that read fewer buffers are not reported.
MIN_READS: Final = 50.0

# Minimum number of calls, now and before, from which an average is computed.
MIN_CALLS: Final = 20

_EVERY_S: Final = 300.0

# Seconds between the readings of two queues. The more queues there are, the less often each queue is read.
_EACH_S: Final = 30.0


def reading_interval_s(queues: int) -> float:
    """Return the minimum seconds between two readings of one queue."""
    return max(_EVERY_S, _EACH_S * queues)


@dataclass(frozen=True, slots=True)
class StatementUse:
    """One statement and the buffers that each call reads, now and before (``None`` if it did not run in that time).

    ``plan`` and ``plan_before``: the plan that most calls used. ``mean_s`` and ``mean_before_s``: seconds per call.
    """

    plan: PlanSample
    plan_before: PlanSample | None
    calls: int
    reads: float | None
    calls_before: int
    reads_before: float | None
    mean_s: float | None
    mean_before_s: float | None

    @property
    def is_unexplained(self) -> bool:
        """True if a call reads much more than before, and the server does not distinguish plans."""
        return not self.plan.plan_id and self._reads_more

    @property
    def _reads_more(self) -> bool:
        if self.reads is None or self.reads_before is None:
            return False
        enough = min(self.calls, self.calls_before) >= MIN_CALLS
        return enough and self.reads >= max(MIN_READS, MIN_READS_RATIO * self.reads_before)

    @property
    def is_regressed(self) -> bool:
        """True if the statement has another plan than before and reads much more.

        Always false if the server does not distinguish plans.
        """
        return self._reads_more and self.plan_before is not None and self.plan.plan_id != self.plan_before.plan_id

    @property
    def is_worse(self) -> bool:
        """True if ``is_regressed`` or ``is_unexplained`` is true."""
        return self.is_regressed or self.is_unexplained


def statement_uses(plans: Iterable[PlanSample]) -> tuple[StatementUse, ...]:
    """Return the use of each statement that ran recently, those that got worse first, then by buffers read."""
    by_statement: defaultdict[str, list[PlanSample]] = defaultdict(list)
    for plan in plans:
        by_statement[plan.statement_id].append(plan)
    found = [_statement_use(each) for each in by_statement.values() if any(plan.calls for plan in each)]
    return tuple(sorted(found, key=lambda use: (not use.is_worse, -(use.reads or 0.0) * use.calls)))


def _statement_use(plans: list[PlanSample]) -> StatementUse:
    calls, before = sum(plan.calls for plan in plans), sum(plan.calls_before for plan in plans)
    old = max(plans, key=lambda plan: plan.calls_before)
    spent = sum(plan.spent_s for plan in plans)
    spent_before = [plan.spent_before_s for plan in plans if plan.spent_before_s is not None]
    return StatementUse(
        max(plans, key=lambda plan: plan.calls),
        old if before else None,
        calls,
        sum(plan.reads for plan in plans) / calls if calls else None,
        before,
        sum(plan.reads_before for plan in plans) / before if before else None,
        spent / calls if calls else None,
        sum(spent_before) / before if before and spent_before else None,
    )
