"""Rates and depths against a real load that rolls back on both sides, and whose poppers are killed."""

from __future__ import annotations

import pytest

from qmon.model.report import status_object
from qmon.workload.load import Load
from qmon.workload.plan import Fault, QueueLoad
from tests.contract.watching import installed, target_of, watching
from tests.demo.test_headless import agree, depth_agrees
from tests.facts import wait_until


@pytest.mark.parametrize("design", ["naive", "fifo", "ring", "status", "batch_fast"])
def test_rates_are_of_committed_messages_however_many_are_rolled_back(database: str, design: str) -> None:
    (layout,) = installed(database, design, ring_size=2000)
    load = QueueLoad(
        layout, pushers=2, poppers=2, rate=150, pop_rate=120, rollback_share=0.4, fail_share=0.15, message_bytes=100
    )
    faults = [Fault("crash", design, at_s=3, for_s=1)]
    with Load(target_of(database), [load], faults) as running, watching(database) as watched:
        view = watched.view(lambda v: (v.queues[0].window_s or 0) >= 9.5)
        wait_until(lambda: running.counts.last_at() >= view.sampled_at, what="counts up to the sample")
        window_s = view.queues[0].window_s
        assert window_s is not None
        flow = running.counts.between(view.sampled_at - window_s, view.sampled_at)[design]
        depth = running.counts.depth_at(design, view.sampled_at)
        assert running.counts.totals(design).push_rolled_back > 100
    queue = status_object(view)["queues"][0]
    assert agree(queue["push_rate"], flow.push_rate, window_s), (queue, flow)
    assert agree(queue["pop_rate"], flow.pop_rate, window_s), (queue, flow)
    assert depth_agrees(queue, depth, view.server.client_ms / 1000), (queue, depth)
