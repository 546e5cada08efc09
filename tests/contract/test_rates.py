"""Rates and depths against a real load that rolls back on both sides, and whose poppers are killed."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.report import status_object
from qmon.workload.load import Load
from qmon.workload.plan import Fault, QueueLoad
from tests.contract.watching import installed, target_of, watching
from tests.demo.test_headless import agree, depth_agrees
from tests.facts import wait_until
from tests.queues import DESIGNS

STEADY: Final = {"ring_classic"}
"""A number that a rollback or a crash has lost stops it for good: it gets neither."""


@pytest.mark.parametrize("group", [0, 1, 2])
def test_rates_are_of_committed_messages_however_many_are_rolled_back(database: str, group: int) -> None:
    designs = DESIGNS[group::3]
    loads = [
        QueueLoad(
            layout, pushers=2, poppers=2, rate=80, pop_rate=64, message_bytes=100, fail_share=0.15,
            rollback_share=0.0 if layout.design in STEADY else 0.4,
        )
        for layout in installed(database, *designs, ring_size=2000)
    ]  # fmt: skip
    faults = [Fault("crash", design, at_s=3, for_s=1) for design in designs if design not in STEADY]
    with Load(target_of(database), loads, faults) as running, watching(database) as watched:
        view = watched.view(lambda v: (v.queues[0].window_s or 0) >= 8)
        wait_until(lambda: running.counts.last_at() >= view.sampled_at, what="counts up to the sample")
    report = {queue["name"]: queue for queue in status_object(view)["queues"]}
    assert set(report) == set(designs)
    for queue in view.queues:
        assert queue.window_s is not None
        flow = running.counts.between(view.sampled_at - queue.window_s, view.sampled_at)[queue.name]
        depth = running.counts.depth_at(queue.name, view.sampled_at)
        assert queue.name in STEADY or running.counts.totals(queue.name).push_rolled_back > 50
        seen = report[queue.name]
        assert agree(seen["push_rate"], flow.push_rate, queue.window_s), (seen, flow)
        assert agree(seen["pop_rate"], flow.pop_rate, queue.window_s), (seen, flow)
        assert depth_agrees(seen, depth, view.server.client_ms / 1000), (seen, depth)
