"""Detect whether the server discarded a table's counters between two polls, so that their difference means nothing.

SQL Server keeps these counters with its in-memory metadata of a heap or index. The counters start from 0 each time the
server loads the metadata again. A counter that decreased proves such a reset. A counter that has grown past its old
value since the reset hides the reset. Several values are therefore compared: all totals of the table and of its
indexes, the number of counted partitions, whether the table was altered, and the numbers issued for new rows, which no
server discards.

Two cases cannot be detected. In the first case, no numbers are issued for the rows of a table, and all totals of the
table have grown past their old values between two polls. In the second case, the counters of a partition were lost, and
the other partitions have counted as much in the meantime.
"""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.rates.queue_use import IndexKey, all_work_between
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.samples.usage_samples import UseSample

UsesByIndex = Mapping[IndexKey, UseSample]


def may_be_reset(
    before: CounterSample, now: CounterSample, issued_numbers: int | None, uses: tuple[UsesByIndex, UsesByIndex]
) -> bool:
    """Return whether the counters were discarded or may have been discarded.

    Args:
        before: the table's counters in the previous poll.
        now: the table's counters in this poll.
        drawn: how many numbers were issued for rows of the table in between; ``None`` if rows have no such numbers.
        uses: the totals of the table and its indexes in both polls.
    """
    if now.inserted < before.inserted or now.updated < before.updated or now.deleted < before.deleted:
        return True
    if now.altered != before.altered or (now.partitions or 0) < (before.partitions or 0):
        return True
    if all_work_between(*uses) is None:
        return True
    # Fewer rows were inserted than numbers were issued, and all counted rows may have been inserted since the reset.
    return (
        issued_numbers is not None
        and now.inserted - before.inserted < issued_numbers
        and now.inserted <= issued_numbers
    )
