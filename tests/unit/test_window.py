"""Rates over a window, and the depth extrapolated from a count."""

from __future__ import annotations

import pytest

from qmon.model.rates.flow import Flow
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.rates.rate_window import RateWindow, Tick


def flowing(window: RateWindow, ticks: int, start: float = 100.0, pushed: float = 10, popped: float = 8) -> None:
    window.start_over(start)
    for n in range(1, ticks + 1):
        window.record_tick(Tick(start + n, 1.0, Flow(pushed, popped, None, pushed - popped)))


def test_no_rate_before_the_second_poll() -> None:
    window = RateWindow()
    window.start_over(100.0)
    assert window.rates_over() is None


def test_rates_use_measured_time_and_only_the_window() -> None:
    window = RateWindow()
    window.start_over(0.0)
    window.record_tick(Tick(20.0, 20.0, Flow(2000, 0, None, 2000)))
    for n in range(10):
        window.record_tick(Tick(21.0 + n, 1.0, Flow(5, 5, 5, 0)))
    rates = window.rates_over()
    assert rates is not None
    assert (rates.pushed, rates.popped, rates.completed, rates.seconds) == (5, 5, 5, 10)


def test_a_tick_longer_than_the_window_is_still_a_rate() -> None:
    window = RateWindow()
    window.start_over(0.0)
    window.record_tick(Tick(30.0, 30.0, Flow(60, 30, None, 30)))
    rates = window.rates_over()
    assert rates is not None
    assert (rates.pushed, rates.completed) == (2, None)


def test_starting_anew_forgets_ticks_and_counts() -> None:
    window = RateWindow()
    flowing(window, 5)
    window.rebase_ready(103.0, 50)
    window.start_over(200.0)
    assert window.rates_over() is None
    assert window.extrapolated_ready() is None


def test_depth_is_carried_on_from_a_count_between_two_polls() -> None:
    window = RateWindow()
    flowing(window, 10)
    window.rebase_ready(105.5, 1000)
    carried = window.extrapolated_ready()
    assert carried is not None
    assert carried[0] == pytest.approx(1000 + 2 * 4.5)
    assert carried[1] == pytest.approx(4.5)


def test_a_count_from_before_the_break_is_refused() -> None:
    window = RateWindow()
    flowing(window, 3, start=100.0)
    window.rebase_ready(42.0, 7)
    assert window.extrapolated_ready() is None


def test_an_older_count_does_not_replace_a_newer_one() -> None:
    window = RateWindow()
    flowing(window, 10)
    window.rebase_ready(108.0, 500)
    window.rebase_ready(104.0, 9)
    carried = window.extrapolated_ready()
    assert carried is not None
    assert carried[0] == pytest.approx(504)


def test_the_carried_depth_never_falls_below_nothing() -> None:
    window = RateWindow()
    flowing(window, 4, pushed=0, popped=100)
    window.rebase_ready(100.0, 10)
    carried = window.extrapolated_ready()
    assert carried is not None
    assert carried[0] == 0


def test_watched_rows_are_stuck_only_for_as_long_as_they_were_seen() -> None:
    watched = WatchedProgress()
    watched.record_ids(["1", "2"], 100.0)
    watched.record_ids(["2", "3"], 500.0)
    assert watched.count_beyond(300.0, 500.0) == 1
    watched.record_ids(["1"], 501.0)
    assert watched.count_beyond(300.0, 501.0) == 0


def test_rows_taken_between_two_reads_may_be_stuck_if_the_reads_lie_further_apart_than_the_timeout() -> None:
    watched = WatchedProgress()
    watched.record_ids(["1"], 100.0)
    assert watched.count_perhaps_beyond(300.0, 100.0) == 1, "the time of its pop is unknown"
    watched.record_ids(["2"], 500.0)
    assert (watched.count_beyond(300.0, 500.0), watched.count_perhaps_beyond(300.0, 500.0)) == (0, 1)
    watched.record_ids(["2", "3"], 700.0)
    assert (watched.count_beyond(300.0, 700.0), watched.count_perhaps_beyond(300.0, 700.0)) == (0, 1)
    watched.record_gap()
    watched.record_ids(["2", "3", "4"], 750.0)
    assert watched.count_perhaps_beyond(300.0, 750.0) == 2


def test_the_age_of_a_head_comes_from_when_its_id_was_issued() -> None:
    ids = WatchedIds()
    assert ids.age(5, 0.0) is None
    ids.record_last_id(100, 10.0)
    ids.record_last_id(200, 20.0)
    ids.record_last_id(200, 30.0)
    assert ids.age(50, 40.0) == (30.0, True)
    assert ids.age(150, 40.0) == (20.0, False)
    assert ids.age(201, 40.0) is None
    ids.record_last_id(3, 50.0)
    assert ids.age(3, 50.0) is None


def test_a_count_is_carried_on_over_2400_polls() -> None:
    window = RateWindow()
    flowing(window, 10_000, start=0.0)
    window.rebase_ready(10_000.0 - 2390.0, 100.0)
    assert window.extrapolated_ready() == (100.0 + 2 * 2390.0, 2390.0)
    window.rebase_ready(1.0, 100.0)
    assert window.extrapolated_ready() == (100.0 + 2 * 2390.0, 2390.0), "older samples are not remembered"
