"""Rates of the server's own counters: over the window, across a reset, a gap, and polls that left them out."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.rates.counter_rates import rates_between
from qmon.model.samples.counter_samples import ServerCounters
from qmon.model.snapshot import Snapshot
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import poll

BIG = 2**53 + 1
FIRST = ServerCounters(10, 100, 0, 5, BIG, 1_000, None)
LATER = ServerCounters(20, 140, 0, 5, BIG + 8, 5_000, None)


def polled(sequence: int, at: float, counters: ServerCounters | None) -> Snapshot:
    return replace(poll(sequence, at), server_counters=counters)


def test_what_has_grown_by_the_time_between() -> None:
    found = rates_between(FIRST, LATER, 4.0)
    assert found is not None
    assert (found.batches, found.transactions, found.page_splits, found.lock_timeouts) == (1_000.0, 10.0, 2.0, 0.0)
    assert found.log_flush_waits is None, "this server has no such counter"


def test_no_rate_across_a_reset_or_of_no_time() -> None:
    assert rates_between(LATER, FIRST, 4.0) is None
    assert rates_between(FIRST, replace(LATER, lock_timeouts=4), 4.0) is None
    assert rates_between(FIRST, LATER, 0.0) is None


def test_history_shows_them_from_the_second_poll_on() -> None:
    history = TargetHistory()
    assert history.record_snapshot(polled(1, 1000.0, FIRST)).server.counters is None
    found = history.record_snapshot(polled(2, 1002.0, LATER)).server.counters
    assert found is not None
    assert (found.seconds, found.page_splits) == (2.0, 4.0)
    assert history.record_snapshot(polled(3, 1004.0, None)).server.counters == found, "left out of a poll: as before"
    assert history.record_snapshot(polled(4, 1006.0, FIRST)).server.counters is None, (
        "reset: the counts are from an unknown time"
    )
    assert history.record_snapshot(polled(5, 1300.0, LATER)).server.counters is None, "no rates across a gap"


def test_they_are_rates_of_the_last_ten_seconds() -> None:
    history = TargetHistory()
    views = [
        history.record_snapshot(polled(n, 1000.0 + 2 * n, replace(FIRST, batches=1_000 + n * n))) for n in range(1, 21)
    ]
    found = views[-1].server.counters
    assert found is not None
    assert found.seconds == 10.0
    assert found.batches == (20 * 20 - 15 * 15) / 10.0


def test_another_engine_has_none() -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0))
    assert history.record_snapshot(poll(2, 1002.0)).server.counters is None
