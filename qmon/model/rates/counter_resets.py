"""Detect whether the server discarded a table's counters between two polls, so that their difference means nothing.

SQL Server keeps these counters with its in-memory metadata of a heap or index, and starts from 0 each time it loads the
metadata again. A counter that decreased proves such a reset. A counter that has grown past its old value since the
reset hides it. So several values are compared: all totals of the table and of its indexes, the number of counted
partitions, whether the table was altered, and the numbers drawn for new rows, which no server discards.

Two cases cannot be detected. In the first, a table has no such numbers, and all its totals have grown past their old
values between two polls. In the second, a partition was lost, and the other partitions have made up for it in that
time.
"""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.rates.queue_use import IndexKey, all_work_between
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.samples.usage_samples import UseSample

UsesByIndex = Mapping[IndexKey, UseSample]


def may_be_reset(
    before: CounterSample, now: CounterSample, drawn: int | None, uses: tuple[UsesByIndex, UsesByIndex]
) -> bool:
    """Return whether the counters were discarded, or may have been.

    Args:
        before: the table's counters in the previous poll.
        now: the table's counters in this poll.
        drawn: numbers drawn for rows of the table in between; ``None`` if it has no such numbers.
        uses: the totals of the table and its indexes in both polls.
    """
    if now.inserted < before.inserted or now.updated < before.updated or now.deleted < before.deleted:
        return True
    if now.altered != before.altered or (now.partitions or 0) < (before.partitions or 0):
        return True
    if all_work_between(*uses) is None:
        return True
    # Fewer rows were inserted than numbers drawn, and all counted rows may have been inserted since.
    return drawn is not None and now.inserted - before.inserted < drawn and now.inserted <= drawn
