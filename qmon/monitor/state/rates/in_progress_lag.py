"""Carry changes in messages in progress over to the polls whose counters report the work behind them."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.rates.flow import Flow, moves_of_state, table_flow

# A session reports its counters within a second while it works, and 10 s after its last work from PostgreSQL 15 on
# (`PGSTAT_IDLE_INTERVAL` in `pgstat.c`). What remains unexplained for this long (s) had another cause.
_LAG_S: Final = 60.0


class InProgressLag:
    """The change in messages in progress that the counters of one table have not explained yet.

    Rows show a pop at once. Counters show it when the consumer's session reports them, up to 10 seconds later. Without
    the carried change, a pop seen first in the rows and then in the counters would count as half a pop and half a
    completion. Each poll reads the counters before the rows, so the totals are never too high, and they are exact once
    every session has reported.
    """

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        """Start over after a gap, a counter reset or a poll without a count of the messages in progress."""
        self._unexplained_change = _Carried()
        self._uncounted_updates = _Carried()

    def record_work(
        self,
        work: CommittedWork,
        layout: Layout,
        in_progress_change: int | None,
        in_table_change: int | None,
        at: float,
    ) -> Flow:
        """Return the messages moved, as ``table_flow`` does, at ``at`` (server clock, seconds)."""
        moves = moves_of_state(work, layout)
        if moves is None or in_progress_change is None:
            self.start_over()
            return table_flow(work, layout, in_progress_change, in_table_change)
        change = self._unexplained_change.left + in_progress_change
        flow = table_flow(work, layout, change, in_table_change, self._uncounted_updates.left)
        popped = flow.popped or 0.0
        self._unexplained_change.record_left(change - (2 * popped - moves), at)
        self._uncounted_updates.record_left(self._uncounted_updates.left + work.updated - popped, at)
        return flow


class _Carried:
    """A number carried from poll to poll. The part of it that lasts longer than the lag of counters is forgotten."""

    def __init__(self) -> None:
        self.left = 0.0
        self._lasting = 0.0
        self._period_end = float("-inf")

    def record_left(self, left: float, at: float) -> None:
        self.left = left
        self._lasting = min(self._lasting, left, key=abs) if self._lasting * left > 0 else 0.0
        if at > self._period_end:
            self.left -= self._lasting
            self._lasting, self._period_end = self.left, at + _LAG_S
