"""Track the messages moved on one table from poll to poll, and the reasons why the resulting rates may be wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.rates.committed_rows import CommittedWork, Shares, committed_work, reconcile_with_rows, update_shares
from qmon.model.rates.flow import Flow, completes_by_delete, moves_of_state, table_flow
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state import sample_figures
from qmon.monitor.state.rates.standing_counters import RECENT_S, ready_rows


class TableFlowTrack:
    """The flow of one queue from the counters of its table. Not thread-safe."""

    def __init__(self) -> None:
        self._committed = CommittedTrack()
        self._lag = InProgressLag()
        self._balance = ReadyBalance()

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._committed.start_over()
        self._lag.start_over()
        self._balance.start_over()

    def record_poll(
        self, before: QueueSamples, samples: QueueSamples, in_progress_change: int | None, at: float
    ) -> Flow | None:
        """Return the messages moved between two polls; ``None`` if the counters were reset or not read.

        ``at``: time of the later poll, server clock, seconds. ``in_progress_change``: see ``table_flow``.
        """
        if before.counters is None or samples.counters is None:
            return None
        work = self._committed.record_counters(
            before.counters, samples.counters, samples.layout, sample_figures.rows_counted(samples)
        )
        if work is None:
            self.start_over()
            return None
        table = None
        if (
            work.exact
            and samples.counters.vacuums == before.counters.vacuums
            and samples.counters.analyzes == before.counters.analyzes
        ):
            table = samples.counters.live - before.counters.live
        flow = self._lag.record_work(work, samples.layout, in_progress_change, table, at)
        self._balance.record_flow(before, samples, work, flow, at)
        return flow

    def why_unclear(self, at: float) -> Reason | None:
        """Return why rates of pops and completions may be wrong, even if they are not 0; ``None`` if they are right."""
        if self._balance.has_uncounted_pops(at):
            return Reason.UPDATES_UNCLEAR
        return Reason.UPDATES_ARE_NO_POPS if self._balance.has_other_updates(at) else None

    def why_no_pop(self, at: float, moved_s: float | None, within_s: float = RECENT_S) -> Reason | None:
        """Return why a pop rate of 0 may be wrong; see ``InProgressLag.why_no_pop``."""
        return self._lag.why_no_pop(at, moved_s, within_s)

    def why_no_completion(self, at: float) -> Reason | None:
        """Return why a completion rate of 0 may be wrong."""
        return self._lag.why_no_completion(at)


class CommittedTrack:
    """The committed work on one table and, if rows are counted, the row count that follows from it.

    Each poll guesses which work was rolled back. The errors of these guesses do not accumulate. The reported totals
    differ from the rows by at most one second's work.
    """

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._shares = Shares()
        self._rows: float | None = None

    def record_counters(
        self, before: CounterSample, now: CounterSample, layout: Layout, rows: float | None
    ) -> CommittedWork | None:
        """Return the work between two samples; ``None`` if the counters were reset.

        ``rows``: the table's current row count; ``None`` if it is not counted.
        """
        work = committed_work(before, now, layout, self._shares)
        if work is None:
            self.start_over()
            return None
        if rows is not None and self._rows is not None:
            work = reconcile_with_rows(work, rows - self._rows, before, now)
        self._shares = update_shares(before, now, work, self._shares)
        by_work = None if self._rows is None else self._rows + work.inserted - work.deleted
        tried = now.inserted - before.inserted + now.deleted - before.deleted
        untold = rows is None or by_work is None or abs(rows - by_work) > 2 * tried
        self._rows = rows if untold else by_work  # rows were added or removed without being counted
        return work


# A session that works reports its counters within this many seconds.
_REPORTED_S: Final = 2.5

# At most this number of messages, plus this share of the counted pops, may leave without a counted pop.
_MIN_UNCOUNTED_POPS: Final = 5.0
_UNCOUNTED_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class _Balance:
    """The messages of one poll, at ``at`` (server clock, seconds). ``inserted_less_growth``: left or were deleted."""

    at: float
    left: float
    inserted_less_growth: float
    popped: float


class ReadyBalance:
    """The pops of one queue with states, counted in two ways.

    ``table_flow`` assumes that every update is a pop or the end of a pop. If a consumer finishes a ready message with a
    single update, that update counts as half a pop. If a worker reports its progress, each report counts as half a pop.
    The number of ready messages reveals both errors: more messages leave than are popped, or fewer.
    """

    def __init__(self) -> None:
        self._polls: deque[_Balance] = deque()
        self._layout: Layout | None = None
        self._popped_at = float("-inf")

    def start_over(self) -> None:
        """Start over after a gap or a counter reset."""
        self._polls.clear()
        self._popped_at = float("-inf")

    def record_flow(
        self, before: QueueSamples, samples: QueueSamples, work: CommittedWork, flow: Flow, at: float
    ) -> None:
        """Record one poll, at ``at`` (server clock, seconds).

        After a poll without exact figures, earlier polls are forgotten.
        """
        then, now, layout = ready_rows(before), ready_rows(samples), samples.layout
        self._layout = layout if moves_of_state(work, layout) is not None else None
        self._popped_at = at if flow.popped else self._popped_at
        # A message that becomes due is ready, although no row has changed.
        has_due_times = layout.due_at is not None or (layout.part is not None and "scheduled" in layout.part.kinds)
        exact = work.exact and not has_due_times and self._layout is not None
        if then is None or now is None or flow.popped is None or not exact:
            self._polls.clear()
            return
        # Deleted rows may have been ready. Messages given back are ready again, so they reduce the number that left.
        less = work.inserted - (now - then)
        self._polls.append(_Balance(at, less - work.deleted, less, flow.popped))
        while at - self._polls[0].at > RECENT_S + _LAG_S:
            self._polls.popleft()

    def has_uncounted_pops(self, at: float) -> bool:
        """Return whether more messages have left ``ready`` in the last seconds than were popped or deleted."""
        recent = [poll for poll in self._polls if at - poll.at <= RECENT_S]
        left = sum(poll.left for poll in recent if at - poll.at >= _REPORTED_S)
        popped = sum(poll.popped for poll in recent)
        return left > popped * (1 + _UNCOUNTED_SHARE) + _MIN_UNCOUNTED_POPS

    def has_other_updates(self, at: float) -> bool:
        """Return whether updates of the last seconds may be neither pops nor ends of pops.

        They are, if fewer messages have left ``ready`` than were popped. If the layout has a column that workers update
        while they work, all updates may be, until the number of ready messages has confirmed the pops.
        """
        if self._layout is None or self._layout.source is LayoutSource.REGISTRY or at - self._popped_at > RECENT_S:
            return False
        reports = self._layout.owner is not None and self._layout.owner.kind in ("heartbeat", "lease")
        polls = self._polls
        if not polls or at - polls[0].at < 2 * _REPORTED_S:
            return reports
        popped = sum(
            poll.popped
            for poll in polls
            if _REPORTED_S <= at - poll.at <= RECENT_S and poll.at - polls[0].at >= _REPORTED_S
        )
        left = max(0.0, sum(poll.inserted_less_growth for poll in polls))
        return popped > left * (1 + _UNCOUNTED_SHARE) + (1.0 if reports else _MIN_UNCOUNTED_POPS)


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
