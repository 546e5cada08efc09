"""More messages leave ``ready`` than updates count as pops: the rate is not the one of the updates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.rates.committed_rows import CommittedWork
from qmon.model.rates.flow import Flow
from qmon.model.samples.polled_samples import HeadSample
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state.rates.table_flow_track import ReadyBalance

LAYOUT = Layout("q", "batch_fast", ObjectName("public", "t"), id="id", state=StateColumn("s", 0, 1, 2, 3))
POLL_S = 2.0


def after_polls(
    number: int, *, pushed: int = 24, popped: float, deleted: int = 0, ready_change: int = 0, layout: Layout = LAYOUT
) -> ReadyBalance:
    """Return the balance after polls that are all the same, at the time of the last one."""
    balance = ReadyBalance()
    for n in range(number):
        depths = (500 + at * ready_change for at in (n, n + 1))
        before, now = (QueueSamples(layout, head=HeadSample("1", 1.0, depth), head_limit=1001) for depth in depths)
        work = CommittedWork(pushed, 2 * popped, deleted, exact=True)
        balance.record_flow(before, now, work, Flow(pushed, popped, popped, 0.0), n * POLL_S)
    return balance


@pytest.mark.parametrize(
    ("polls", "given", "uncounted"),
    [
        (7, {"popped": 12.0}, True),  # ready messages are finished in one update
        (7, {"popped": 24.0}, False),
        (7, {"popped": 0.0, "ready_change": 24}, False),  # nothing leaves
        (7, {"popped": 24.0, "ready_change": -24, "deleted": 24}, False),  # some expire
        (7, {"popped": 12.0, "ready_change": -24}, True),
        (2, {"popped": 0.0}, False),  # sessions may report it soon
        (7, {"popped": 20.0, "ready_change": 0}, False),  # as good as equal
        (7, {"popped": 36.0}, False),  # some were given back
    ],
)
def test_what_left_is_compared_with_what_was_popped(polls: int, given: dict[str, Any], uncounted: bool) -> None:
    assert after_polls(polls, **given).has_uncounted_pops((polls - 1) * POLL_S) is uncounted


def test_it_is_over_when_the_polls_are() -> None:
    balance = after_polls(7, popped=12.0)
    assert balance.has_uncounted_pops(14.0)
    assert not balance.has_uncounted_pops(40.0)
    balance = after_polls(7, popped=12.0)
    balance.start_over()
    assert not balance.has_uncounted_pops(14.0)


def test_messages_that_become_ready_by_time_prove_nothing() -> None:
    assert not after_polls(7, popped=0.0, layout=replace(LAYOUT, due_at="due")).has_uncounted_pops(12.0)
