"""Polls made by hand: a FIFO queue, its counters, and a snapshot."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.samples.polled_samples import CounterSample, HeadSample, ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot

T = ObjectName("public", "t")
FIFO = Layout("f", "fifo", T, id="id")
STATUS = Layout(
    "s",
    "status",
    T,
    id="id",
    state=StateColumn("st", 1, 2, None, 3),
    started_at="at",
    owner=OwnerColumn("o", "session"),
)
SERVER = ServerSample(1000.0, 500.0, None, False, 5, 100, 0, 0)
COUNTERS = CounterSample(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8192)


def poll(n: int, at: float, *queues: QueueSamples, started_at: float = 500.0) -> Snapshot:
    server = replace(SERVER, now_at=at, commits=100 * n, started_at=started_at)
    return Snapshot("t", "postgres", "18.6", n, at, at, 3.0, 1.5, 10, 2.0, server, queues)


def moved(base: CounterSample, pushed: int, popped: int) -> CounterSample:
    return replace(
        base,
        inserted=base.inserted + pushed,
        deleted=base.deleted + popped,
        live=base.live + pushed - popped,
        modified_since_analyze=(base.modified_since_analyze or 0) + pushed + popped,
    )


def fifo(counters: CounterSample, counted: int = 5, limit: int = 1001, **more: object) -> QueueSamples:
    return replace(
        QueueSamples(FIFO, counters=counters, head=HeadSample("7", 1.5, counted), head_limit=limit, last_id=20),
        **more,  # type: ignore[arg-type]
    )
