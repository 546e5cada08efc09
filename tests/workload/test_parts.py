"""The parts of the workload that need no server: pacing, counters, counts, messages, and roles."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon import system
from qmon.engines.base import Target
from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.workload.committed_counts import CommittedCounts, CountText, Totals
from qmon.workload.counter_slots import CounterField, CounterSlots
from qmon.workload.load_driver import Load, LoadText
from qmon.workload.load_plan import LoadPlanText, PlannedFault, QueueLoad, processes_for, slots_needed
from qmon.workload.member_thread import MAX_DEBT_S, Pacer
from qmon.workload.spec import MemberSpec, WorkerSpec
from qmon.workload.workload_messages import is_poison, make_message
from qmon.workload.workload_statements import WorkloadStatementText
from tests import needs
from tests.wordings import pattern

TARGET = Target("t", "postgres", {"Server": "nowhere"}, password=Secret("hush"))


def layout(queue: str, design: str = "status", *, installed: bool = True) -> Layout:
    routines = tuple((verb, ObjectName("s", f"{queue}_{verb}")) for verb in ("pop", "push")) if installed else ()
    return Layout(queue, design, ObjectName("s", queue), id="id", routines=routines, source=LayoutSource.REGISTRY)


@given(st.lists(st.floats(0.0001, 0.4), min_size=50, max_size=200), st.floats(1, 500), st.integers(1, 20))
def test_a_pacer_keeps_the_rate_however_irregularly_it_is_asked(steps: list[float], rate: float, batch: int) -> None:
    now, sent = 0.0, 0
    pacer = Pacer(now)
    for step in steps:
        while pacer.wait_s(now, batch, rate) <= 0:
            sent += batch
        now += step
    assert sent <= now * rate + batch + 1e-6
    assert sent >= (now - steps[-1]) * rate - 1e-6


def test_a_pacer_does_not_catch_up_with_a_long_pause() -> None:
    pacer = Pacer(0.0)
    assert pacer.wait_s(0.0, 1, 100.0) == 0
    burst = 0
    while pacer.wait_s(60.0, 1, 100.0) <= 0:
        burst += 1
    assert burst <= MAX_DEBT_S * 100 + 1
    assert pacer.wait_s(61.0, 1, None) == 0
    assert pacer.wait_s(62.0, 1, 0.0) == float("inf")
    assert pacer.wait_s(62.0, 1, 10.0) == 0
    assert pacer.wait_s(62.0, 1, 10.0) == pytest.approx(0.1)


@needs.posix
def test_counters_are_shared_and_outlive_a_process_that_is_killed() -> None:
    slots = CounterSlots(3)
    script = (
        "import os, signal, sys; from qmon.workload.counter_slots import *\n"
        "slot = CounterSlots(3, int(sys.argv[1])).open_slot(1)\n"
        "slot.add_count(CounterField.PUSHED, 1 << 40); slot.add_count(CounterField.POPPED)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    try:
        for _ in range(2):
            command = [sys.executable, "-c", script, str(slots.number)]
            assert (
                subprocess.run(command, pass_fds=system.inherited_descriptors(slots.number), check=False).returncode
                == -9
            )
        assert slots.read_slot(1)[CounterField.PUSHED] == 2 << 40
        assert slots.read_slot(1)[CounterField.POPPED] == 2
        assert slots.read_slot(1)[CounterField.COMMITTED_AT] > 0
        assert sum(slots.read_slot(0)) == sum(slots.read_slot(2)) == 0
        with pytest.raises(IndexError):
            slots.open_slot(3)
    finally:
        slots.close()


def counted() -> CommittedCounts:
    counts = CommittedCounts({"a": 10, "b": 0})
    counts.record_point(100.0, {"a": Totals(), "b": Totals()})
    counts.record_point(101.0, {"a": Totals(pushed=20, popped=10), "b": Totals()})
    counts.record_point(103.0, {"a": Totals(pushed=20, popped=30, completed=20, returned=4), "b": Totals(pushed=2)})
    return counts


def test_the_flow_between_two_moments_is_even_between_points() -> None:
    counts = counted()
    flow = counts.flow_between(100.5, 102.0)["a"]
    assert (flow.pushed, flow.popped, flow.completed) == (10, 15, 10)
    assert flow.push_rate == pytest.approx(10 / 1.5)
    assert counts.flow_between(100.0, 103.0)["b"].pushed == 2
    assert counts.depth_at("a", 100.0) == 10
    assert counts.depth_at("a", 101.0) == 20
    assert counts.depth_at("a", 102.0) == 12
    assert counts.depth_at("a", 103.0) == 4
    assert (counts.last_at(), counts.totals("a").popped) == (103.0, 30)


@pytest.mark.parametrize(("start", "end"), [(99.9, 101), (101, 103.1), (102, 102), (102, 101)])
def test_what_is_not_known_is_refused(start: float, end: float) -> None:
    with pytest.raises(
        ValueError,
        match=f"{pattern(CountText.OUTSIDE, queue='a')}|{pattern(CountText.EMPTY_SPAN, start=start, end=end)}",
    ):
        counted().flow_between(start, end)


def test_old_points_are_let_go() -> None:
    counts = CommittedCounts({"a": 0})
    for second in range(4000):
        counts.record_point(float(second), {"a": Totals(pushed=second)})
    assert counts.flow_between(3200, 3999)["a"].pushed == 799
    with pytest.raises(ValueError, match=pattern(CountText.OUTSIDE, queue="a", at=0)):
        counts.flow_between(0, 3999)


def test_messages_have_their_size_and_say_whether_they_are_poisoned() -> None:
    good, bad = make_message(7, "w", 300, poison=False), make_message(8, "w", 300, poison=True)
    assert len(good) == len(bad) == 300
    assert good.isascii()
    assert [is_poison(good), is_poison(bad), is_poison(bad.encode())] == [False, True, True]
    assert len(make_message(7, "w", 1, poison=False)) < 80


def test_each_member_has_a_slot_and_the_consumers_of_a_queue_have_processes_of_their_own() -> None:
    loads = [
        QueueLoad(layout("a"), producers=3, consumers=5, rate=30.0, keeper=True),
        QueueLoad(layout("b"), producers=2, consumers=1, rate=None),
        QueueLoad(layout("c"), producers=0, consumers=2),
    ]
    assert slots_needed(loads) == 14
    specs = processes_for(TARGET, loads, 5, 14, connections=4)
    members = [member for spec in specs for member in spec.members]
    assert sorted(member.slot for member in members) == list(range(14))
    assert [len(spec.members) for spec in specs] == [4, 1, 4, 1, 1, 2, 1]
    for spec in specs:
        assert {m.queue for m in spec.members} == set(spec.layouts)
        if any(m.role == "consumer" for m in spec.members):
            assert len({(m.queue, m.role) for m in spec.members}) == 1
    assert {m.rate for m in members if m.queue == "a" and m.role == "producer"} == {10.0}
    assert {m.rate for m in members if m.queue == "b"} == {None}


def test_a_spec_survives_its_pipe_and_hides_its_password() -> None:
    spec = WorkerSpec(TARGET, {"[a].b": layout("[a].b")}, (MemberSpec("[a].b", "consumer", "app", 0, rate=2.5),), 3, 1)
    again = WorkerSpec.from_json(spec.to_json())
    assert (again.layouts, again.members, again.counters, again.slots) == (spec.layouts, spec.members, 3, 1)
    assert again.target.password is not None
    assert again.target.password.reveal() == "hush"
    assert "hush" not in repr(spec) + repr(again)
    assert "\n" not in spec.to_json()


@pytest.mark.parametrize(
    ("loads", "faults", "refused"),
    [
        ([QueueLoad(layout("a", installed=False))], [], WorkloadStatementText.NOT_INSTALLED.render(queue="a")),
        ([QueueLoad(layout("a"), producers=201)], [], LoadPlanText.CLIENTS),
        ([QueueLoad(layout("a"), rate=-1.0)], [], LoadPlanText.NEGATIVE.render(name="rate", value=-1.0)),
        ([QueueLoad(layout("a"), fail_share=1.5)], [], LoadPlanText.SHARE.render(name="fail share", value=1.5)),
        ([QueueLoad(layout("a"), batch=0)], [], LoadPlanText.SIZES),
        ([QueueLoad(layout("a")), QueueLoad(layout("a"))], [], LoadText.ONE_LOAD),
        ([QueueLoad(layout("a"))], [PlannedFault("crash", "b")], LoadText.NO_LOAD.render(queue="b", queues="a")),
    ],
)
def test_a_load_that_cannot_be_is_refused_before_anything_starts(
    loads: list[QueueLoad], faults: list[PlannedFault], refused: str
) -> None:
    with pytest.raises(BadInput) as problem:
        Load(TARGET, loads, faults)
    assert str(problem.value) == refused
