"""Totals of moved messages miss nothing while the server's counters are late and rates are unknown."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import HeadSample
from qmon.model.snapshot import QueueSamples
from qmon.model.view import QueueView
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, fifo, moved, poll

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
