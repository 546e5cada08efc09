"""Carry changes in messages in progress over to later polls, whose counters report the work behind the changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.rates.flow import Flow, completes_by_delete, moves_of_state, table_flow
from qmon.model.reasons import Reason
from qmon.monitor.state.rates.standing_counters import RECENT_S

# A session reports its counters within a second while it works. From PostgreSQL 15 on, it reports its last work 10 s
# later (`PGSTAT_IDLE_INTERVAL` in `pgstat.c`). A change that is unexplained for longer than this (seconds) has another
# cause.
_LAG_S: Final = 12.0


class InProgressLag:
    """The change in messages in progress that the counters of one table have not explained yet.

    The rows show a pop immediately. The counters show the pop when the consumer's session reports its work, up to 10
    seconds later. Without the carried change, such a pop would count as half a pop and half a completion. Each poll
    reads the counters before the rows. The totals are therefore never too high, and they are exact after every session
    has reported.
    """

    def __init__(self) -> None:
        self._no_pop_at = self._no_completion_at = self._deleted_at = float("-inf")
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
        carried, updates = self._unexplained_change.total(at), self._uncounted_updates.total(at)
        change = carried + in_progress_change
        flow = table_flow(work, layout, change, in_table_change, updates)
        popped = flow.popped or 0.0
        explained = 2 * popped - moves
        self._unexplained_change.record_left(change - explained, (in_progress_change, -explained), at)
        self._uncounted_updates.record_left(updates + work.updated - popped, (work.updated,), at)
        if carried and work.updated:
            self._no_pop_at = at if not popped else self._no_pop_at
            self._no_completion_at = at if not flow.completed else self._no_completion_at
        if layout.source is not LayoutSource.REGISTRY and not popped:
            completed = max(0, -in_progress_change) if completes_by_delete(layout) else 0
            self._deleted_at = at if work.deleted > completed else self._deleted_at
        return flow

    def why_no_pop(self, at: float, moved_s: float | None, within_s: float = RECENT_S) -> Reason | None:
        """Return why a pop rate of 0 may be wrong; ``None`` if 0 is right.

        A carried change with another cause may have kept recent updates from counting as pops. If the head moves, the
        deletion of a row may have been a pop instead of a completion.

        Args:
            at: server clock, seconds.
            moved_s: seconds since the head moved; ``None`` if it was not seen to move.
            within_s: maximum age of both findings.
        """
        if at - self._no_pop_at <= within_s:
            return Reason.COUNTERS_STAND_STILL
        deleted = at - self._deleted_at <= within_s and moved_s is not None and moved_s <= within_s
        return Reason.DELETES_UNCLEAR if deleted else None

    def why_no_completion(self, at: float) -> Reason | None:
        """Return why a completion rate of 0 may be wrong, as ``why_no_pop`` does for pops."""
        return Reason.COUNTERS_STAND_STILL if at - self._no_completion_at <= RECENT_S else None


class _Carried:
    """A number that is carried from poll to poll, split by age. Parts older than the lag of counters are forgotten."""

    def __init__(self) -> None:
        # The parts, each with the time of its poll (server clock, seconds), oldest first.
        self._parts: deque[tuple[float, float]] = deque()

    def total(self, at: float) -> float:
        """Return the number that is carried to the poll at ``at``."""
        while self._parts and at - self._parts[0][0] > _LAG_S:
            self._parts.popleft()
        return sum(part for _, part in self._parts)

    def record_left(self, left: float, added: Sequence[float], at: float) -> None:
        """Add the parts of the poll at ``at``, then keep only the newest parts that add up to ``left``."""
        parts = [*self._parts, *((at, part) for part in added)]
        self._parts.clear()
        while left and parts:
            part_at, part = parts.pop()
            if part * left > 0:
                part = min(part, left, key=abs)
                self._parts.appendleft((part_at, part))
                left -= part
