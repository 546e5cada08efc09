"""Which polls have found that a queue holds nothing, so that it is read less often."""

from __future__ import annotations

from typing import Any

import pytest

from qmon.engines.postgres.engine import Postgres
from qmon.model.layout.layout import Layout, StateColumn, TableName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.samples.polled import HeadSample, ProgressSample, WalkSample
from qmon.monitor.probes.queue import QueueProbes, Spec
from qmon.monitor.probes.statements import StatementCache

LINE = Layout("q", "fifo", TableName("s", "q"), id="id")
STATES = Layout("q", "status", TableName("s", "q"), id="id", state=StateColumn("status", 1, 2))
NONE_READY = HeadSample(None, None, 0)


@pytest.mark.parametrize(
    ("layout", "index", "found", "idle"),
    [
        (LINE, "head", {}, False),
        (LINE, "head", {"head": NONE_READY}, True),
        (LINE, "head", {"head": HeadSample("7", 1.0, 1)}, False),
        (LINE, "walk", {"head_walk": WalkSample("9", None, None, 0, whole=True)}, True),
        (LINE, "walk", {"head_walk": WalkSample("9", None, None, 0, whole=False)}, False),
        (STATES, "head", {"head_state": NONE_READY}, False),
        (STATES, "head", {"head_state": NONE_READY, "progress": ProgressSample(0, None, None)}, True),
        (STATES, "head", {"head_state": NONE_READY, "progress": ProgressSample(1, 0, 2.0)}, False),
    ],
)
def test_a_queue_is_idle_where_all_of_it_was_seen_and_nothing_was_there(
    layout: Layout, index: str, found: dict[str, Any], idle: bool
) -> None:
    facts = TableFacts(1, order_by="id", indexes={index: "ix", "progress": "ix_progress"})
    probes = QueueProbes(StatementCache(Postgres(), (18, 0)), Spec(layout, facts))
    assert probes.idle({("q", probe): (sample,) for probe, sample in found.items()}) is idle
