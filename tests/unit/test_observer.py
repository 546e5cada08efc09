"""What watching may cost: what is left out, in which order, and that it comes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.budget import EASY, FULL, SLOWEST_S, Budget, Key, ProbePace, budget_of, chosen, load_ms, pace

KEPT = frozenset({"server", "clock"})
NAMES = st.sampled_from(["server", "clock", "head", "held", "ring", "uses", "waits"])
KEYS = st.tuples(st.sampled_from(["", "a", "b", "c"]), NAMES)
COSTS = st.dictionaries(KEYS, st.floats(0.0, 50.0), max_size=20)
BUDGETS = st.one_of(
    st.builds(Budget, st.floats(0.001, 1.0)), st.builds(lambda ms: Budget(poll_ms=ms), st.floats(0.1, 500.0))
)
INTERVALS = st.sampled_from([0.5, 1.0, 2.0, 10.0, 60.0])


@pytest.mark.parametrize(
    ("text", "allowed"), [("1%", 20.0), ("0.5 %", 10.0), ("10ms/s", 20.0), ("100ms", 100.0), ("2.5 ms", 2.5)]
)
def test_a_budget_is_a_share_or_milliseconds(text: str, allowed: float) -> None:
    budget = budget_of(text)
    assert budget is not None
    assert budget.allowed_ms(2.0) == pytest.approx(allowed)
    assert budget_of(budget.text) == budget


@pytest.mark.parametrize("text", ["", "1", "0%", "101%", "-1%", "0ms", "1s", "61000ms", "ms", "1e3ms", "1001ms/s"])
def test_what_is_no_budget(text: str) -> None:
    assert budget_of(text) is None


@given(COSTS, st.floats(0.0, 20.0), BUDGETS, INTERVALS)
def test_the_poll_fits_or_everything_that_may_be_is_left_out(
    costs: dict[Key, float], overhead: float, budget: Budget, asked: float
) -> None:
    found = pace(costs, overhead, budget, asked, ProbePace(asked), KEPT)
    most = max(2, int(SLOWEST_S / asked))
    load = load_ms(costs, found.every, overhead)
    able = {key for key, ms in costs.items() if key[1] not in KEPT and ms > 0}
    assert load <= FULL * budget.allowed_ms(asked) + 1e-6 or all(found.every.get(key) == most for key in able)
    assert not {probe for _, probe in found.every} & KEPT
    assert all(2 <= n <= most for n in found.every.values())
    if budget.poll_ms is None and found.interval_s < SLOWEST_S:
        assert load <= budget.allowed_ms(found.interval_s) + 1e-6


@given(COSTS, BUDGETS, INTERVALS)
def test_the_dearest_is_left_out_first(costs: dict[Key, float], budget: Budget, asked: float) -> None:
    found = pace(costs, 0.0, budget, asked, ProbePace(asked), KEPT)
    whole = {key: ms for key, ms in costs.items() if key not in found.every and key[1] not in KEPT}
    for key in found.every:
        assert all(costs[key] >= ms for ms in whole.values())


@given(COSTS, st.floats(0.0, 20.0), BUDGETS, INTERVALS)
def test_what_was_decided_stays_while_the_costs_do(
    costs: dict[Key, float], overhead: float, budget: Budget, asked: float
) -> None:
    first = pace(costs, overhead, budget, asked, ProbePace(asked), KEPT)
    second = pace(costs, overhead, budget, asked, first, KEPT)
    assert pace(costs, overhead, budget, asked, second, KEPT) == second


@given(COSTS, BUDGETS, INTERVALS, st.dictionaries(KEYS, st.integers(2, 64), max_size=20))
def test_everything_comes_back_once_there_is_room(
    costs: dict[Key, float], budget: Budget, asked: float, every: dict[Key, int]
) -> None:
    cheap = dict.fromkeys(costs, EASY * budget.allowed_ms(asked) / (len(costs) + 1))
    found = pace(cheap, 0.0, budget, asked, ProbePace(asked * 3, every), KEPT)
    assert found == ProbePace(asked)


@given(st.lists(KEYS, unique=True, min_size=1, max_size=20), st.data())
def test_nothing_is_left_out_for_ever(asked: list[Key], data: st.DataObject) -> None:
    costs = {key: data.draw(st.floats(0.0, 50.0)) for key in asked}
    every = {key: data.draw(st.sampled_from([2, 4, 8])) for key in asked if data.draw(st.booleans())}
    room = data.draw(st.floats(0.0, 200.0))
    now, waited = ProbePace(1.0, every), dict[Key, int]()
    runs = dict.fromkeys(asked, 0)
    for _ in range(400):
        read = chosen(asked, now, waited, costs, room)
        assert {key for key in asked if key not in every} <= read
        turns = [key for key in read if key in every]
        assert len(turns) <= 1 or sum(costs[key] for key in turns[1:]) <= room + 50.0
        for key in asked:
            waited[key] = 0 if key in read else waited.get(key, 0) + 1
            runs[key] += key in read
    crowd = max(1.0, sum(1 / n for n in every.values()))  # as many would be read a poll, where there is room for one
    assert all(runs[key] >= 400 / (every.get(key, 1) * crowd) / 2 - 1 for key in asked)
    assert all(runs[key] <= 400 // every.get(key, 1) + 1 for key in asked)


def test_a_poll_of_many_dear_probes_spreads_them() -> None:
    """A hundred queues that would cost 150 ms with 100 ms allowed: each poll stays below, each queue has its turn."""
    costs = {(f"q{n}", "head"): 1.5 for n in range(100)}
    budget = Budget(poll_ms=100.0)
    now, waited, read_at = pace(costs, 0.0, budget, 2.0, ProbePace(2.0)), dict[Key, int](), dict[Key, int]()
    for poll in range(40):
        read = chosen(list(costs), now, waited, costs, budget.allowed_ms(2.0))
        assert sum(costs[key] for key in read) <= 100.0
        for key in costs:
            waited[key] = 0 if key in read else waited.get(key, 0) + 1
            if key in read:
                assert poll - read_at.get(key, poll) <= 3
                read_at[key] = poll
    assert len(read_at) == 100
