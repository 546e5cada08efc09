"""Statistics that plans are made by: far from the truth, or made anew so often that it hurts."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.layout.layout import TableName
from qmon.model.samples.usage import StatisticsSample
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

LEAST_ROWS: Final = 10_000
"""Of a smaller table every plan is good enough."""
TIMES: Final = 10.0
OFTEN: Final = 4
"""So many updates in ``use_track.ANALYZED_S`` seconds cost more than they are worth."""


def _statistics(s: RuleInput) -> str | None:
    use = s.queue.use
    if use is not None and use.analyzed >= OFTEN:
        return f"the statistics of {_table(s, 0)} were updated {use.analyzed} times in the last 20 s"
    if s.layout is None or s.layout.routines or s.samples is None or s.snapshot is None:
        return None  # no statement of an installed design is planned by them
    tables = [c.table_id for c in (s.samples.counters, s.samples.data_counters) if c is not None]
    for sample in s.snapshot.statistics or ():
        if sample.table_id in tables and _stale(sample):
            when = "never updated"
            if sample.updated_at is not None:
                when = f"updated {duration(s.snapshot.sampled_at - sample.updated_at)} ago"
            believed = "nothing" if sample.estimated_rows is None else f"{sample.estimated_rows:,} rows"
            name = _table(s, tables.index(sample.table_id))
            return f"plans are made for {believed} in {name}, which has {sample.rows:,} ({when}): ANALYZE helps"
    return None


def _stale(sample: StatisticsSample) -> bool:
    known, rows = sample.estimated_rows or 0, sample.rows
    most, least = max(known, rows), max(1, min(known, rows))
    return most >= LEAST_ROWS and most >= TIMES * least and sample.modified > 0


def _table(s: RuleInput, place: int) -> str:
    layout = s.layout
    named: TableName | None = None
    if layout is not None:
        named = layout.table if place == 0 else layout.data_table
    return str(named) if named is not None else "the queue's table"


STATISTICS = Rule("statistics", Severity.NOTICE, 75.0, _statistics, "3")
"""The hold time gives the server's own upkeep its turn: PostgreSQL's autovacuum comes round once a minute."""
