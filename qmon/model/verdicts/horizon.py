"""Dead rows that nobody may remove, and that every pop passes."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.rates.usage import QueueUse
from qmon.model.samples.horizon import HorizonSample, VersionStoreSample
from qmon.model.text import size
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput
from qmon.model.waits.horizon_holders import culprit, who

TIMES: Final = 3.0
"""Rows touched per pop have grown so many times since the holder began."""
LEAST_ROWS: Final = 10.0
"""Fewer rows touched per pop cost nothing that one would feel."""
MANY_ROWS: Final = 50.0
"""Where nobody watched before the holder began: so many rows touched per pop are no queue at work."""
_DEAD: Final = 10_000
_DEAD_S: Final = 60.0
LEAST_READS: Final = 50.0
"""Fewer pages read per pop are what a few indexes cost (SQL Server)."""
LARGE: Final = 2**30
"""So many bytes of row versions are a burden to everybody on the server (SQL Server)."""


def _held(s: RuleInput) -> str | None:
    holder = culprit(s.snapshot.horizon) if s.snapshot is not None else None
    use = s.queue.use
    if holder is None or use is None:
        return None
    if use.dead is None and s.snapshot is not None and s.snapshot.version_store is not None:
        return _versions(holder, s.snapshot.version_store, use)
    dead = f"{use.dead or 0:,} dead row{'' if use.dead == 1 else 's'}"
    if _slow(use):
        then = f", {use.before:,.1f} before" if use.before is not None else ""
        return f"{who(holder)} keeps {dead} from vacuum: {use.rows_per_pop.value or 0:,.0f} rows touched per pop{then}"
    many = (use.dead or 0) >= max(_DEAD, 2.0 * (s.ready.value or 0.0))
    if many and (holder.held_s is None or holder.held_s >= _DEAD_S):
        return f"{who(holder)} keeps {dead} from vacuum"
    return None


def _versions(holder: HorizonSample, store: VersionStoreSample, use: QueueUse) -> str | None:
    """Where old rows are in a version store, with ghosts in the tables that nobody counts: by what pops read."""
    whose = " of all databases" if store.whole_server else ""
    keeps = f"{who(holder)} keeps {size(store.total)} of row versions{whose}"
    reads = use.touched.value
    if reads is not None and use.before is not None and reads >= max(LEAST_READS, TIMES * use.before):
        return f"{keeps}: {reads:,.0f} logical reads per pop, {use.before:,.1f} before"
    return keeps if store.total >= LARGE and (holder.held_s is None or holder.held_s >= _DEAD_S) else None


def _slow(use: QueueUse) -> bool:
    rows = use.rows_per_pop.value
    if rows is None or rows < LEAST_ROWS or not use.dead:
        return False
    return rows >= MANY_ROWS if use.before is None else rows >= TIMES * max(use.before, 1.0)


HORIZON = Rule("vacuum held back", Severity.WARNING, 4.0, _held, "3")
