"""A paused queue gets no advice to add consumers: it stands still on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.forecast import ForecastText, Trend
from qmon.model.layout.layout import ClientPatterns
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.polled_samples import PauseSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.stepping import FIFO, Step, World

pytestmark = pytest.mark.unit

LAYOUT = replace(FIFO, consumers=ClientPatterns(application="worker*"))
WORKER = ProgramSessionSample(61, 900.0, "worker-1", "shop", "active", 0.1, 0.1, "", "DELETE")
STEP = Step(1.0, 30, 10, 20, "", left_out=False)


def polled(world: World, *sides: str, read: bool = True) -> Snapshot:
    """A growing queue with a consumer, paused on these sides."""
    snapshot = world.poll(STEP)
    first = snapshot.queues[0]
    assert first.head is not None
    queue = replace(first, layout=LAYOUT, head=replace(first.head, counted=world.pushed - world.popped))
    pauses = tuple(
        PauseSample("fifo", str(LAYOUT.table), side, world.at, world.at + 600, "anna", "deploy", "switch")
        for side in sides
    )
    queues = (queue if read else QueueSamples(LAYOUT, unread=True),)
    return replace(snapshot, queues=queues, clients=(WORKER,), pauses=pauses)


@pytest.mark.parametrize("read", [True, False], ids=["read", "not its turn"])
@pytest.mark.parametrize("sides", [("producers",), ("consumers",), ("producers", "consumers")], ids="-".join)
def test_no_consumers_are_asked_for_while_a_side_is_paused(sides: tuple[str, ...], read: bool) -> None:
    world, history = World(), TargetHistory()
    view = [history.record_snapshot(polled(world)) for _ in range(20)][-1]
    assert view.queues[0].forecast.text == ForecastText.NEEDS_CONSUMERS.render(
        growing=ForecastText.GROWING.render(rate="20.0"), more="2 more consumers"
    )
    paused = history.record_snapshot(polled(world, *sides, read=read)).queues[0]
    assert paused.pauses
    assert (paused.forecast.trend, paused.forecast.text) == (Trend.GROWING, ForecastText.GROWING.render(rate="20.0"))
