"""Flow: messages pushed, popped and completed between two polls, from committed work or ring positions."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.samples.group_samples import StepTotals
from qmon.model.samples.polled_samples import RingSample

# Steps counted by time are read this many seconds late, because a step is committed later than its timestamp.
STEPS_LAG_S: Final = 1.0
# A step that was committed between two reads of one poll is counted two polls later at the latest, or once an earlier
# poll is later than the step by ``STEPS_LAG_S``.
_SKEW_POLLS: Final = 2


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages moved between two polls.

    A field is ``None`` if this design has no such step, or if qmon cannot separate the step from another step. ``net``:
    change of the number of ready messages.
    """

    pushed: float
    popped: float | None
    completed: float | None
    net: float | None

    @property
    def has_movement(self) -> bool:
        """True if any movement is known."""
        return bool(self.pushed or self.popped or self.net)


@dataclass(frozen=True, slots=True)
class MovedMessages:
    """Messages known to have moved between two polls, step by step. A field is ``None`` if its number is unknown."""

    pushed: float | None
    popped: float | None
    completed: float | None


def pops_in_transaction(layout: Layout) -> bool:
    """Return whether a message is in progress only while its consumer's transaction is open.

    In such a queue no row is marked as in progress.
    """
    if layout.pop == "delete":
        return True
    if layout.ring is not None or layout.traits.completes:
        return False
    return layout.state is None or layout.state.in_progress is None


def table_flow(
    work: CommittedWork,
    layout: Layout,
    in_progress_change: float | None,
    in_table_change: int | None,
    earlier_updates: float = 0.0,
) -> Flow:
    """Return the messages moved, from the committed work on the queue's table.

    Args:
        work: rows inserted, updated and deleted by committed transactions.
        layout: the queue's layout.
        in_progress_change: change of the number of messages in progress; ``None`` if unknown.
        in_table_change: change of the number of live rows; ``None`` if vacuum or analyze ran in between.
        earlier_updates: updates before this work that may have been pops but were not counted as pops.
    """
    moves, by_delete = moves_of_state(work, layout), completes_by_delete(layout)
    if moves is None:
        return _flow_without_progress(work, layout)
    if in_progress_change is None:
        popped = work.updated if by_delete else work.updated / 2
    else:
        # An exit is a message that left "in progress": change = pops - exits, and moves = pops + exits. There cannot be
        # more pops than updated rows.
        limit = work.updated + (earlier_updates if by_delete else 0.0)
        popped = _clamp((moves + in_progress_change) / 2, limit)
    net = work.inserted - popped
    if by_delete and in_progress_change is not None and in_table_change is not None:
        net = in_table_change - (2 * popped - moves)
    return Flow(work.inserted, popped, work.deleted if by_delete else work.updated - popped, net)


def _flow_without_progress(work: CommittedWork, layout: Layout) -> Flow:
    """Return the messages moved on a table whose rows are not marked as in progress or whose mark is unknown."""
    if layout.deletes_on_pop or (layout.state is None and completes_by_delete(layout)):
        return Flow(work.inserted, work.deleted, None, work.inserted - work.deleted)
    if layout.state is not None and layout.state.learnt and layout.traits.completes:
        return Flow(work.inserted, None, None, None)  # an update may be a pop or a completion
    return Flow(work.inserted, work.updated, None, work.inserted - work.updated)


def moves_of_state(work: CommittedWork, layout: Layout) -> float | None:
    """Return the number of pops plus the number of exits. An exit is a message that left "in progress" in any way.

    If done messages have a state, each pop and each exit is an update. Otherwise the completion of a message deletes
    its row, and every other exit is an update. The result is ``None`` if rows are never marked as in progress, or if
    qmon does not know the mark.
    """
    state = layout.state
    if layout.deletes_on_pop or (state is None and (layout.part is None or "in_progress" not in layout.part.kinds)):
        return None
    if state is not None and state.in_progress is None:
        return None
    return work.updated + work.deleted if completes_by_delete(layout) else work.updated


def completes_by_delete(layout: Layout) -> bool:
    """Return whether a message with a state is completed by deleting its row."""
    if layout.part is not None:
        return "done" not in layout.part.kinds
    return layout.state is None or layout.state.done is None


def steps_flow(
    before: StepTotals,
    now: StepTotals,
    in_progress_change: int | None,
    waiting: tuple[int | None, int | None] = (None, None),
    *,
    pops_unknown: bool = False,
    skew: ReadSkew | None = None,
    at: float = 0.0,
) -> Flow | None:
    """Return the messages moved, from recorded steps.

    Pops that are not recorded are computed: completed and failed messages plus the change of messages in progress. If
    completions are not recorded either, pops are pushed messages minus the change of waiting messages. The result is
    ``None`` if pushes are not recorded, or if pops can be neither read nor computed.

    ``waiting``: number of ready and scheduled messages, before and now. ``pops_unknown``: pops cannot be known for a
    reason that lasts, so that the result has only the pushed messages. ``skew``: corrects pops that are computed.
    ``at``: time of this poll, server clock, seconds.
    """
    pushed, popped = _increase(before.pushed, now.pushed), _increase(before.popped, now.popped)
    completed, failed = _increase(before.completed, now.completed), _increase(before.failed, now.failed)
    if popped is None and completed is not None and in_progress_change is not None:
        popped = (skew or ReadSkew()).correct(completed + (failed or 0.0), in_progress_change, at)
    waited, waits = waiting
    if popped is None and now.completed is None and None not in (pushed, waited, waits):
        popped = (skew or ReadSkew()).correct(pushed or 0.0, (waited or 0) - (waits or 0), at)
    if pushed is not None and pops_unknown:
        return Flow(pushed, None, None, None)
    if pushed is None or popped is None:
        return None
    return Flow(pushed, popped, completed, pushed - popped + (failed or 0.0))


class ReadSkew:
    """Pops that are computed from steps and counts. A poll reads the steps before the counts, or as of an earlier time.

    A message that moves between these times is in the counts only. The pops of this poll then seem to be fewer than
    none, and a later poll, which has its step, would have as many too many.
    """

    def __init__(self) -> None:
        # Of each poll, oldest first: its time (server clock, seconds) and the pops that later polls will have too many.
        self._excess: deque[tuple[float, float]] = deque()

    def start_over(self) -> None:
        """Start over after a gap."""
        self._excess.clear()

    def correct(self, steps: float, change: float, at: float) -> float:
        """Return the pops of the poll at ``at``: steps plus the change of a count, without the excess of earlier polls.

        ``steps``: 0 or more. ``at``: server clock, seconds.
        """
        while len(self._excess) > _SKEW_POLLS and self._excess[-2][0] - self._excess[0][0] >= STEPS_LAG_S:
            self._excess.popleft()
        for number, (polled_at, excess) in enumerate(self._excess):
            less = min(steps, excess)
            self._excess[number] = polled_at, excess - less
            steps -= less
        self._excess.append((at, max(0.0, -steps - change)))
        return max(0.0, steps + change)


def _increase(before: int | None, now: int | None) -> float | None:
    return None if before is None or now is None or now < before else float(now - before)


def pushed_total(ring: RingSample) -> int:
    """Return the number of messages ever pushed into a ring and committed. Holes are not counted."""
    return ring.push_last - ring.push_open


def popped_total(ring: RingSample) -> int:
    """Return the number of messages ever popped from a ring and committed. Orphans are not counted."""
    return ring.pop_last - ring.pop_waiting - ring.pop_held


def ring_ready(ring: RingSample) -> int:
    """Return the number of messages in a ring whose number no consumer has drawn."""
    return max(0, ring.span - ring.push_open_ahead)


def ring_flow(prev: RingSample, now: RingSample) -> Flow | None:
    """Return the messages moved through a ring between two samples, or ``None`` if a sequence was set back."""
    if now.push_last < prev.push_last or now.pop_last < prev.pop_last:
        return None
    pushed = max(0, pushed_total(now) - pushed_total(prev))
    popped = max(0, popped_total(now) - popped_total(prev))
    return Flow(float(pushed), float(popped), None, float(ring_ready(now) - ring_ready(prev)))


def _clamp(value: float, limit: int | float) -> float:
    return min(max(value, 0.0), float(limit))
