"""Figures whose probe fails keep their last value, with its age and the reason. After three cadences they are old."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.figure import Figure, Verdict
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import HeadSample, ProgressSample
from qmon.model.samples.usage_samples import UseSample
from qmon.model.snapshot import ProbeFailure, Snapshot
from qmon.model.verdicts.judge import JudgeText
from qmon.model.view import QueueView
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.stepping import Step, World, found
from tests.wordings import has

LATE = Reason.DEADLINE
DENIED = "permission denied for table t"
GRANT = "GRANT SELECT ON t TO watcher;"
NO_USE = UseSample(1, 0, "t", "table", 0, 0, 0, 0, 0, 8192)
# Fields that a queue of `World` lacks if the probe fails.
SAMPLES: dict[str, dict[str, Any]] = {
    "fifo": {"head": None, "last_id": None},
    "ring": {"ring": None},
    "status": {"progress": None},
}
FIGURES = {
    "fifo": ("ready", "oldest", "gap"),
    "ring": ("ready", "gap", "fill", "in_progress", "push_rate", "pop_rate"),
    "status": ("in_progress", "stuck"),
}


def polled(world: World, *failures: ProbeFailure, without: bool = False) -> Snapshot:
    """Return the next poll, a second later. Since the last poll that was read, 50 were pushed and 40 popped."""
    snapshot = world.poll(Step(1.0, 0 if without else 50, 0 if without else 40, 10, "", left_out=False))
    queues = [replace(q, **SAMPLES[q.layout.queue]) if without else q for q in snapshot.queues]
    return replace(snapshot, queues=tuple(queues), failures=failures, observing=None)


def failing(reason: str, grant: str = "") -> tuple[ProbeFailure, ...]:
    probes = {"fifo": "head", "ring": "ring", "status": "progress"}
    return tuple(ProbeFailure(probe, reason, queue, grant) for queue, probe in probes.items())


def figure(queue: QueueView, name: str) -> Figure:
    value = getattr(queue, name)
    assert isinstance(value, Figure)
    return value


def test_what_fails_stays_with_its_age_and_the_reason_and_is_old_after_three_polls() -> None:
    world, history = World(), TargetHistory()
    views = [history.record_snapshot(polled(world)) for _ in range(6)]
    read = {name: found(views[-1].queue(name)) for name in FIGURES}
    view = views[-1]
    for late in range(1, 6):
        view = history.record_snapshot(polled(world, *failing(LATE), without=True))
        for name, figures in FIGURES.items():
            for each in figures:
                was, now = figure(read[name], each), figure(found(view.queue(name)), each)
                assert was.value is not None, each
                assert (now.value, now.age_s, now.reason) == (was.value, late, LATE), (name, each)
                assert now.old == (late > 3), (name, each, late)
                assert (now.evidence.value is None) == (late > 3)
    queue = found(view.queue("status"))
    assert queue.verdict.code == "cannot tell"
    assert LATE in queue.verdict.proof
    again = found(history.record_snapshot(polled(world)).queue("ring"))
    assert (again.ready.age_s, again.push_rate.age_s, again.ready.reason) == (0, 0, "")


def test_rates_go_on_over_a_poll_that_could_not_read_them() -> None:
    world, history = World(), TargetHistory()
    for _ in range(6):
        history.record_snapshot(polled(world))
    lost = polled(world, ProbeFailure("counters", LATE), *failing(LATE), without=True)
    queues = [replace(q, counters=None) for q in lost.queues]
    view = history.record_snapshot(replace(lost, queues=tuple(queues)))
    for name in ("fifo", "ring"):
        queue = found(view.queue(name))
        assert (queue.push_rate.value, queue.push_rate.age_s, queue.push_rate.reason) == (50.0, 1.0, LATE)
    view = history.record_snapshot(polled(world))
    for name in ("fifo", "ring"):  # over both seconds 50 were pushed
        queue = found(view.queue(name))
        assert queue.push_rate.value is not None
        assert 40.0 < queue.push_rate.value < 50.0
        assert queue.push_rate.age_s == 0


def test_what_our_role_may_not_read_any_more_is_unknown_at_once() -> None:
    world, history = World(), TargetHistory()
    for _ in range(6):
        history.record_snapshot(polled(world))
    queue = found(history.record_snapshot(polled(world, *failing(DENIED, GRANT), without=True)).queue("status"))
    for name in FIGURES["status"]:
        assert figure(queue, name) == Figure.unknown(f"{DENIED}; {GRANT}")
    queue = found(history.record_snapshot(polled(world, *failing(LATE), without=True)).queue("status"))
    assert queue.in_progress.value is None


def test_what_was_never_read_has_the_reason_alone() -> None:
    world, history = World(), TargetHistory()
    queue = found(history.record_snapshot(polled(world, *failing(LATE), without=True)).queue("status"))
    assert queue.in_progress == queue.stuck == Figure.unknown(LATE)


@pytest.mark.parametrize(("in_turns", "cadence_s"), [(False, 10.0), (True, 30.0)])
def test_scheduled_and_dead_messages_have_the_age_of_their_count(in_turns: bool, cadence_s: float) -> None:
    world, history = World(), TargetHistory()
    for late in range(5):
        snapshot = polled(world)
        age_s = late * cadence_s
        at = world.at - age_s
        queues = tuple(replace(q, scheduled=4, scheduled_at=at, dead=7, dead_at=at) for q in snapshot.queues)
        failures = (ProbeFailure("in_state", LATE, "status"),) if late else ()
        queue = found(
            history.record_snapshot(
                replace(snapshot, queues=queues, failures=failures, every_s=10.0 if in_turns else 0.0)
            ).queue("status")
        )
        assert (queue.scheduled.value, queue.scheduled.age_s) == (4, age_s)
        assert (queue.dead.value, queue.dead.age_s) == (7, age_s)
        assert queue.dead.old == queue.scheduled.old == (late > 3)
        assert (queue.scheduled.reason, queue.dead.reason) == ("", LATE if late else "")
        assert not queue.dead.estimated


def test_sizes_have_the_age_of_their_reading_and_outlast_polls_that_do_not_ask_for_use() -> None:
    world, history = World(), TargetHistory()
    sized_at = world.at + 1.0
    for late in range(40):
        snapshot = polled(world)
        queues = tuple(replace(q, sized_at=sized_at) for q in snapshot.queues)
        failures = (ProbeFailure("sizes", LATE),) if late else ()
        uses = (NO_USE,) if late % 2 == 0 else None
        queue = found(
            history.record_snapshot(replace(snapshot, queues=queues, uses=uses, failures=failures)).queue("fifo")
        )
        assert (queue.bytes.value, queue.bytes.age_s) == (8192, late), late
        assert queue.bytes.reason == (LATE if late else "")
        assert queue.bytes.old == (late > 30), late


def searched_ago(world: World, seconds: float, throttled_s: float = 0.0) -> Snapshot:
    """Return the next poll of an empty queue whose unknown states were last searched this number of seconds ago."""
    snapshot = polled(world)
    (status,) = (each for each in snapshot.queues if each.layout.queue == "status")
    empty = replace(
        status,
        head=HeadSample(None, None, 0),
        progress=ProgressSample(0, 0, 0, None),
        strange_at=snapshot.sampled_at - seconds if seconds else None,
    )
    cost = PollingCost("1%", 20.0, 1.0, 5.0, throttled=(Throttled("status", "states", throttled_s, 1.0, 4.0),))
    return replace(snapshot, queues=(empty,), observing=cost if throttled_s else None)


def test_a_queue_is_empty_only_if_its_table_was_searched_for_unknown_states() -> None:
    world, history = World(), TargetHistory()

    def verdict(seconds: float, throttled_s: float = 0.0) -> Verdict:
        return found(history.record_snapshot(searched_ago(world, seconds, throttled_s)).queue("status")).verdict

    *_, empty = [verdict(0.0) for _ in range(6)]
    assert (empty.code, has(empty.proof, JudgeText.STATES_READ_AGO)) == ("empty", False)
    assert verdict(9.0).code == "empty", "the probe of states is not due in each poll"
    late = verdict(31.0)
    assert (late.code, has(late.proof, Reason.LAST_READ, age="31 s")) == ("cannot tell", True)
    seldom = verdict(32.0, throttled_s=60.0)
    assert seldom.code == "empty"
    assert has(seldom.proof, JudgeText.STATES_READ_AGO, age="32 s")
    assert verdict(61.0, throttled_s=60.0).code == "cannot tell"
