"""Rates and depths under a real load that rolls back on both sides, and whose consumers are killed."""

from __future__ import annotations

import os
from typing import Final

import pytest

from qmon.model.status_report import status_object
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import PlannedFault, QueueLoad
from tests.contract.watching import installed, target_of, watching
from tests.demo.agreement import FLOW_S, depth_agrees
from tests.facts import wait_until
from tests.queues import DESIGNS

# The maximum rate in messages per second. Pops are slower than pushes: in an empty ring, a number that a producer rolls
# back is skipped, and then counts on both sides.
PUSHES, POPS = 80.0, 40.0
# A number lost in a rollback or a crash stops it for good, so it gets neither.
STEADY: Final = {"ring_classic"}


# One of each way to pop. `make soak` runs all designs, a third at a time, because each has four processes.
SHORT: Final = ("batch_fast", "fifo", "status", "ring", "flag")
GROUPS: Final = tuple(DESIGNS[n::3] for n in range(3)) if "QMON_LONG" in os.environ else (SHORT,)


@pytest.mark.alone
@pytest.mark.parametrize("designs", GROUPS, ids=",".join)
def test_rates_are_of_committed_messages_however_many_are_rolled_back(database: str, designs: tuple[str, ...]) -> None:
    loads = [
        QueueLoad(
            layout,
            producers=2,
            consumers=2,
            rate=PUSHES,
            pop_rate=POPS,
            message_bytes=100,
            fail_share=0.15,
            rollback_share=0.0 if layout.design in STEADY else 0.4,
        )
        for layout in installed(database, *designs, ring_size=2000)
    ]
    faults = [PlannedFault("crash", design, at_s=1.5, for_s=0.5) for design in designs if design not in STEADY]
    with Load(target_of(database), loads, faults) as running, watching(database) as watched:
        view = watched.view(lambda v: (v.queues[0].window_s or 0) >= 9.5)
        wait_until(lambda: running.counts.last_at() >= view.sampled_at, what="counts up to the sample")
    report = {queue["name"]: queue for queue in status_object(view)["queues"]}
    assert set(report) == set(designs)
    for queue in view.queues:
        assert queue.window_s is not None
        flow = running.counts.flow_between(view.sampled_at - queue.window_s, view.sampled_at)[queue.name]
        depth = running.counts.depth_at(queue.name, view.sampled_at)
        assert queue.name in STEADY or running.counts.totals(queue.name).push_rolled_back > 50
        seen = report[queue.name]
        # The counters lag by up to `FLOW_S` seconds at the current rate, which is above the average after a crash.
        allowed = FLOW_S / queue.window_s
        assert abs(seen["push_rate"] - flow.push_rate) <= allowed * PUSHES * 0.6 + 1, (seen, flow)
        assert abs(seen["pop_rate"] - flow.pop_rate) <= allowed * POPS + 1, (seen, flow)
        assert depth_agrees(seen, depth, view.server.client_ms / 1000), (seen, depth)
