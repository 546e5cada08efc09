"""A server whose counters follow given steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qmon.model.cost_budget import PollingCost
from qmon.model.layout.layout import Layout, ObjectName, Ring, StateColumn
from qmon.model.samples.polled_samples import CounterSample, HeadSample, ProgressSample, RingSample, ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.view import QueueView

T = ObjectName("public", "t")
FIFO = Layout("fifo", "fifo", T, id="id")
RING = Layout("ring", "ring", T, ring=Ring(100, ObjectName("p", "a"), ObjectName("p", "b")))
STATUS = Layout("status", "status", T, id="id", state=StateColumn("st", 1, 2, None, 3), started_at="at")


@dataclass(frozen=True)
class Step:
    """Events between two polls: seconds, pushed and popped messages, transactions, and faults."""

    seconds: float
    pushed: int
    popped: int
    commits: int
    breaks: str
    left_out: bool


class World:
    """A server whose counters follow the steps."""

    def __init__(self) -> None:
        self.at, self.started_at, self.reset_at = 1_000.0, 500.0, 400.0
        self.pushed = self.popped = 1_000
        self.commits = 5_000
        self.polls = 0

    def poll(self, step: Step) -> Snapshot:
        """The next poll."""
        self.at += step.seconds
        if step.breaks == "gap":
            self.at += 60.0
        if step.breaks == "clock":
            self.at -= 900.0
        if step.breaks == "restart":
            self.started_at += 50.0
        if step.breaks in ("restart", "reset"):
            self.pushed = self.popped = self.commits = 0
            self.reset_at += 1.0
        self.pushed, self.popped = self.pushed + step.pushed, self.popped + step.popped
        self.commits += step.commits
        self.polls += 1
        server = ServerSample(self.at, self.started_at, self.reset_at, False, 5, self.commits, 0, 0)
        live, both = self.pushed - self.popped, self.pushed + self.popped
        counters = CounterSample(1, self.pushed, 0, self.popped, 0, live, 0, both, 0, 0, 8192)
        updates = replace(counters, updated=self.popped, live=self.pushed - self.popped)
        head = HeadSample("7", 1.5, 5)
        out = step.left_out
        queues = (
            QueueSamples(
                FIFO,
                counters=counters,
                head=None if out else head,
                head_limit=1001,
                last_id=20,
                held=None if out else (),
                left_out=("head",) if out else (),
            ),
            QueueSamples(
                RING,
                ring=None if out else RingSample(self.pushed, self.popped, 0, 0, 0, 0, None),
                head_limit=10**6,
                left_out=("ring",) if out else (),
            ),
            QueueSamples(
                STATUS,
                counters=updates,
                head=head,
                head_limit=1001,
                progress=None if out else ProgressSample(3, 3, 0, 1.0),
                left_out=("progress",) if out else (),
            ),
        )
        told = PollingCost("1%", 20.0, 1.0, 5.0)
        return Snapshot(
            "t",
            "postgres",
            "18.6",
            self.polls,
            self.at,
            10.0 * self.polls,
            3.0,
            1.5,
            10,
            1.0,
            server,
            queues,
            observing=told,
            writers=(),
        )


def found(queue: QueueView | None) -> QueueView:
    assert queue is not None
    return queue
