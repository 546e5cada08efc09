"""What the calls of a statement read now and read before, and whether another plan is behind it. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from qmon.model.samples.plans import PlanSample

# How many times more pages a call must read than before.
TIMES: Final = 3.0
# Pages a call below which nobody would notice.
LEAST_READS: Final = 50.0
# Calls on either side that make an average.
FEWEST: Final = 20

_EVERY_S: Final = 300.0
# Seconds from one queue to the next: where there are many, each comes round less often.
_EACH_S: Final = 30.0


def every_s(queues: int) -> float:
    """Seconds between two readings of one of so many queues, or more where one took long."""
    return max(_EVERY_S, _EACH_S * queues)


@dataclass(frozen=True, slots=True)
class StatementUse:
    """One statement: pages that a call reads, now and before; ``None``: it did not run then.

    ``plan`` and ``plan_before``: by which most calls ran. ``mean_s``, ``mean_before_s``: seconds a call took.
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
    def unexplained(self) -> bool:
        """Whether a call reads much more than before, and plans are not told apart."""
        return not self.plan.plan_id and self._reads_more

    @property
    def _reads_more(self) -> bool:
        if self.reads is None or self.reads_before is None:
            return False
        enough = min(self.calls, self.calls_before) >= FEWEST
        return enough and self.reads >= max(LEAST_READS, TIMES * self.reads_before)

    @property
    def regressed(self) -> bool:
        """Whether another plan reads much more than the one before; never where plans are not told apart."""
        return self._reads_more and self.plan_before is not None and self.plan.plan_id != self.plan_before.plan_id

    @property
    def worse(self) -> bool:
        """Whether one of these two is true."""
        return self.regressed or self.unexplained


def statements(plans: Iterable[PlanSample]) -> tuple[StatementUse, ...]:
    """What each statement that ran lately reads, those first that are worse than before, then what reads most."""
    by_statement: defaultdict[str, list[PlanSample]] = defaultdict(list)
    for plan in plans:
        by_statement[plan.statement_id].append(plan)
    found = [_use(each) for each in by_statement.values() if any(plan.calls for plan in each)]
    return tuple(sorted(found, key=lambda use: (not use.worse, -(use.reads or 0.0) * use.calls)))


def _use(plans: list[PlanSample]) -> StatementUse:
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
