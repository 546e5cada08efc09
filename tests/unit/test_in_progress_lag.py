"""Total pops and completions, from current rows and late counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, StateColumn
from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.reasons import Reason
from qmon.monitor.state.rates.table_flow_track import InProgressLag

T = ObjectName("public", "t")
DELETED_WHEN_DONE = Layout("q", "status", T, id="id", state=StateColumn("s", 1, 2, None, 3))
STATE_WHEN_DONE = Layout("q", "batch_fast", T, id="id", state=StateColumn("s", 0, 1, 2, 3))
LAYOUTS = st.sampled_from([DELETED_WHEN_DONE, STATE_WHEN_DONE])
# Short enough for every session to report within the lag of counters.
POLL_S = 0.25


class Queue:
    """The work of consumers, the part that their sessions have reported, and the resulting totals of a lag track."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.lag, self.at = layout, InProgressLag(), 0.0
        self.popped = self.completed = self.late_pops = self.late_completions = self._in_progress = 0
        self.told_popped = self.told_completed = 0.0

    def pop(self, number: int) -> None:
        self.popped += number
        self.late_pops += number

    def complete(self, number: int) -> None:
        number = min(number, self.popped - self.completed)
        self.completed += number
        self.late_completions += number

    def poll(self, pops: int, completions: int, in_progress: int | None = None) -> None:
        """Poll after sessions have reported up to this number of further pops and completions."""
        pops, completions = min(pops, self.late_pops), min(completions, self.late_completions)
        self.late_pops -= pops
        self.late_completions -= completions
        deletes = self.layout is DELETED_WHEN_DONE
        work = CommittedWork(0, pops if deletes else pops + completions, completions if deletes else 0, exact=True)
        now = self.popped - self.completed if in_progress is None else in_progress
        self.at += POLL_S
        flow = self.lag.record_work(work, self.layout, now - self._in_progress, None, self.at)
        self._in_progress = now
        assert flow.popped is not None
        assert flow.completed is not None
        assert min(flow.popped, flow.completed) >= 0
        self.told_popped += flow.popped
        self.told_completed += flow.completed

    def told(self) -> tuple[float, float]:
        return self.told_popped, self.told_completed


STEPS = st.lists(st.tuples(*[st.integers(0, 20)] * 4), max_size=25)


@given(LAYOUTS, STEPS)
def test_totals_are_what_moved_whatever_sessions_report_late(
    layout: Layout, steps: Sequence[tuple[int, int, int, int]]
) -> None:
    queue = Queue(layout)
    for pops, completions, pops_reported, completions_reported in steps:
        queue.pop(pops)
        queue.complete(completions)
        queue.poll(pops_reported, completions_reported)
        assert queue.told_popped <= queue.popped
        assert queue.told_completed <= queue.completed
    queue.poll(queue.late_pops, queue.late_completions)
    assert queue.told() == (queue.popped, queue.completed)


@given(LAYOUTS, st.integers(-50, 50).filter(bool))
def test_a_change_that_no_session_reports_within_twelve_seconds_had_another_cause(
    layout: Layout, strangers: int
) -> None:
    queue = Queue(layout)
    queue.pop(100)
    queue.poll(100, 0)
    for _ in range(50):
        queue.poll(0, 0, in_progress=100 + strangers)
    before = queue.told()
    queue.pop(10)
    queue.complete(4)
    queue.poll(10, 4, in_progress=106 + strangers)
    assert queue.told() == (before[0] + 10, before[1] + 4)


@given(LAYOUTS)
def test_an_unknown_number_in_progress_leaves_nothing_to_be_explained(layout: Layout) -> None:
    lag = InProgressLag()
    nothing = CommittedWork(0, 0, 0, exact=True)
    lag.record_work(nothing, layout, 7, None, 2.0)
    lag.record_work(nothing, layout, None, None, 4.0)
    flow = lag.record_work(CommittedWork(0, 3, 0, exact=True), layout, 3, None, 6.0)
    assert (flow.popped, flow.completed) == (3, 0)


def test_pops_or_completions_that_a_carried_change_leaves_at_0_are_not_certain() -> None:
    lag = InProgressLag()
    updates = CommittedWork(0, 4, 0, exact=True)
    lag.record_work(CommittedWork(0, 0, 0, exact=True), STATE_WHEN_DONE, -5, None, 2.0)
    assert lag.why_no_pop(2.0, None) is None
    flow = lag.record_work(updates, STATE_WHEN_DONE, 0, None, 4.0)
    assert (flow.popped, flow.completed) == (0, 4)
    assert lag.why_no_pop(19.0, None) is Reason.COUNTERS_STAND_STILL
    assert lag.why_no_pop(19.1, None) is None
    assert lag.why_no_completion(4.0) is None
    lag.record_work(CommittedWork(0, 0, 0, exact=True), STATE_WHEN_DONE, 9, None, 6.0)
    flow = lag.record_work(updates, STATE_WHEN_DONE, 0, None, 8.0)
    assert (flow.popped, flow.completed) == (4, 0)
    assert lag.why_no_completion(8.0) is Reason.COUNTERS_STAND_STILL


@pytest.mark.parametrize("layout", [DELETED_WHEN_DONE, STATE_WHEN_DONE], ids=["deleted when done", "state when done"])
def test_rows_deleted_while_the_head_moves_may_have_been_popped(layout: Layout) -> None:
    deleted = CommittedWork(12, 0, 12, exact=True)
    lag = InProgressLag()
    lag.record_work(deleted, layout, 0, None, 2.0)
    assert lag.why_no_pop(3.0, 1.0) is Reason.DELETES_UNCLEAR
    assert lag.why_no_pop(3.0, None) is None, "the head stands"
    assert lag.why_no_pop(3.0, 20.0) is None
    assert lag.why_no_pop(20.0, 1.0) is None
    installed = InProgressLag()
    installed.record_work(deleted, replace(layout, source=LayoutSource.REGISTRY), 0, None, 2.0)
    assert installed.why_no_pop(3.0, 1.0) is None, "the design is known"


def test_completions_that_delete_are_no_pops() -> None:
    lag = InProgressLag()
    lag.record_work(CommittedWork(0, 0, 5, exact=True), DELETED_WHEN_DONE, -5, None, 2.0)
    assert lag.why_no_pop(3.0, 1.0) is None
