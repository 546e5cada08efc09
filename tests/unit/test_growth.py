"""The work of a poll grows with the number of queues and of failures, not with their product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.groups.conditions import ColumnRef, OneOf
from qmon.model.groups.group import MOST_QUEUES, Group, ResolvedGroup, State, StepTable
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.group_samples import GroupLastSample, GroupStateSample, GroupStepsSample
from qmon.model.samples.polled_samples import HeadSample, ServerSample
from qmon.model.samples.usage_samples import ProcedureReads
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.monitor.probes.group_probes import GroupProbes
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.state.target_history import TargetHistory

T = TypeVar("T")
SERVER = ServerSample(100.0, 0.0, None, False, 1, 1, 1, 0)


class Counted(tuple[T, ...]):
    """Records that count how often they are searched."""

    searches: int

    def __new__(cls, records: Iterable[T]) -> Counted[T]:
        made = super().__new__(cls, records)
        made.searches = 0
        return made

    def __iter__(self) -> Iterator[T]:
        self.searches += 1
        return super().__iter__()


def samples(number: int) -> QueueSamples:
    layout = Layout(f"q{number}", "fifo", ObjectName("public", f"q{number}"), id="id")
    return QueueSamples(layout, head=HeadSample("1", 1.0, 1), head_limit=1001)


def procedure(number: int) -> ProcedureReads:
    return ProcedureReads(f"q{number}", "pop", number, 1, 1, 1)


@pytest.mark.parametrize("queues", [1, 40])
def test_the_fold_searches_failures_procedures_and_throttled_probes_once_for_all_queues(queues: int) -> None:
    failures = Counted(ProbeFailure("counters", "no", f"q{number}") for number in range(60))
    procedures = Counted(procedure(number) for number in range(60))
    throttled = Counted(Throttled(f"q{number}", "head", 20.0, 1.0, 5.0) for number in range(60))
    observing = PollingCost("1%", 10.0, 1.0, 10.0, throttled)
    snapshot = Snapshot("t", "postgres", "18.6", 1, 100.0, 1.0, 0.0, 1.5, 10, 1.0, SERVER, observing=observing)
    snapshot = replace(
        snapshot,
        queues=tuple(samples(number) for number in range(queues)),
        failures=failures,
        procedures=procedures,
    )
    view = TargetHistory().record_snapshot(snapshot)
    # Failures are also searched for queues that are gone, and for those of the target.
    assert (failures.searches, procedures.searches, throttled.searches) == (3, 1, 1)
    assert [queue.failures for queue in view.queues] == [(failures[number],) for number in range(queues)]
    assert [queue.throttled for queue in view.queues] == [(throttled[number],) for number in range(queues)]


def test_a_group_forgets_the_steps_of_queues_that_it_does_not_know() -> None:
    state = State("ready", "ready", OneOf(ColumnRef("state"), ("new",)))
    queue = ColumnRef("queue")
    steps = StepTable("log", "id", None, queue, (("pushed", None),))
    group = Group("jobs", ObjectName("s", "jobs"), "id", (state,), queue, steps=(steps,))
    probes = GroupProbes(StatementCache(Postgres(), (18, 0)), ResolvedGroup(group, 1, 1))
    kept = GroupStateSample("ready", "kept", 1, 1.0, 0, 0)
    for poll in range(40):
        names = ["kept", *(f"tenant{poll * 100 + number}" for number in range(100))]
        probes.record_results(
            {
                ("jobs", "group_states:ready:ready"): (kept,),
                ("jobs", "group_last:0"): (GroupLastSample(poll),),
                ("jobs", "group_steps:0:pushed"): tuple(GroupStepsSample("pushed", name, 1, 1) for name in names),
            },
            float(poll),
            float(poll),
        )
    (log,) = probes._steps._logs
    assert len(log.totals) <= MOST_QUEUES
    assert len(log.settled) <= MOST_QUEUES
    totals = probes._steps.totals("kept")
    assert totals is not None
    assert totals.pushed == 39, "the first poll only finds the end of the log"
