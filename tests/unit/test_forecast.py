"""The forecast: net rate, never the drain rate alone, with a band."""

from __future__ import annotations

import pytest

from qmon.model.forecast import forecast
from qmon.model.view import Trend


def steady(net: float, ticks: int = 30) -> list[tuple[float, float]]:
    return [(1.0, net)] * ticks


def test_draining_uses_the_net_rate() -> None:
    found = forecast(700.0, steady(-10), pushed=90.0, popped=100.0)
    assert found.trend is Trend.DRAINING
    assert found.seconds == pytest.approx(70.0)
    assert found.text == "drains in 70 s"


def test_growing_says_by_how_much_and_gives_no_time() -> None:
    found = forecast(12_000.0, steady(216), pushed=91_204.0 / 10, popped=90_988.0 / 10)
    assert (found.trend, found.seconds, found.text) == (Trend.GROWING, None, "growing 216/s")


def test_noise_around_nothing_holds_steady() -> None:
    nets = [(1.0, n) for n in (40.0, -38.0, 12.0, -15.0, 25.0, -22.0) * 5]
    assert forecast(500.0, nets, pushed=100.0, popped=100.0).trend is Trend.STEADY


def test_the_band_widens_with_the_noise() -> None:
    calm = forecast(3000.0, [(1.0, n) for n in (-11.0, -9.0) * 15], 0.0, 10.0)
    wild = forecast(3000.0, [(1.0, n) for n in (-35.0, 15.0) * 15], 0.0, 10.0)
    assert calm.band_s is not None
    assert wild.band_s is not None
    assert wild.band_s > 5 * calm.band_s > 0


def test_nothing_is_foretold_from_one_tick_or_an_unknown_depth() -> None:
    assert forecast(10.0, steady(-1, 1), 0, 1).trend is Trend.UNKNOWN
    assert forecast(None, steady(-1), 0, 1).trend is Trend.UNKNOWN


def test_a_queue_that_nobody_touches_is_not_moving() -> None:
    assert forecast(40_112.0, steady(0), 0.0, 0.0).text == "not moving"


def test_long_times_are_said_in_large_units() -> None:
    text = forecast(100_000.0, [(1.0, n) for n in (-11.0, -9.0) * 30], 0.0, 10.0).text
    assert text.startswith("drains in 3 h") or text.startswith("drains in 167 m")
