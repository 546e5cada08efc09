"""Rates over a window, and the depth carried on from a count."""

from __future__ import annotations

import pytest

from qmon.model.rates.flow import Flow
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.rates.rate_window import RateWindow, Tick


def flowing(window: RateWindow, ticks: int, start: float = 100.0, pushed: float = 10, popped: float = 8) -> None:
    window.start(start)
    for n in range(1, ticks + 1):
        window.add(Tick(start + n, 1.0, Flow(pushed, popped, None, pushed - popped)))


def test_no_rate_before_the_second_poll() -> None:
    window = RateWindow()
    window.start(100.0)
    assert window.rates() is None


def test_rates_use_measured_time_and_only_the_window() -> None:
    window = RateWindow()
    window.start(0.0)
    window.add(Tick(20.0, 20.0, Flow(2000, 0, None, 2000)))
    for n in range(10):
        window.add(Tick(21.0 + n, 1.0, Flow(5, 5, 5, 0)))
    rates = window.rates()
    assert rates is not None
    assert (rates.pushed, rates.popped, rates.completed, rates.seconds) == (5, 5, 5, 10)


def test_a_tick_longer_than_the_window_is_still_a_rate() -> None:
    window = RateWindow()
    window.start(0.0)
    window.add(Tick(30.0, 30.0, Flow(60, 30, None, 30)))
    rates = window.rates()
    assert rates is not None
    assert (rates.pushed, rates.completed) == (2, None)


def test_starting_anew_forgets_ticks_and_counts() -> None:
    window = RateWindow()
    flowing(window, 5)
    window.rebase(103.0, 50)
    window.start(200.0)
    assert window.rates() is None
    assert window.carried() is None


def test_depth_is_carried_on_from_a_count_between_two_polls() -> None:
    window = RateWindow()
    flowing(window, 10)
    window.rebase(105.5, 1000)
    carried = window.carried()
    assert carried is not None
    assert carried[0] == pytest.approx(1000 + 2 * 4.5)
    assert carried[1] == pytest.approx(4.5)


def test_a_count_from_before_the_break_is_refused() -> None:
    window = RateWindow()
    flowing(window, 3, start=100.0)
    window.rebase(42.0, 7)
    assert window.carried() is None


def test_an_older_count_does_not_replace_a_newer_one() -> None:
    window = RateWindow()
    flowing(window, 10)
    window.rebase(108.0, 500)
    window.rebase(104.0, 9)
    carried = window.carried()
    assert carried is not None
    assert carried[0] == pytest.approx(504)


def test_the_carried_depth_never_falls_below_nothing() -> None:
    window = RateWindow()
    flowing(window, 4, pushed=0, popped=100)
    window.rebase(100.0, 10)
    carried = window.carried()
    assert carried is not None
    assert carried[0] == 0


def test_watched_rows_are_stuck_only_for_as_long_as_they_were_seen() -> None:
    watched = WatchedProgress()
    watched.see(["1", "2"], 100.0)
    watched.see(["2", "3"], 500.0)
    assert watched.beyond(300.0, 500.0) == 1
    watched.see(["1"], 501.0)
    assert watched.beyond(300.0, 501.0) == 0


def test_rows_taken_between_two_reads_may_be_stuck_if_the_reads_lie_further_apart_than_the_timeout() -> None:
    watched = WatchedProgress()
    watched.see(["1"], 100.0)
    assert watched.perhaps_beyond(300.0, 100.0) == 1, "nobody saw when it was taken"
    watched.see(["2"], 500.0)
    assert (watched.beyond(300.0, 500.0), watched.perhaps_beyond(300.0, 500.0)) == (0, 1)
    watched.see(["2", "3"], 700.0)
    assert (watched.beyond(300.0, 700.0), watched.perhaps_beyond(300.0, 700.0)) == (0, 1)
    watched.broken()
    watched.see(["2", "3", "4"], 750.0)
    assert watched.perhaps_beyond(300.0, 750.0) == 2


def test_the_age_of_a_head_comes_from_when_its_id_was_issued() -> None:
    ids = WatchedIds()
    assert ids.age(5, 0.0) is None
    ids.see(100, 10.0)
    ids.see(200, 20.0)
    ids.see(200, 30.0)
    assert ids.age(50, 40.0) == (30.0, True)
    assert ids.age(150, 40.0) == (20.0, False)
    assert ids.age(201, 40.0) is None
    ids.see(3, 50.0)
    assert ids.age(3, 50.0) is None


def test_a_count_is_carried_on_over_2400_polls() -> None:
    window = RateWindow()
    flowing(window, 10_000, start=0.0)
    window.rebase(10_000.0 - 2390.0, 100.0)
    assert window.carried() == (100.0 + 2 * 2390.0, 2390.0)
    window.rebase(1.0, 100.0)
    assert window.carried() == (100.0 + 2 * 2390.0, 2390.0), "what is older is not remembered"
