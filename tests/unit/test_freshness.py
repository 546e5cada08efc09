"""No rate spans a gap, a restart, a counter reset or a clock step. Values that a poll left out show their age."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.figure import Figure
from qmon.model.forecast import Trend
from qmon.model.formatting import time_of_day
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import (
    CounterSample,
    HeadSample,
    HeldSample,
    RingSample,
    ServerSample,
)
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.status_report import status_object
from qmon.model.view import View
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.stepping import FIFO, RING, Step, World, found
from tests.wordings import has

STEPS = st.lists(
    st.builds(
        Step,
        st.floats(0.5, 3.0),
        st.integers(0, 400),
        st.integers(0, 400),
        st.integers(0, 900),
        st.sampled_from(["", "", "", "", "gap", "restart", "reset", "clock"]),
        st.booleans(),
    ),
    min_size=2,
    max_size=14,
)


def within(figure: Figure, rates: list[float]) -> bool:
    """Return whether a rate is among those measured since the last break. It must be unknown if there are none."""
    if figure.value is None:
        return True
    return bool(rates) and min(rates) * 0.999 - 1e-6 <= figure.value <= max(rates) * 1.001 + 1e-6


@settings(max_examples=150)
@given(STEPS)
def test_no_rate_spans_a_break(steps: list[Step]) -> None:
    world, history = World(), TargetHistory()
    pushes: dict[str, list[float]] = {"fifo": [], "ring": []}
    pops: dict[str, list[float]] = {"fifo": [], "ring": []}
    commits: list[float] = []
    for n, step in enumerate(steps):
        view = history.record_snapshot(world.poll(step))
        if n == 0 or step.breaks:
            pushes, pops = {"fifo": [], "ring": []}, {"fifo": [], "ring": []}
            commits = []
            broken(view)
            continue
        commits.append(step.commits / step.seconds)
        pushes["fifo"].append(step.pushed / step.seconds)
        pops["fifo"].append(step.popped / step.seconds)
        pushes["ring"].append(step.pushed / step.seconds)
        pops["ring"].append(step.popped / step.seconds)
        assert within(view.server.commits, commits)
        for name in ("fifo", "ring"):
            queue = view.queue(name)
            assert queue is not None
            assert within(queue.push_rate, pushes[name])
            assert within(queue.pop_rate, pops[name])


def broken(view: View) -> None:
    """Right after a break there is no rate at all."""
    assert view.server.commits.value is None
    for queue in view.queues:
        assert queue.push_rate.value is None
        assert queue.pop_rate.value is None
        assert all(point.push_rate is None for point in queue.history[-1:])


@settings(max_examples=100)
@given(STEPS)
def test_what_was_left_out_is_as_old_as_its_reading(steps: list[Step]) -> None:
    world, history = World(), TargetHistory()
    read_at: dict[str, float] = {}
    for step in steps:
        view = history.record_snapshot(world.poll(step))
        if step.breaks:
            read_at.clear()
        if not step.left_out:
            read_at |= dict.fromkeys(("ring", "status"), world.at)
        for name, figure in (("ring", "ready"), ("ring", "gap"), ("status", "in_progress")):
            queue = view.queue(name)
            assert queue is not None
            found: Figure = getattr(queue, figure)
            if name not in read_at:
                assert found.value is None
            else:
                assert found.value is not None
                assert abs(found.age_s - (world.at - read_at[name])) < 1e-6
                assert found.estimated == (found.age_s > 0)


def test_ready_is_an_estimate_while_the_rows_that_consumers_hold_were_not_read() -> None:
    world, history = World(), TargetHistory()
    step = Step(1.0, 10, 5, 20, "", left_out=False)
    polls = []
    for held in ((), (HeldSample("7", 2, running=True),), None, ()):
        polled = world.poll(step)
        fifo, *others = polled.queues
        held_now = replace(fifo, held=held, left_out=() if held is not None else ("held",))
        polls.append(history.record_snapshot(replace(polled, queues=(held_now, *others))).queues[0].ready)
    assert [(each.value, each.estimated) for each in polls] == [(5.0, False), (3.0, False), (5.0, True), (5.0, False)]


def test_a_queue_whose_turn_it_is_not_is_the_same_from_poll_to_poll_and_gets_older() -> None:
    world, history = World(), TargetHistory()
    step = Step(1.0, 10, 5, 20, "", left_out=False)
    history.record_snapshot(world.poll(step))
    read = history.record_snapshot(world.poll(step)).queues[0]
    views = []
    for _ in range(31):
        polled = world.poll(step)
        others = tuple(QueueSamples(q.layout, unread=True) for q in polled.queues)
        views.append(history.record_snapshot(replace(polled, queues=others, every_s=10.0)))
    first, last = (view.queues[0] for view in (views[0], views[-1]))
    assert all(view.queues[0] is first for view in views[:30])
    assert (first.ready.value, first.ready.estimated, read.ready.estimated) == (read.ready.value, True, False)
    for n, view in enumerate(views, 1):
        ages = status_object(view)["queues"][0]["age_seconds"]
        assert {name: ages[name] for name in ("ready", "oldest_seconds", "push_rate")} == {
            "ready": n,
            "oldest_seconds": n,
            "push_rate": n,
        }
        assert "scheduled" not in ages, "an unknown figure has no age"
    assert (last.ready.old, last.ready.age_s, last.verdict.code) == (True, 31.0, "cannot tell")
    assert views[-1].since_read_s(last) == 0


DEEP = st.lists(
    st.builds(
        Step,
        st.floats(0.5, 3.0),
        st.integers(0, 4_000),
        st.integers(0, 400),
        st.integers(0, 900),
        st.sampled_from(["", "", "", "clock"]),
        st.booleans(),
    ),
    min_size=2,
    max_size=10,
)


@given(DEEP)
def test_a_ring_that_grows_too_deep_to_look_at_whole_keeps_its_depth_while_it_is_left_out(steps: list[Step]) -> None:
    world, history = World(), TargetHistory()
    read: float | None = None
    for step in steps:
        snapshot = world.poll(step)
        ring = next(q for q in snapshot.queues if q.layout.queue == "ring")
        queue = history.record_snapshot(replace(snapshot, queues=(replace(ring, head_limit=1_000),))).queue("ring")
        assert queue is not None
        if step.breaks:
            read = None
        if not step.left_out:
            read = float(max(0, world.pushed - world.popped))
        assert queue.ready.value == read
        assert read is None or queue.ready.estimated == (read > 1_000 or step.left_out)


def test_a_ring_whose_sweep_is_left_out_has_rates_and_one_whose_sweep_fails_has_a_depth() -> None:
    history, views, at = TargetHistory(), list[View](), 100.0
    for number in range(4):
        ring = RingSample(280 * number, 190 * number, 0, 0, 0, 0, None)
        sample = QueueSamples(RING, ring=ring, head_limit=1_000, left_out=("slot_sweep",))
        server = ServerSample(at + number, 1.0, None, False, 5, 10 * number, 0, 0)
        failures = (ProbeFailure("slot_sweep", "permission denied", "ring"),)
        snapshot = Snapshot(
            "t",
            "postgres",
            "18.6",
            number + 1,
            at + number,
            at + number,
            3.0,
            1.5,
            10,
            1.0,
            server,
            (sample,),
            failures=failures,
        )
        views.append(history.record_snapshot(snapshot))
    queue = views[-1].queue("ring")
    assert queue is not None
    assert (queue.push_rate.value, queue.pop_rate.value) == (280.0, 190.0)
    assert (queue.ready.value, queue.ready.estimated) == (270.0, False)


def test_rates_of_a_ring_whose_positions_were_left_out_have_their_age_and_prove_nothing_once_they_are_old() -> None:
    world, history = World(), TargetHistory()
    for _ in range(5):
        history.record_snapshot(world.poll(Step(1.0, 50, 40, 10, "", left_out=False)))
    queue = found(history.record_snapshot(world.poll(Step(1.0, 50, 40, 10, "", left_out=False))).queue("ring"))
    assert (queue.push_rate.value, queue.push_rate.age_s, queue.push_rate.estimated) == (50.0, 0.0, False)
    for late in range(1, 8):
        queue = found(history.record_snapshot(world.poll(Step(1.0, 0, 0, 10, "", left_out=True))).queue("ring"))
        assert (queue.push_rate.value, queue.pop_rate.value) == (50.0, 40.0)
        assert (queue.push_rate.age_s, queue.push_rate.estimated) == (late, True)
        assert queue.push_rate.old == queue.pop_rate.old == (late > 3)
        assert queue.push_rate.reason == Reason.THROTTLED
    assert queue.forecast.trend is Trend.UNKNOWN
    assert queue.history[-1].push_rate is None
    assert queue.verdict.code == "cannot tell"
    assert "push rate" in queue.verdict.proof


def throttled(snapshot: Snapshot, queue: str, probe: str, every_s: float) -> Snapshot:
    told = PollingCost("1%", 20.0, 1.0, 5.0, throttled=(Throttled(queue, probe, every_s, 1.0, 9.0),))
    return replace(snapshot, observing=told)


def test_a_figure_is_evidence_for_as_long_as_its_own_probe_says_and_no_other() -> None:
    for probe, limit in (("head", 10.0), ("in_state", 3.0)):
        world, history = World(), TargetHistory()
        for _ in range(3):
            history.record_snapshot(world.poll(Step(1.0, 50, 40, 10, "", left_out=False)))
        for late in range(1, 14):
            snapshot = throttled(world.poll(Step(1.0, 0, 0, 10, "", left_out=True)), "fifo", probe, 10.0)
            queue = found(history.record_snapshot(snapshot).queue("fifo"))
            assert (queue.oldest.age_s, queue.oldest.value) == (late, 1.5)
            assert queue.oldest.old == (late > limit), (probe, late)


def test_what_was_not_read_for_ten_polls_says_since_when() -> None:
    world, history = World(), TargetHistory()
    for _ in range(3):
        history.record_snapshot(world.poll(Step(1.0, 50, 40, 10, "", left_out=False)))
    read_at = world.at
    for late in range(1, 14):
        queue = found(history.record_snapshot(world.poll(Step(1.0, 0, 0, 10, "", left_out=True))).queue("status"))
        assert queue.in_progress.value == 3.0
        said = queue.in_progress.reason == Reason.NOT_READ_SINCE.render(time=time_of_day(read_at))
        assert said == (late > 10)
        assert (queue.in_progress.evidence.value is None) == (late > 3)
        assert (queue.verdict.code == "cannot tell") == (late > 3)
        assert (has(queue.verdict.proof, Reason.NOT_READ_SINCE)) == (late > 10)


def oldest(engine: str, deleted: int, updated: int = 0, forgot: bool = False) -> Figure:
    """Return the oldest age of a queue whose head was read 8 s ago.

    It had 5 ready messages, the oldest for 12 s. ``deleted`` and ``updated`` rows changed since.
    """
    history, view = TargetHistory(), None
    for poll in range(9):
        counters = CounterSample(1, 100, 7, 95, 0, 5, 0, 200 if engine == "postgres" else None, 0, 0, 8192, files=4)
        if poll:
            counters = replace(counters, deleted=95 + deleted, updated=7 + updated, inserted=99 if forgot else 100)
        head = None if poll else HeadSample("7", 12.0, 5)
        q = QueueSamples(FIFO, counters=counters, head=head, head_limit=1001, left_out=("head",) if poll else ())
        server = ServerSample(100.0 + poll, 1.0, None, False, 5, 10, 0, 0)
        view = history.record_snapshot(
            Snapshot("t", engine, "16.0", poll + 1, 100.0 + poll, poll, 0.0, 1.5, 10, 1.0, server, (q,))
        )
    assert view is not None
    return found(view.queue("fifo")).oldest


def test_the_oldest_is_at_least_so_old_as_nothing_can_have_been_popped() -> None:
    assert (oldest("sqlserver", 0).at_least, oldest("sqlserver", 0).value) == (True, 20.0)
    for deleted, updated in ((4, 0), (2, 2), (0, 1)):  # one of the five is still there, though perhaps not the oldest
        assert (oldest("sqlserver", deleted, updated).at_least, oldest("sqlserver", deleted, updated).value) == (
            True,
            8,
        )
    for no_bound in (oldest("sqlserver", 5), oldest("sqlserver", 3, 2), oldest("sqlserver", 0, forgot=True)):
        assert (no_bound.at_least, no_bound.value, no_bound.old) == (False, 12.0, True)
    late = oldest("postgres", 0)  # its counters come late: they do not contain the pops of the last seconds
    assert (late.at_least, late.value, late.old) == (False, 12.0, True)


@pytest.mark.parametrize(
    ("every_s", "age_s", "old"), [(0.0, 3.0, False), (0.0, 3.1, True), (60.0, 93.0, False), (60.0, 93.1, True)]
)
def test_a_figure_is_old_beyond_the_limit_and_what_its_own_cadence_allows(
    every_s: float, age_s: float, old: bool
) -> None:
    known = Figure(5.0, age_s=age_s)
    assert (known if not every_s else replace(known, every_s=every_s)).mark_old(3.0).old is old


def test_a_rate_that_nothing_tells_any_more_is_not_carried_on_where_a_probe_is_left_out() -> None:
    """The table of one queue has several queues: its earlier counters were for all of them."""
    world, history = World(), TargetHistory()
    steps = [Step(2.0, 90, 80, 10, "", left_out=False) for _ in range(6)]
    views = [history.record_snapshot(world.poll(step)) for step in steps]
    assert views[-1].queues[2].push_rate.value is not None
    snapshot = world.poll(Step(2.0, 90, 80, 10, "", left_out=True))
    fifo, ring, status = snapshot.queues
    mixed = replace(status, counters=None, unknown={"rates": "the table holds several queues"})
    rates = history.record_snapshot(replace(snapshot, queues=(fifo, ring, mixed))).queues[2]
    assert (rates.push_rate.value, rates.pop_rate.value) == (None, None)
    assert rates.push_rate.reason == "the table holds several queues"
