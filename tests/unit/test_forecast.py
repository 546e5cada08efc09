"""The forecast: uses the net rate, never the drain rate alone, has a band, and starts when the rate last changed."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from qmon.model.forecast import SIGMAS, ForecastText, Trend, forecast_drain
from qmon.model.rates.flow import Flow
from qmon.model.rates.net_rate import current_net_rate

Ticks = list[tuple[float, Flow]]


def moved(nets: list[float], popped: float = 10.0, seconds: float = 1.0) -> Ticks:
    """Return ticks with these changes of ready messages and this number of pops each."""
    return [(seconds, Flow(net + popped, popped, None, net)) for net in nets]


def steady(net: float, ticks: int = 30, popped: float = 100.0) -> Ticks:
    return moved([net] * ticks, popped)


def test_draining_uses_the_net_rate() -> None:
    found = forecast_drain(700.0, steady(-10))
    assert found.trend is Trend.DRAINING
    assert found.seconds == pytest.approx(70.0)
    assert found.text == ForecastText.DRAINS_ABOUT.render(time="1 m 10 s", share="3 %")


def test_a_time_shorter_than_its_band_is_given_by_its_end() -> None:
    assert forecast_drain(10.0, steady(-10)).text == ForecastText.DRAINS_WITHIN.render(time="3.0 s")
    assert forecast_drain(0.0, steady(-10)).text == ForecastText.DRAINS_WITHIN.render(time="2.0 s")


def growing(rate: str) -> str:
    return ForecastText.GROWING.render(rate=rate)


def needing(rate: str, more: str) -> str:
    return ForecastText.NEEDS_CONSUMERS.render(growing=growing(rate), more=more)


def test_growing_says_by_how_much_and_gives_no_time() -> None:
    found = forecast_drain(12_000.0, steady(216, popped=90_988.0 / 10))
    assert (found.trend, found.seconds, found.text) == (Trend.GROWING, None, growing("216"))


@pytest.mark.parametrize(
    ("net", "popped", "consumers", "text"),
    [
        (12, 20, 4, needing("12.0", "3 more consumers")),  # each pops 5/s
        (5, 20, 4, needing("5.0", "1 more consumer")),
        (12, 0, 4, growing("12.0")),  # they pop nothing: more of them would not help
        (12, 20, 0, growing("12.0")),
    ],
)
def test_growing_says_how_many_consumers_it_takes(net: float, popped: float, consumers: int, text: str) -> None:
    assert forecast_drain(1_000.0, steady(net, popped=popped), consumers).text == text


def test_noise_around_nothing_holds_steady() -> None:
    found = forecast_drain(500.0, moved([40.0, -38.0, 12.0, -15.0, 25.0, -22.0] * 5, 100))
    assert (found.trend, found.text) == (Trend.STEADY, "stable")


def test_bursts_that_hide_the_trend_are_not_called_steady() -> None:
    found = forecast_drain(500.0, moved([60.0] * 5 + [-20.0] * 15 + [60.0] * 5, 30))
    assert (found.trend, found.text) == (Trend.STEADY, "unclear")


def test_the_band_widens_with_the_noise() -> None:
    def noisy(spread: float) -> Ticks:
        chance = random.Random(1)
        return moved([-10 + chance.choice((-spread, spread)) for _ in range(60)], 50)

    calm, wild = forecast_drain(3000.0, noisy(1.0)), forecast_drain(3000.0, noisy(8.0))
    assert calm.band_s is not None
    assert wild.band_s is not None
    assert wild.band_s > 4 * calm.band_s > 0


def test_what_makes_up_for_itself_is_less_noise_than_what_comes_in_bursts() -> None:
    """Return the same ticks in another order: late counters against bursts of ten seconds."""
    late = current_net_rate([(1.0, net) for net in (0.0, -20.0) * 50])
    bursts = current_net_rate([(1.0, net) for net in ([0.0] * 10 + [-20.0] * 10) * 5])
    assert late.net == bursts.net == -10
    assert bursts.noise > 10 * late.noise


def test_a_band_of_two_errors_holds_what_then_happens_in_19_of_20_walks() -> None:
    """Return random walks with a drift and a noise that lasts a few seconds, as they developed."""
    chance, held, told = random.Random(7), 0, 0
    for _ in range(200):
        nets, noise = list[float](), 0.0
        for _ in range(700):
            noise = 0.6 * noise + chance.gauss(0, 4)
            nets.append(-10 + noise)
        seen, depth, drained = nets[:60], 2000.0, 0
        while depth > 0:
            depth += nets[60 + drained]
            drained += 1
        found = forecast_drain(2000.0, moved(seen, 50))
        if found.seconds is not None and found.band_s is not None:
            told += 1
            held += abs(found.seconds - drained) <= found.band_s
    assert told > 190
    assert held >= 0.9 * told


def test_only_what_came_after_a_change_counts() -> None:
    """The rate changed 40 s ago. Including the time before would double the forecast."""
    chance = random.Random(3)
    nets = [net + chance.uniform(-2, 2) for net in [2.0] * 100 + [-10.0] * 40]
    found = forecast_drain(500.0, moved(nets, 50))
    assert found.seconds == pytest.approx(50, rel=0.1)
    assert current_net_rate([(1.0, net) for net in nets]).seconds == pytest.approx(40, abs=6)


def test_a_rate_that_did_not_change_is_taken_from_the_whole_window() -> None:
    chance = random.Random(5)
    assert current_net_rate([(2.0, chance.gauss(-20, 6)) for _ in range(90)]).seconds == pytest.approx(180)


@pytest.mark.parametrize("ticks", [2, 3, 5, 29, 30, 31, 77, 400])
def test_each_number_and_length_of_ticks_is_all_right(ticks: int) -> None:
    chance = random.Random(ticks)
    many = [(chance.uniform(0.4, 2.5), chance.uniform(-30, 10)) for _ in range(ticks)]
    found = current_net_rate(many)
    seconds = [length for length, _ in many]
    assert min(seconds) * 2 * 0.99 <= found.seconds <= sum(seconds) * 1.001
    assert found.noise >= 0


def test_the_band_of_growth_is_that_of_the_minute_to_come() -> None:
    chance = random.Random(11)
    ticks = moved([10 + chance.gauss(0, 3) for _ in range(120)], 40)
    found = forecast_drain(100.0, ticks)
    drift = current_net_rate([(seconds, flow.net or 0.0) for seconds, flow in ticks])
    assert found.growth_band == pytest.approx(SIGMAS * (drift.noise * (1 / drift.seconds + 1 / 60)) ** 0.5)


def test_nothing_is_foretold_from_one_tick_or_an_unknown_depth() -> None:
    assert forecast_drain(10.0, steady(-1, 1)).trend is Trend.UNKNOWN
    assert forecast_drain(None, steady(-1)).trend is Trend.UNKNOWN


def test_a_queue_that_nobody_touches_is_not_moving() -> None:
    assert forecast_drain(40_112.0, steady(0, popped=0)).text == ForecastText.NOT_MOVING


def test_an_empty_queue_is_empty() -> None:
    assert forecast_drain(0.0, steady(0)).text == ForecastText.EMPTY


def test_long_times_are_said_in_large_units() -> None:
    texts = [forecast_drain(depth, steady(-10)).text for depth in (1_000.0, 5_000.0, 100_000.0, 5_000_000.0)]
    assert texts == [
        ForecastText.DRAINS_ABOUT.render(time="1 m 40 s", share="2 %"),
        *(ForecastText.DRAINS_IN.render(time=each) for each in ("8 m 20 s", "2 h 46 m", "5 d 18 h")),
    ]
    assert all(a != b for a, b in pairwise(texts))


def test_what_would_take_longer_than_a_month_is_stable() -> None:
    found = forecast_drain(1e9, steady(-10))
    assert (found.trend, found.growth, found.text) == (Trend.STEADY, -10.0, "stable")
    assert forecast_drain(1e7, steady(-10)).trend is Trend.DRAINING
