"""Dead rows that nobody may remove, and that every pop passes."""

from __future__ import annotations

from typing import Final

from qmon.model.holders import culprit, who
from qmon.model.use import QueueUse
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import Signs
from qmon.model.view import Severity

TIMES: Final = 3.0
"""Rows touched per pop have grown so many times since the holder began."""
LEAST_ROWS: Final = 10.0
"""Fewer rows touched per pop cost nothing that one would feel."""
MANY_ROWS: Final = 50.0
"""Where nobody watched before the holder began: so many rows touched per pop are no queue at work."""
_DEAD: Final = 10_000
_DEAD_S: Final = 60.0


def _held(s: Signs) -> str | None:
    holder = culprit(s.snapshot.horizon) if s.snapshot is not None else None
    use = s.queue.use
    if holder is None or use is None:
        return None
    dead = f"{use.dead or 0:,} dead row{'' if use.dead == 1 else 's'}"
    if _slow(use):
        then = f", {use.before:,.1f} before" if use.before is not None else ""
        return f"{who(holder)} keeps {dead} from vacuum: {use.rows_per_pop.value or 0:,.0f} rows touched per pop{then}"
    many = (use.dead or 0) >= max(_DEAD, 2.0 * (s.ready.value or 0.0))
    if many and (holder.held_s is None or holder.held_s >= _DEAD_S):
        return f"{who(holder)} keeps {dead} from vacuum"
    return None


def _slow(use: QueueUse) -> bool:
    rows = use.rows_per_pop.value
    if rows is None or rows < LEAST_ROWS or not use.dead:
        return False
    return rows >= MANY_ROWS if use.before is None else rows >= TIMES * max(use.before, 1.0)


HORIZON = Rule("horizon-bound", Severity.WARNING, 4.0, _held, "3")
