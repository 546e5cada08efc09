"""How many qmons share the budget, without commands that last a few seconds, and how much each may use."""

from __future__ import annotations

import pytest

from qmon.engines.base import Bound, Statement
from qmon.model.cost_budget import Budget
from qmon.model.samples.polled_samples import ClockSample, HeadSample
from qmon.monitor.background.table_scan import scan_allowance
from qmon.monitor.poll.probe_budget import InstanceCount, ProbeBudget
from qmon.monitor.probes.probe_statements import ProbeStatement

STATEMENT = Bound(Statement("test", "SELECT 1", (), ()))
STATEMENTS = [ProbeStatement("head", HeadSample, STATEMENT, f"q{n}") for n in range(10)]
STATEMENTS.append(ProbeStatement("clock", ClockSample, STATEMENT))


def test_the_first_poll_counts_who_is_there() -> None:
    assert InstanceCount().record_pollers(1000.0, 4) == 4


@pytest.mark.parametrize("interval_s", [0.5, 1.0, 2.0])
def test_a_command_of_three_seconds_each_minute_changes_nothing(interval_s: float) -> None:
    sharing = InstanceCount()
    for poll in range(int(600 / interval_s)):
        at = poll * interval_s
        assert sharing.record_pollers(at, 3 if at % 60 >= 57 else 2) == 2, at


def test_who_comes_or_leaves_is_counted_within_six_seconds() -> None:
    sharing = InstanceCount()
    seen = [sharing.record_pollers(float(at), 5 if 20 <= at < 40 else 1) for at in range(60)]
    assert seen[:20] == [1] * 20
    assert seen[26:40] == [5] * 14
    assert seen[46:] == [1] * 14


def test_who_has_a_name_of_their_own_counts_themselves() -> None:
    assert InstanceCount().record_pollers(1.0, 0) == 1


def test_where_the_others_are_not_shown_nobody_knows() -> None:
    sharing = InstanceCount()
    assert sharing.record_pollers(1.0, 3) == 3
    assert sharing.record_pollers(2.0, None) is None
    assert sharing.record_pollers(3.0, 2) == 2


def test_a_part_of_each_kind_of_budget() -> None:
    assert Budget(0.01).share_among(4).allowed_ms(2.0) == pytest.approx(5.0)
    assert Budget(poll_ms=100.0).share_among(4).allowed_ms(2.0) == pytest.approx(25.0)
    assert [Budget(0.01).share_among(n).label for n in (1, 2, 3)] == ["1 %", "0.50 %", "0.33 %"]
    assert Budget(poll_ms=100.0).share_among(3).label == "33 ms"


def test_scans_share_theirs_too() -> None:
    alone, third = (scan_allowance(Budget(0.01), None, 10_000, qmons) for qmons in (1, 3))
    assert third.share == pytest.approx(alone.share / 3)
    assert third.pages_s == pytest.approx(alone.pages_s / 3)
    assert scan_allowance(Budget(0.01), 5.0, 10_000, 3) == scan_allowance(Budget(0.01), 5.0, 10_000)


def test_each_keeps_to_its_part_and_has_the_whole_again_alone() -> None:
    observer = ProbeBudget(Budget(0.01))

    def polled(polls: int, qmons: int | None) -> float:
        """Return milliseconds per poll, over this number of polls."""
        spent = 0.0
        for _ in range(polls):
            observer.set_share(qmons)
            read = [each.key for each in observer.choose_statements(STATEMENTS, 1.0)]
            times = {key: 0.02 if key[1] == "clock" else 0.5 for key in observer.choose_probes_to_time()}
            observer.record_times(times, {}, 0.5 * len(read))
            spent += 0.5 * sum(key[1] == "head" for key in read) / observer.interval_s
        return spent / polls

    polled(20, 1)
    assert polled(40, 1) == 5.0
    polled(20, 5)
    observing = observer.to_polling_cost(0)
    assert (observing.budget, observing.qmons) == ("1%", 5)
    assert observing.allowed_ms == pytest.approx(2.0)
    assert observing.throttled
    assert polled(100, 5) <= 2.0
    polled(2, 1)
    assert observer.to_polling_cost(0).throttled == ()
    assert polled(10, None) == 5.0


def test_what_other_sessions_of_ours_take_is_part_of_the_budget() -> None:
    observer = ProbeBudget(Budget(0.01))
    expected = []
    for poll in range(40):
        observer.set_share(1, 0.0 if poll < 20 else 0.005)
        read = [each.key for each in observer.choose_statements(STATEMENTS, 1.0)]
        observer.record_times(
            {key: 0.02 if key[1] == "clock" else 0.4 for key in observer.choose_probes_to_time()}, {}, 0.4 * len(read)
        )
        expected.append(observer.to_polling_cost(0).expected_ms)
        assert bool(observer.to_polling_cost(0).throttled) == (poll >= 20), poll
    assert expected[19] > 5.0  # with five milliseconds more than there is room for
    assert 8.0 < expected[-1] <= 10.0


def test_what_decides_for_all_queues_is_throttled_last() -> None:
    of_target = [ProbeStatement(probe, HeadSample, STATEMENT) for probe in ("waits", "blocking", "horizon")]
    observer = ProbeBudget(Budget(0.005))
    for _ in range(40):
        observer.choose_statements([*of_target, *STATEMENTS], 1.0, watched={each.queue for each in STATEMENTS})
        observer.record_times(
            {key: 0.02 if key[1] == "clock" else 0.5 for key in observer.choose_probes_to_time()}, {}, 0.5
        )
    throttled = observer.to_polling_cost(0).throttled
    assert throttled and all(each.queue for each in throttled)
