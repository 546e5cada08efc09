"""Committed flow from counters: its identities, checked against known transactions."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.layout.layout import Layout, ObjectName, SharedTableQueue, StateColumn
from qmon.model.rates.committed_rows import CommittedWork, Shares, committed_work, update_shares
from qmon.model.rates.flow import (
    STEPS_LAG_S,
    ReadSkew,
    pops_in_transaction,
    ring_flow,
    ring_ready,
    steps_flow,
    table_flow,
)
from qmon.model.samples.group_samples import StepTotals
from qmon.model.samples.polled_samples import CounterSample, RingSample
from qmon.monitor.state.rates.table_flow_track import CommittedTrack

T = ObjectName("public", "t")
FIFO = Layout("q", "fifo", T, id="id")
STATUS = Layout("q", "status", T, id="id", state=StateColumn("s", 1, 2, None, 3))
FAST = Layout("q", "batch_fast", T, id="id", state=StateColumn("s", 0, 1, 2, 3))
ZERO = CounterSample(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8192)
# Too many rows for any session's counts to bring them below 0.
DEEP = replace(ZERO, live=1_000_000)
counts = st.integers(0, 10_000)


def after(
    start: CounterSample, *, ins: int, upd: int, dele: int, ins_lost: int, upd_lost: int, del_lost: int
) -> CounterSample:
    """Return PostgreSQL's counters after this committed and rolled-back work."""
    return replace(
        start,
        inserted=start.inserted + ins + ins_lost,
        updated=start.updated + upd + upd_lost,
        deleted=start.deleted + dele + del_lost,
        live=start.live + ins - dele,
        dead=start.dead + upd + dele + ins_lost + upd_lost,
        modified_since_analyze=(start.modified_since_analyze or 0) + ins + upd + dele,
    )


@given(ins=counts, dele=counts, ins_lost=counts, del_lost=counts)
def test_delete_on_pop_tells_commits_from_rollbacks_on_both_sides(
    ins: int, dele: int, ins_lost: int, del_lost: int
) -> None:
    now = after(DEEP, ins=ins, upd=0, dele=dele, ins_lost=ins_lost, upd_lost=0, del_lost=del_lost)
    work = committed_work(DEEP, now, FIFO, Shares())
    assert work is not None
    assert (work.inserted, work.deleted, work.exact) == (ins, dele, True)


def test_where_a_pop_deletes_a_row_that_has_a_state_what_is_deleted_was_popped() -> None:
    layout = replace(STATUS, pop="delete")
    assert pops_in_transaction(layout)
    work = committed_work(
        DEEP, after(DEEP, ins=50, upd=3, dele=40, ins_lost=0, upd_lost=0, del_lost=0), layout, Shares()
    )
    assert work is not None
    flow = table_flow(work, layout, 0, 10)
    assert (flow.pushed, flow.popped, flow.completed, flow.net) == (50, 40, None, 10)


@given(pushed=counts, popped=counts, completed=counts, failed=counts, push_lost=counts, pop_lost=counts)
def test_state_column_tells_pushes_pops_and_completes(
    pushed: int, popped: int, completed: int, failed: int, push_lost: int, pop_lost: int
) -> None:
    now = after(
        DEEP, ins=pushed, upd=popped + failed, dele=completed, ins_lost=push_lost, upd_lost=pop_lost, del_lost=0
    )
    work = committed_work(DEEP, now, STATUS, Shares())
    assert work is not None
    flow = table_flow(work, STATUS, popped - completed - failed, now.live - DEEP.live)
    assert (flow.pushed, flow.popped, flow.completed) == (pushed, popped, completed)
    assert flow.net == pushed - popped + failed


@given(pushed=counts, popped=counts, outs=counts, archived=counts, push_lost=counts, pop_lost=counts)
def test_done_state_splits_updates_by_the_change_in_progress(
    pushed: int, popped: int, outs: int, archived: int, push_lost: int, pop_lost: int
) -> None:
    now = after(DEEP, ins=pushed, upd=popped + outs, dele=archived, ins_lost=push_lost, upd_lost=pop_lost, del_lost=0)
    work = committed_work(DEEP, now, FAST, Shares())
    assert work is not None
    flow = table_flow(work, FAST, popped - outs, None)
    assert (flow.pushed, flow.popped, flow.completed) == (pushed, popped, outs)


@given(ins=counts, dele=counts, ins_lost=counts, del_lost=counts)
def test_after_an_analyze_the_attempts_count_less_the_share_that_was_rolled_back(
    ins: int, dele: int, ins_lost: int, del_lost: int
) -> None:
    now = after(ZERO, ins=ins, upd=0, dele=dele, ins_lost=ins_lost, upd_lost=0, del_lost=del_lost)
    now = replace(now, live=0, dead=0, modified_since_analyze=0, analyzes=1)
    work = committed_work(ZERO, now, FIFO, Shares(0.5, 1.0, 1.0))
    assert work is not None
    assert work.inserted == (ins + ins_lost) * 0.5
    assert work.deleted == dele + del_lost


@given(ins=counts, other=counts, ins_lost=counts, lost=counts, layout=st.sampled_from([FIFO, STATUS, FAST]))
def test_after_a_vacuum_the_sum_is_what_committed_and_no_part_is_more_than_was_tried(
    ins: int, other: int, ins_lost: int, lost: int, layout: Layout
) -> None:
    now = _moved(layout, ins, other, ins_lost, lost)
    work = committed_work(ZERO, replace(now, live=3, dead=0, vacuums=1), layout, Shares(0.7, 0.9, 0.8))
    assert work is not None
    taken = work.deleted if layout is FIFO else work.updated
    assert work.inserted + taken == pytest.approx(ins + other)
    assert 0 <= work.inserted <= ins + ins_lost
    assert 0 <= taken <= other + lost


@given(number=st.integers(1, 10_000), cut=st.integers(0, 10_000), layout=st.sampled_from([FIFO, STATUS, FAST]))
def test_live_rows_that_were_kept_from_falling_below_zero_move_no_message_to_the_pushes(
    number: int, cut: int, layout: Layout
) -> None:
    start = replace(ZERO, live=1)
    now = _moved(layout, number, number, 0, 0, start)
    work = committed_work(start, replace(now, live=now.live + min(cut, number)), layout, Shares())
    assert work is not None
    assert (work.inserted, work.deleted if layout is FIFO else work.updated) == (number, number)


def test_where_live_rows_were_cut_rollbacks_are_parted_as_they_were_lately() -> None:
    start = replace(ZERO, live=1)
    now = after(start, ins=56, upd=0, dele=70, ins_lost=24, upd_lost=0, del_lost=5)
    work = committed_work(start, replace(now, live=75), FIFO, Shares(0.7, 1.0, 0.93))
    assert work is not None
    assert work.inserted == pytest.approx(56, abs=1)
    assert work.deleted == pytest.approx(70, abs=1)
    assert not work.exact


@pytest.mark.parametrize("counted", [True, False])
def test_of_a_table_that_is_nearly_empty_what_polls_tell_adds_up_to_what_was_pushed(counted: bool) -> None:
    """A third is rolled back.

    Live rows drop after each vacuum, because sessions that delete report their counts first.
    """
    track, before, rows, pushed, told = CommittedTrack(), ZERO, 0, 0, 0.0
    for number in range(400):
        ins, left = 50 + number % 7, number % 4
        dele = rows + ins - left
        now = after(before, ins=ins, upd=0, dele=dele, ins_lost=ins // 2, upd_lost=0, del_lost=0)
        live = left if number % 3 == 0 else max(0, before.live - dele) + ins
        now = replace(now, live=live, vacuums=number // 3, analyzes=number // 25)
        rows = left
        work = track.record_counters(before, now, FIFO, float(rows) if counted else None)
        assert work is not None
        if number:  # the first counts the rows
            pushed, told = pushed + ins, told + work.inserted
        before = now
    assert (abs(told - pushed) < 80) == counted, told - pushed


def test_rows_that_no_counter_told_of_are_not_made_up_for() -> None:
    track, now = CommittedTrack(), after(ZERO, ins=50, upd=0, dele=40, ins_lost=0, upd_lost=0, del_lost=0)
    track.record_counters(ZERO, now, FIFO, 10.0)
    for rows in (500.0, 10.0):  # as in a truncated table, or one whose head was sought too far ahead
        before, now = now, after(now, ins=50, upd=0, dele=50, ins_lost=5, upd_lost=0, del_lost=0)
        work = track.record_counters(before, replace(now, live=0), FIFO, rows)
        assert work is not None
        assert work.inserted + work.deleted == 100
        assert work.inserted <= 55
    before, now = now, after(now, ins=50, upd=0, dele=50, ins_lost=5, upd_lost=0, del_lost=0)
    work = track.record_counters(before, replace(now, live=0), FIFO, 10.0)
    assert work is not None
    assert (work.inserted, work.deleted) == (50, 50)


@given(ins=counts, dele=counts, ins_lost=counts, del_lost=counts)
def test_where_only_attempts_are_counted_the_change_of_rows_takes_rollbacks_of_one_side_back(
    ins: int, dele: int, ins_lost: int, del_lost: int
) -> None:
    start = replace(DEEP, modified_since_analyze=None)
    now = after(start, ins=ins, upd=0, dele=dele, ins_lost=ins_lost, upd_lost=0, del_lost=del_lost)
    work = committed_work(start, replace(now, modified_since_analyze=None), FIFO, Shares())
    assert work is not None
    unknown = min(ins_lost, del_lost)
    assert (work.inserted, work.deleted) == (ins + unknown, dele + unknown)


def test_a_change_of_rows_that_cannot_be_is_left_out() -> None:
    start = replace(DEEP, modified_since_analyze=None)
    now = replace(start, inserted=50, deleted=40, live=start.live + 5_000)
    work = committed_work(start, now, FIFO, Shares())
    assert work is not None
    assert (work.inserted, work.deleted, work.exact) == (50, 40, False)


def _moved(
    layout: Layout, ins: int, other: int, ins_lost: int, lost: int, start: CounterSample = ZERO
) -> CounterSample:
    """Return the sample after this number of inserts, and of the updates or deletes that pops of this layout do."""
    if layout is FIFO:
        return after(start, ins=ins, upd=0, dele=other, ins_lost=ins_lost, upd_lost=0, del_lost=lost)
    return after(start, ins=ins, upd=other, dele=0, ins_lost=ins_lost, upd_lost=lost, del_lost=0)


def test_counters_that_fall_are_a_reset_not_a_negative_rate() -> None:
    high = replace(ZERO, inserted=500)
    assert committed_work(high, ZERO, FIFO, Shares()) is None
    assert committed_work(replace(ZERO, vacuums=3), ZERO, FIFO, Shares()) is None


def test_shares_follow_what_was_rolled_back_and_stay_when_nothing_was_tried() -> None:
    now = after(ZERO, ins=50, upd=0, dele=0, ins_lost=50, upd_lost=0, del_lost=0)
    work = committed_work(ZERO, now, FIFO, Shares())
    assert work is not None
    shares = update_shares(ZERO, now, work, Shares())
    assert shares.inserted == pytest.approx(0.75)
    assert shares.deleted == 1.0


def test_ring_flow_counts_what_is_committed_around_both_positions() -> None:
    before = RingSample(100, 90, 2, 2, 0, 1, 0.1)
    now = RingSample(160, 150, 5, 5, 0, 3, 0.1)
    flow = ring_flow(before, now)
    assert flow is not None
    assert (flow.pushed, flow.popped) == (155 - 98, 147 - 89)
    assert ring_ready(now) == 5
    assert flow.net == ring_ready(now) - ring_ready(before)


def test_ring_with_consumers_ahead_is_empty_not_negative() -> None:
    assert ring_ready(RingSample(100, 108, 0, 0, 8, 0, None)) == 0


def test_a_sequence_set_back_gives_no_flow() -> None:
    assert ring_flow(RingSample(100, 90, 0, 0, 0, 0, None), RingSample(5, 3, 0, 0, 0, 0, None)) is None


def test_a_push_between_two_reads_of_a_poll_is_no_pop_in_the_next_poll() -> None:
    skew, popped = ReadSkew(), []
    # Three pushes are counted as ready one poll before their steps are read. Nothing is popped until the last poll.
    for pushed, waited, waits in ((0, 5, 8), (3, 8, 8), (0, 8, 8), (0, 8, 6)):
        flow = steps_flow(StepTotals(pushed=0), StepTotals(pushed=pushed), None, (waited, waits), skew=skew)
        popped.append(None if flow is None else flow.popped)
    assert popped == [0, 0, 0, 2]


def test_messages_that_are_given_back_hide_pops_of_two_polls_only() -> None:
    skew = ReadSkew()
    moved = ((0.0, -100.0), (4.0, 0.0), (4.0, 0.0), (4.0, 0.0))
    assert [skew.correct(*steps_and_change, at) for at, steps_and_change in enumerate(moved)] == [0, 0, 0, 4]


@given(
    st.lists(st.floats(0.0, 12.0), max_size=60),
    st.lists(st.sampled_from((0.2, 0.5, 0.7, 1.0, 3.0)), min_size=4, max_size=30),
)
def test_pushes_that_are_counted_late_are_no_pops(pushed_at: list[float], intervals: list[float]) -> None:
    """As by time: a poll counts pushes up to ``STEPS_LAG_S`` before the earlier poll. Nothing is popped."""
    skew, times = ReadSkew(), [0.0, *accumulate(intervals)]
    waits = [sum(pushed <= at for pushed in pushed_at) for at in times]
    steps = [0, *(sum(0.0 < pushed <= at - STEPS_LAG_S for pushed in pushed_at) for at in times[:-1])]
    for number in range(1, len(times)):
        flow = steps_flow(
            StepTotals(pushed=steps[number - 1]),
            StepTotals(pushed=steps[number]),
            None,
            (waits[number - 1], waits[number]),
            skew=skew,
            at=times[number],
        )
        assert flow is not None
        assert flow.popped == 0.0


@pytest.mark.parametrize(
    ("kinds", "popped", "completed"),
    [
        (("ready", "scheduled"), 3, None),  # a pop deletes its row
        (("ready", "done"), 8, None),  # a pop updates its row
        (("ready", "in_progress"), 8, 3),  # a pop updates its row, and a completion deletes it
        (("ready", "in_progress", "done"), 6, 2),  # a pop and a completion update their row
    ],
)
def test_counters_of_a_group_mean_what_its_states_say(
    kinds: tuple[str, ...], popped: float, completed: float | None
) -> None:
    group = Layout("q", "states", T, id="id", part=SharedTableQueue("q", kinds=kinds))
    work = CommittedWork(inserted=10.0, updated=8.0, deleted=3.0, exact=True)
    change = None if "in_progress" not in kinds else 5 if "done" not in kinds else 4
    flow = table_flow(work, group, change, None)
    assert (flow.pushed, flow.popped, flow.completed) == (10, popped, completed)
