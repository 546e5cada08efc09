"""The cost budget of polling: which probes are left out, in which order, and that they come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.cost_budget import (
    RELAX_BELOW,
    SLOWEST_S,
    UNLIMITED,
    Budget,
    ProbeKey,
    ProbePace,
    Rank,
    choose_probes,
    load_ms,
    parse_budget,
    plan_pace,
)

RANKS = {"server": Rank.ALWAYS, "clock": Rank.ALWAYS, "uses": Rank.DETAIL, "waits": Rank.DETAIL, "ring": Rank.WATCHED}
NAMES = st.sampled_from(["server", "clock", "head", "held", "ring", "uses", "waits"])
KEYS = st.tuples(st.sampled_from(["", "a", "b", "c"]), NAMES)
COSTS = st.dictionaries(KEYS, st.floats(0.0, 50.0), max_size=20)
BUDGETS = st.one_of(
    st.builds(Budget, st.floats(0.001, 1.0)), st.builds(lambda ms: Budget(poll_ms=ms), st.floats(0.1, 500.0))
)
INTERVALS = st.sampled_from([0.5, 1.0, 2.0, 10.0, 60.0])


def rank(key: ProbeKey) -> Rank:
    return RANKS.get(key[1], Rank.DECIDES)


def slowest(key: ProbeKey, interval_s: float) -> int:
    """Return the maximum number of polls from one reading to the next."""
    return max(1, int(SLOWEST_S.get(rank(key), 0.0) / interval_s))


@pytest.mark.parametrize(
    ("text", "allowed"), [("1%", 20.0), ("0.5 %", 10.0), ("10ms/s", 20.0), ("100ms", 100.0), ("2.5 ms", 2.5)]
)
def test_a_budget_is_a_share_or_milliseconds(text: str, allowed: float) -> None:
    budget = parse_budget(text)
    assert budget is not None
    assert budget.allowed_ms(2.0) == pytest.approx(allowed)
    assert parse_budget(budget.text) == budget


@pytest.mark.parametrize("text", ["", "1", "0%", "101%", "-1%", "0ms", "1s", "61000ms", "ms", "1e3ms", "1001ms/s"])
def test_what_is_no_budget(text: str) -> None:
    assert parse_budget(text) is None


@given(COSTS, st.floats(0.0, 20.0), BUDGETS, INTERVALS)
def test_the_poll_fits_or_everything_is_read_as_seldom_as_it_may_be(
    costs: dict[ProbeKey, float], overhead: float, budget: Budget, asked: float
) -> None:
    found = plan_pace(costs, overhead, budget, asked, ProbePace(asked), rank)
    interval = found.interval_s
    fits = load_ms(costs, found.every, overhead) <= budget.allowed_ms(interval) + 1e-6
    seldom = all(found.every.get(key, 1) == slowest(key, interval) for key, ms in costs.items() if ms > 0)
    assert fits or (seldom and (budget.poll_ms is not None or interval == max(asked, SLOWEST_S[Rank.DECIDES])))
    assert all(2 <= n <= slowest(key, interval) for key, n in found.every.items())
    assert all(n * interval <= SLOWEST_S[rank(key)] for key, n in found.every.items())
    assert interval == asked or asked < interval <= SLOWEST_S[Rank.DECIDES]


@given(COSTS, st.floats(0.0, 20.0), INTERVALS)
def test_without_a_limit_everything_is_read_in_each_poll(
    costs: dict[ProbeKey, float], overhead: float, asked: float
) -> None:
    dear = {key: 1_000.0 * ms for key, ms in costs.items()}
    assert plan_pace(dear, overhead, UNLIMITED, asked, ProbePace(asked), rank) == ProbePace(asked)


@given(COSTS, BUDGETS, INTERVALS)
def test_what_decides_a_verdict_goes_last_and_of_equals_the_dearest_first(
    costs: dict[ProbeKey, float], budget: Budget, asked: float
) -> None:
    found = plan_pace(costs, 0.0, budget, asked, ProbePace(asked), rank)
    for key in found.every:
        for other, ms in costs.items():
            if rank(other) < rank(key) and ms > 0:
                assert found.every.get(other, 1) == slowest(other, found.interval_s)
            elif rank(other) == rank(key) and other not in found.every:
                assert costs[key] >= ms


@given(COSTS, st.floats(0.0, 20.0), BUDGETS, INTERVALS)
def test_what_was_decided_stays_while_the_costs_do(
    costs: dict[ProbeKey, float], overhead: float, budget: Budget, asked: float
) -> None:
    first = plan_pace(costs, overhead, budget, asked, ProbePace(asked), rank)
    second = plan_pace(costs, overhead, budget, asked, first, rank)
    assert plan_pace(costs, overhead, budget, asked, second, rank) == second


@given(COSTS, BUDGETS, INTERVALS, st.dictionaries(KEYS, st.integers(2, 64), max_size=20))
def test_everything_comes_back_at_once_when_there_is_room(
    costs: dict[ProbeKey, float], budget: Budget, asked: float, every: dict[ProbeKey, int]
) -> None:
    cheap = dict.fromkeys(costs, RELAX_BELOW * budget.allowed_ms(asked) / (len(costs) + 1))
    found = plan_pace(cheap, 0.0, budget, asked, ProbePace(asked * 3, every), rank)
    assert found == ProbePace(asked)


@given(COSTS, BUDGETS, INTERVALS)
def test_while_anything_is_throttled_the_budget_is_used(
    costs: dict[ProbeKey, float], budget: Budget, asked: float
) -> None:
    """Check that at least 60 % of the budget is used, except for a probe that would exceed it if it ran once more."""
    allowed = budget.allowed_ms(asked)
    now = plan_pace(costs, 0.0, budget, asked, plan_pace(costs, 0.0, budget, asked, ProbePace(asked), rank), rank)
    if now.every and now.interval_s == asked:
        more = min(costs[key] / max(1, n - 1) - costs[key] / n for key, n in now.every.items())
        assert load_ms(costs, now.every, 0.0) + more > 0.6 * allowed


@given(st.lists(KEYS, unique=True, min_size=1, max_size=20), st.data())
def test_nothing_is_left_out_for_ever(asked: list[ProbeKey], data: st.DataObject) -> None:
    costs = {key: data.draw(st.floats(0.0, 50.0)) for key in asked}
    every = {key: data.draw(st.sampled_from([2, 4, 8])) for key in asked if data.draw(st.booleans())}
    room = data.draw(st.floats(0.0, 200.0))
    now, waited = ProbePace(1.0, every), dict[ProbeKey, int]()
    runs = dict.fromkeys(asked, 0)
    for _ in range(400):
        read = choose_probes(asked, now, waited, costs, room)
        assert {key for key in asked if key not in every} <= read
        turns = [key for key in read if key in every]
        assert len(turns) <= 1 or sum(costs[key] for key in turns[1:]) <= room + 50.0
        for key in asked:
            waited[key] = 0 if key in read else waited.get(key, 0) + 1
            runs[key] += key in read
    crowd = max(1.0, sum(1 / n for n in every.values()))  # probes that would be read per poll with room for one
    assert all(runs[key] >= 400 / (every.get(key, 1) * crowd) / 2 - 1 for key in asked)
    assert all(runs[key] <= 400 // every.get(key, 1) + 1 for key in asked)


def test_a_poll_of_many_dear_probes_spreads_them() -> None:
    """A hundred queues cost 150 ms with 100 ms allowed: each poll stays below, and each queue gets its turn."""
    costs = {(f"q{n}", "head"): 1.5 for n in range(100)}
    budget = Budget(poll_ms=100.0)
    now, waited, read_at = (
        plan_pace(costs, 0.0, budget, 2.0, ProbePace(2.0)),
        dict[ProbeKey, int](),
        dict[ProbeKey, int](),
    )
    for poll in range(40):
        read = choose_probes(list(costs), now, waited, costs, budget.allowed_ms(2.0))
        assert sum(costs[key] for key in read) <= 100.0
        for key in costs:
            waited[key] = 0 if key in read else waited.get(key, 0) + 1
            if key in read:
                assert poll - read_at.get(key, poll) <= 3
                read_at[key] = poll
    assert len(read_at) == 100
