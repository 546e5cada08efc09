"""The observer over many polls: it sheds when a probe becomes expensive, reports it, and recovers by itself."""

from __future__ import annotations

import random

import pytest

from qmon.engines.base import Bound, Statement
from qmon.model.cost_budget import Budget
from qmon.model.samples.polled_samples import ClockSample, HeadSample
from qmon.monitor.poll.probe_budget import ProbeBudget
from qmon.monitor.probes.probe_statements import ProbeStatement
from qmon.monitor.source import ReadScope

STATEMENT = Bound(Statement("test", "SELECT 1", (), ()))
JOBS = [
    ProbeStatement("server", ClockSample, STATEMENT),
    *(ProbeStatement("head", HeadSample, STATEMENT, queue) for queue in ("a", "b", "c")),
    ProbeStatement("waits", HeadSample, STATEMENT),
    ProbeStatement("clock", ClockSample, STATEMENT),
]

CLOCK = {("", "clock"): 0.02}


def polled(
    observer: ProbeBudget, costs: dict[tuple[str, str], float], polls: int, focus: ReadScope | None = None
) -> list[set[tuple[str, str]]]:
    """Run polls of one second with these costs in milliseconds per probe. Return the probes that each poll read."""
    read = []
    for _ in range(polls):
        chosen = [job.key for job in observer.choose_statements(JOBS, 1.0, (focus or ReadScope()).priority_queues)]
        timed = observer.choose_probes_to_time()
        assert timed <= set(chosen)
        observer.record_times({key: costs[key] for key in timed}, {}, sum(costs[key] for key in chosen) + 0.5)
        read.append(set(chosen))
    return read


def test_the_dearest_is_read_less_often_while_it_is_dear() -> None:
    observer = ProbeBudget(Budget(0.01))
    cheap = {job.key: 0.5 for job in JOBS} | CLOCK
    assert all(len(read) == len(JOBS) for read in polled(observer, cheap, 10))
    assert observer.to_polling_cost(0).throttled == ()

    dear = {**cheap, ("b", "head"): 40.0}
    polled(observer, dear, 20)
    (throttled,) = observer.to_polling_cost(0).throttled
    assert (throttled.queue, throttled.probe, throttled.instead_s) == ("b", "head", 1.0)
    assert throttled.every_s >= 4.0
    assert observer.left_out_probes("b") in ((), ("head",))
    reads = polled(observer, dear, 40)
    assert all({("a", "head"), ("c", "head"), ("", "waits")} <= read for read in reads)
    assert 1 <= sum(("b", "head") in read for read in reads) <= 10
    assert sum(sum(dear[key] for key in read) for read in reads) / len(reads) <= 10.0

    back = polled(observer, cheap, 60)
    assert observer.to_polling_cost(0).throttled == ()
    assert all(len(read) == len(JOBS) for read in back[-5:])


def test_the_queue_under_the_cursor_and_one_with_a_verdict_are_throttled_last() -> None:
    observer = ProbeBudget(Budget(0.01))
    costs = {job.key: 0.1 for job in JOBS} | CLOCK | {(queue, "head"): 3.0 for queue in ("a", "b", "c")}
    for watched, other in (("a", "c"), ("c", "a")):
        focus = ReadScope(cursor=watched, visible=frozenset({"a", "b", "c"}), with_verdict=frozenset({"b"}))
        reads = polled(observer, costs, 40, focus)[20:]
        assert all({(watched, "head"), ("b", "head")} <= read for read in reads)
        assert any((other, "head") not in read for read in reads)


def test_all_is_read_once_when_that_is_asked_for() -> None:
    observer = ProbeBudget(Budget(0.01))
    dear = {job.key: 0.1 for job in JOBS} | {(queue, "head"): 20.0 for queue in ("a", "b", "c")}
    reads = polled(observer, dear, 60)
    assert all(len(read) < len(JOBS) for read in reads[-8:])
    observer.request_full_poll()
    assert polled(observer, dear, 1) == [{job.key for job in JOBS}]
    assert all(len(read) < len(JOBS) for read in polled(observer, dear, 2))


def test_what_others_cost_is_not_what_the_probes_cost() -> None:
    """A busy server takes many times as long now and then, each time for another probe."""
    observer, chance = ProbeBudget(Budget(0.01)), random.Random(7)
    for poll in range(400):
        busy = 100 <= poll < 300
        read = [job.key for job in observer.choose_statements(JOBS, 1.0)]
        times = {
            key: CLOCK.get(key, 1.2) * (30.0 if busy and chance.random() < 0.2 else 1.0)
            for key in observer.choose_probes_to_time()
        }
        observer.record_times(times, {}, 30.0 * len(read) if busy else 1.3 * len(read), 1000.0 + poll)
        seen = observer.to_polling_cost(0)
        assert seen.throttled == (), poll
        assert seen.expected_ms <= 10.0
        if 110 <= poll < 300:
            assert seen.slower > 10
            assert seen.slower_since is not None
            assert 1099.0 <= seen.slower_since <= 1101.0
        if poll < 100 or poll > 310:
            assert seen.slower < 2
            assert seen.slower_since is None


@pytest.mark.parametrize("gone", range(104, 136, 6))
def test_what_was_dear_among_others_is_timed_anew_once_they_are_gone(gone: int) -> None:
    """A connection that begins on a busy server has measured no other times.

    Ten seconds later all probes are read again.
    """
    observer = ProbeBudget(Budget(0.01))
    detail = ("", "statistics")
    jobs = [*JOBS, ProbeStatement("statistics", HeadSample, STATEMENT)]
    for poll in range(gone + 12):
        times = 1.0 if poll >= gone else 12.0
        read = [job.key for job in observer.choose_statements(jobs, 1.0)]
        took = {key: CLOCK.get(key, 0.5) if key != detail else 160.0 if poll < gone else 3.0 for key in read}
        observer.record_times(
            {key: took[key] for key in observer.choose_probes_to_time()},
            {},
            times * (0.5 * len(read) + 3.5),
            1000.0 + poll,
        )
        if poll in (60, gone - 1):
            assert [each.probe for each in observer.to_polling_cost(0).throttled] == ["statistics"]
        if poll >= gone + 6:
            assert observer.to_polling_cost(0).throttled == ()


def test_what_decides_a_verdict_is_read_every_ten_seconds_whatever_it_costs() -> None:
    observer = ProbeBudget(Budget(0.01))
    costs = {job.key: 90.0 if job.probe in ("head", "waits") else 0.1 for job in JOBS}
    polled(observer, costs, 20)
    waited = dict.fromkeys(costs, 0.0)
    for _ in range(30):
        (read,) = polled(observer, costs, 1)
        waited = {key: 0.0 if key in read else late + observer.interval_s for key, late in waited.items()}
        assert max(waited.values()) <= 10.0
    seen = observer.to_polling_cost(0)
    assert seen.expected_ms > seen.allowed_ms  # and the screen reports that the budget is exceeded


def test_what_cannot_be_left_out_makes_polls_come_less_often() -> None:
    observer = ProbeBudget(Budget(0.01))
    costs = {job.key: 25.0 if job.probe == "server" else 0.1 for job in JOBS}
    polled(observer, costs, 12)
    assert 2.5 <= observer.interval_s <= 4.0
    assert observer.to_polling_cost(0).allowed_ms >= 25.0
    polled(observer, {job.key: 0.1 for job in JOBS}, 30)
    assert observer.interval_s == 1.0


def test_without_a_budget_nothing_is_left_out() -> None:
    observer = ProbeBudget()
    reads = polled(observer, {job.key: 30.0 for job in JOBS}, 20)
    assert all(len(read) == len(JOBS) for read in reads)


def test_the_cost_is_what_the_sessions_take_of_a_processor_and_not_the_least_times_alone() -> None:
    """By the processor time of qmon's sessions, a poll costs 1.4 to 1.6 times the sum of its probes' least times."""
    observer = ProbeBudget(Budget(0.01))
    costs = {job.key: 0.08 for job in JOBS} | {("", "clock"): 0.008}
    polled(observer, costs, 20)
    least = sum(costs.values())
    assert 1.35 * least < observer.to_polling_cost(0).expected_ms < 1.65 * least


def test_where_queues_have_turns_each_poll_reads_what_decides_for_all_of_them() -> None:
    """Otherwise a queue with a turn every ten polls may never meet the poll in ten that reads it."""
    observer = ProbeBudget(Budget(0.01))
    costs = {job.key: 6.0 if job.queue else 0.2 for job in JOBS} | CLOCK
    left_out = 0
    for poll in range(60):
        read = {job.key for job in observer.choose_statements(JOBS, 1.0, every_s=10.0, shown=("a", "b"))}
        observer.record_times(
            {key: costs[key] for key in observer.choose_probes_to_time()}, {}, sum(costs[key] for key in read)
        )
        if poll >= 20:
            assert ("", "waits") in read
            left_out += len(JOBS) - len(read)
    assert left_out > 0
    assert {each.queue for each in observer.to_polling_cost(0).throttled} <= {"a", "b"}
