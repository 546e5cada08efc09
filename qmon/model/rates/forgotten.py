"""Whether the server forgot between two polls what it had counted of a table: then their difference means nothing.

SQL Server keeps these counters with what it has in memory of a heap or index, and counts from 0 each time it takes that
into memory. A counter that is smaller than before tells it; one that has already grown past its old value does not. So
everything is looked at that is forgotten with it or tells of it: all totals of the table and of its indexes, how many
partitions are counted, whether the table was altered, and the numbers drawn for new rows, which no server forgets.

What this cannot detect: a table without such numbers whose totals have all grown past their old values between two
polls, and a partition whose loss the others have made up for in that time.
"""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.rates.usage import Key, works_between
from qmon.model.samples.polled import CounterSample
from qmon.model.samples.usage import UseSample

Uses = Mapping[Key, UseSample]


def forgotten(before: CounterSample, now: CounterSample, drawn: int | None, uses: tuple[Uses, Uses]) -> bool:
    """Whether it did, or may have.

    Args:
        before: the table's counters in the poll before.
        now: the same in this poll.
        drawn: numbers drawn for rows of the table in between; ``None`` where it has none.
        uses: the totals of the table and its indexes in both polls.
    """
    if now.inserted < before.inserted or now.updated < before.updated or now.deleted < before.deleted:
        return True
    if now.altered != before.altered or (now.partitions or 0) < (before.partitions or 0):
        return True
    if works_between(*uses) is None:
        return True
    # Fewer rows came than numbers were drawn, and all that is counted may have come since.
    return drawn is not None and now.inserted - before.inserted < drawn and now.inserted <= drawn
