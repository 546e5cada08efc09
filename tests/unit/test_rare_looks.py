"""Rare samples of waits: verdicts based on them do not flicker."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.samples.wait_samples import WaitSource, WaitTotal, WaitTotals
from qmon.monitor.state.rates.counter_windows import MIN_SAMPLES, WaitTrack
from tests.unit.polls import poll


def looked(looks: int, seconds: float) -> WaitTotals:
    waits = (WaitTotal("IO", "WalSync", None, seconds / 2),)
    return WaitTotals(WaitSource.SAMPLED, 500.0, seconds, waits, looks)


def test_rare_looks_are_taken_over_a_longer_time() -> None:
    """On a busy machine a look comes every three seconds: four seconds contain at most one."""
    track = WaitTrack()
    for n in range(20):
        looks = n // 3
        track.record_poll(replace(poll(n, 1000.0 + n), waits_total=looked(looks, 3.0 * looks + 1)), unbroken=True)
        found = track.waits_over(4.0)
        if n >= 3 * (MIN_SAMPLES + 1):
            assert found is not None
            assert (found.samples or 0) >= MIN_SAMPLES
            assert found.rates[0].sessions == 0.5


def test_looks_that_come_often_are_taken_over_the_time_asked_for() -> None:
    track = WaitTrack()
    for n in range(20):
        track.record_poll(replace(poll(n, 1000.0 + n), waits_total=looked(4 * n, 1.0 * n)), unbroken=True)
    found = track.waits_over(4.0)
    assert found is not None
    assert (found.samples, found.seconds) == (16, 4.0)
