"""Twice as many queues, with twice as many records about them, take about twice the work, not four times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Side
from qmon.model.samples.polled_samples import HeadSample, OperatedSample, PauseSample
from qmon.model.samples.usage_samples import ProcedureReads
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, poll
from tests.work import work_of

FEW = 60


def queues(count: int, number: int) -> tuple[QueueSamples, ...]:
    return tuple(
        QueueSamples(
            Layout(f"q{place}", "fifo", ObjectName("public", f"t{place}"), id="id"),
            counters=replace(COUNTERS, table_id=place, inserted=10 * number, deleted=10 * number),
            head=HeadSample("7", 1.5, 5),
            head_limit=1001,
            last_id=20,
        )
        for place in range(count)
    )


def with_failures(snapshot: Snapshot, name: str) -> Snapshot:
    return replace(snapshot, failures=(*snapshot.failures, ProbeFailure("in_state", "no answer", name)))


def with_procedures(snapshot: Snapshot, name: str) -> Snapshot:
    reads = tuple(ProcedureReads(name, verb, 1, 10, 100, 1) for verb in ("push", "pop", ""))
    return replace(snapshot, procedures=(*(snapshot.procedures or ()), *reads))


def with_throttled(snapshot: Snapshot, name: str) -> Snapshot:
    known = () if snapshot.observing is None else snapshot.observing.throttled
    return replace(
        snapshot,
        observing=PollingCost("1%", 20.0, 1.0, 5.0, throttled=(*known, Throttled(name, "in_state", 20.0, 10.0, 1.0))),
    )


def with_operations(snapshot: Snapshot, name: str) -> Snapshot:
    more = OperatedSample(f"op {name}", f"public.{name.replace('q', 't')}", 5)
    return replace(snapshot, operated=(*(snapshot.operated or ()), more))


def with_pauses(snapshot: Snapshot, name: str) -> Snapshot:
    more = PauseSample(name, f"public.{name.replace('q', 't')}", Side.PRODUCERS, 900.0, 9000.0, "me", "", "switch")
    return replace(snapshot, pauses=(*snapshot.pauses, more))


def without_readings(snapshot: Snapshot, name: str) -> Snapshot:
    """Return a poll that skips the queues in turn, and has their pauses."""
    skipped = (replace(q, unread=True) if q.layout.queue == name else q for q in snapshot.queues)
    return with_pauses(replace(snapshot, queues=tuple(skipped)), name)


def plain(snapshot: Snapshot, name: str) -> Snapshot:
    return snapshot


@pytest.mark.parametrize(
    "about", [plain, with_failures, with_procedures, with_throttled, with_operations, with_pauses, without_readings]
)
def test_the_fold_of_a_poll(about: Callable[[Snapshot, str], Snapshot]) -> None:
    def work(count: int) -> int:
        history = TargetHistory()
        polls = []
        for number in range(1, 4):
            snapshot = poll(number, 1000.0 + number, *queues(count, number))
            for samples in snapshot.queues:
                snapshot = about(snapshot, samples.layout.queue)
            polls.append(snapshot)
        for snapshot in polls[:-1]:
            history.record_snapshot(snapshot)
        return work_of(lambda: history.record_snapshot(polls[-1]))

    few, many = work(FEW), work(2 * FEW)
    assert many < 2.02 * few
