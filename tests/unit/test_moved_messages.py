"""Totals of moved messages miss nothing while the server's counters are late and rates are unknown."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import HeadSample, ProgressSample
from qmon.model.snapshot import QueueSamples
from qmon.model.view import QueueView
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, STATUS, fifo, moved, poll

EMPTY = replace(COUNTERS, counted=True)


def test_pushes_count_in_totals_although_the_pop_rate_is_unknown() -> None:
    """Rows and ids are read before the session of the pushes reports, so the counters seem to stand still for pops."""
    nine = moved(EMPTY, 9, 0)
    polls = (
        fifo(EMPTY, 0, head=HeadSample(None, None, 0), last_id=0),
        fifo(EMPTY, 5, head=HeadSample("1", 0.1, 5), last_id=9),  # four more rows were pushed between two probes
        fifo(nine, 9, head=HeadSample("1", 1.1, 9), last_id=9),
        fifo(moved(nine, 0, 4), 5, head=HeadSample("5", 1.1, 5), last_id=9),
    )
    views = _views(*polls)
    assert [view.push_rate.reason == Reason.COUNTERS_STAND_STILL for view in views] == [False, True, False, False]
    assert views[2].pop_rate.reason == Reason.COUNTERS_STAND_STILL
    found = [each for view in views if (each := view.moved) is not None]
    assert [(each.pushed, each.popped) for each in found] == [(None, None), (9.0, None), (0.0, 4.0)]


def _views(*polls: QueueSamples) -> list[QueueView]:
    history = TargetHistory()
    return [history.record_snapshot(poll(n, 1000.0 + n, each)).queues[0] for n, each in enumerate(polls)]


def test_a_rate_of_0_is_as_old_as_the_last_look_at_the_rows() -> None:
    """Sessions may not count their work, so counters that stand still prove nothing without the rows."""
    still = fifo(EMPTY, 5, head=HeadSample("1", 0.1, 5), last_id=5)
    unread = replace(still, head=None)
    views = _views(still, still, unread, unread, still)
    assert [(view.pop_rate.value, view.pop_rate.age_s) for view in views[1:]] == [(0, 0), (0, 1), (0, 2), (0, 0)]
    assert [(view.push_rate.value, view.push_rate.age_s) for view in views[1:]] == [(0, 0), (0, 1), (0, 2), (0, 0)]


def test_work_that_is_counted_is_fresh_without_a_look_at_the_rows() -> None:
    before = fifo(EMPTY, 9, head=HeadSample("1", 0.1, 9), last_id=9)
    pushed = fifo(moved(EMPTY, 3, 2), 9, head=None, last_id=12)
    view = _views(before, before, pushed)[-1]
    assert (view.push_rate.age_s, view.pop_rate.age_s) == (0.0, 0.0)
    assert view.push_rate.value
    assert view.pop_rate.value


def test_rates_of_0_begin_with_the_first_poll_that_shows_the_rows() -> None:
    """Without the rows of the poll before, counters that stand still do not prove that no message was popped."""
    empty = fifo(EMPTY, 0, head=HeadSample(None, None, 0), last_id=4)
    full = replace(empty, head=HeadSample(None, None, COUNT_LIMIT), head_limit=COUNT_LIMIT)
    for unknown in (replace(empty, head=None), full):
        views = _views(unknown, unknown, empty, empty, unknown, empty)
        assert [view.pop_rate.value for view in views[2:]] == [None, 0, 0, 0]
        assert views[2].pop_rate.reason == Reason.RATES_FOLLOW


def test_counters_count_from_the_first_poll_on() -> None:
    unknown = fifo(EMPTY, 5, head=None, last_id=5)
    popped = fifo(moved(EMPTY, 0, 4), 1, head=HeadSample("5", 1.1, 1), last_id=5)
    assert _views(unknown, popped)[-1].pop_rate.value == 4


def test_rows_that_pass_between_two_polls_contradict_counters_that_stand_still() -> None:
    """All of them, the first of a table, were pushed and popped within one turn of a target with many queues."""
    empty = fifo(EMPTY, 0, head=HeadSample(None, None, 0), last_id=None)
    views = _views(empty, empty, replace(empty, last_id=3))
    assert [view.pop_rate.reason for view in views[1:]] == ["", Reason.COUNTERS_STAND_STILL]
    idle = replace(empty, layout=STATUS, last_id=9, progress=ProgressSample(2, 0, 0, None))
    views = _views(idle, idle, replace(idle, progress=ProgressSample(3, 0, 0, None)))
    assert [view.pop_rate.reason for view in views[1:]] == ["", Reason.COUNTERS_STAND_STILL]
