"""Waits between two readings: seconds, sessions, shares, resets and gaps; and the known facts about waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.samples.wait_samples import WaitSource, WaitTotal, WaitTotals
from qmon.model.waits.meanings import MEANT_POSTGRES, is_benign, wait_meaning
from qmon.model.waits.meanings_sqlserver import MEANINGS
from qmon.model.waits.wait_rates import waiting_between
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import poll

SAMPLED = WaitTotals(
    WaitSource.SAMPLED, 500.0, 10.0, (WaitTotal("IO", "WalSync", None, 4.0), WaitTotal("", "", None, 1.0)), 40
)
LATER = WaitTotals(
    WaitSource.SAMPLED,
    500.0,
    20.0,
    (
        WaitTotal("Client", "ClientRead", None, 3.0),
        WaitTotal("IO", "WalSync", None, 34.0),
        WaitTotal("", "", None, 11.0),
        WaitTotal("Lock", "tuple", None, 10.0),
    ),
    80,
)
COUNTED = WaitTotals(WaitSource.COUNTED, 500.0, 1000.0, (WaitTotal("wait", "WRITELOG", 100, 2.0, 0.5),))


def test_seconds_waited_come_to_sessions_and_shares() -> None:
    found = waiting_between(SAMPLED, LATER)
    assert found is not None
    assert (found.seconds, found.samples) == (10.0, 40)
    assert [(r.name, r.sessions, r.share) for r in found.rates] == [
        ("IO:WalSync", 3.0, 0.6),
        ("running", 1.0, 0.2),
        ("Lock:tuple", 1.0, 0.2),
    ]
    assert found.busy == 5.0
    assert [(r.name, r.sessions) for r in found.benign] == [("Client:ClientRead", 0.3)]


def test_what_the_server_counts_comes_per_second_and_each() -> None:
    later = WaitTotals(
        WaitSource.COUNTED,
        500.0,
        1010.0,
        (WaitTotal("wait", "WRITELOG", 300, 6.0, 1.5), WaitTotal("latch", "FGCB_ADD_REMOVE", 5, 1.0)),
    )
    found = waiting_between(COUNTED, later)
    assert found is not None
    (rate,) = found.rates
    assert (rate.per_s, rate.each_s, rate.signal, rate.share) == (20.0, 0.02, 0.25, 1.0)
    assert [latch.name for latch in found.latches] == ["latch:FGCB_ADD_REMOVE"]
    assert found.samples is None


@pytest.mark.parametrize(
    "later",
    [
        replace(COUNTED, watched_s=1010.0, since_at=990.0),
        replace(COUNTED, watched_s=1010.0, waits=(WaitTotal("wait", "WRITELOG", 3, 0.1, 0.0),)),
        replace(COUNTED, watched_s=1010.0, waits=(WaitTotal("wait", "WRITELOG", 3, 5.0, 0.0),)),
        replace(COUNTED, watched_s=1000.0),
        replace(COUNTED, source=WaitSource.SAMPLED, watched_s=1010.0),
    ],
    ids=["restart", "reset", "reset, and more since", "nothing watched", "another source"],
)
def test_no_rate_across_a_reset_or_a_restart(later: WaitTotals) -> None:
    assert waiting_between(COUNTED, later) is None


def test_history_gives_no_rate_across_a_gap_of_the_polls() -> None:
    history = TargetHistory()
    history.record_snapshot(replace(poll(1, 1000.0), waits_total=SAMPLED))
    assert history.record_snapshot(replace(poll(2, 1002.0), waits_total=LATER)).server.waiting is not None
    assert (
        history.record_snapshot(replace(poll(3, 1300.0), waits_total=replace(LATER, watched_s=90.0))).server.waiting
        is None
    )


def test_history_begins_anew_where_totals_began_anew() -> None:
    history = TargetHistory()
    history.record_snapshot(replace(poll(1, 1000.0), waits_total=LATER))
    fresh = replace(SAMPLED, since_at=1001.0, watched_s=0.5)
    assert history.record_snapshot(replace(poll(2, 1002.0), waits_total=fresh)).server.waiting is None
    found = history.record_snapshot(
        replace(poll(3, 1004.0), waits_total=replace(fresh, watched_s=2.5, samples=48))
    ).server.waiting
    assert found is not None
    assert (found.samples, found.seconds) == (8, 2.0)


@pytest.mark.parametrize(
    "kind_event",
    [
        ("LWLock", "WALWrite"),
        ("IO", "WALSync"),
        ("IO", "WalSync"),
        ("LWLock", "buffer_content"),
        ("wait", "PAGELATCH_EX"),
        ("wait", "LCK_M_RIn_NL"),
        ("latch", "FGCB_ADD_REMOVE"),
    ],
)
def test_the_waits_that_matter_are_known_in_every_spelling(kind_event: tuple[str, str]) -> None:
    found = wait_meaning(*kind_event)
    assert found is not None
    assert found.waits_for
    assert found.cause
    assert found.fix
    assert not is_benign(*kind_event)


def test_what_is_known_is_said_whole_and_in_one_line() -> None:
    told = [(m.waits_for, m.cause) for m in MEANT_POSTGRES.values()] + [
        (what, why) for what, why, _ in MEANINGS.values()
    ]
    assert all(part and "\n" not in part and len(part) <= 120 for words in told for part in words)


def test_background_work_is_benign() -> None:
    assert is_benign("Activity", "CheckpointerMain")
    assert is_benign("Client", "ClientRead")
    assert is_benign("wait", "LAZYWRITER_SLEEP")
    assert is_benign("wait", "XE_TIMER_EVENT")
    assert is_benign("latch", "BUFFER"), "the sum of the page waits"
    assert not is_benign("", ""), "running is work"
    assert wait_meaning("LWLock", "Unheard") is None


@pytest.mark.parametrize("moved", [-3600.0, 3600.0, 1800.0])
def test_waits_go_on_over_a_change_of_the_servers_clock(moved: float) -> None:
    waits = (WaitTotal("wait", "WRITELOG", 300, 6.0, 1.5),)
    found = waiting_between(COUNTED, WaitTotals(WaitSource.COUNTED, 500.0 + moved, 1010.0 - moved, waits))
    assert found is not None
    assert found.seconds == 10.0
    assert found.rates[0].sessions == 0.4
    assert waiting_between(COUNTED, WaitTotals(WaitSource.COUNTED, 500.0 + moved + 5, 1005.0 - moved, waits)) is None
    later = replace(SAMPLED, since_at=500.0 + moved, watched_s=20.0 - moved)
    assert waiting_between(SAMPLED, later) is None, "the sampler was started again"
