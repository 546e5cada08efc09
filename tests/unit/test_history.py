"""History: snapshots folded into figures, across gaps, restarts and resets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.baseline_bands import HOURS, Baseline, Baselines
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout, ObjectName, Ring
from qmon.model.layout.time_zones import LOCAL_ZONE, UNKNOWN_ZONE
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import (
    HeadSample,
    HeldSample,
    ProgressSample,
    RingSample,
    WriterSample,
)
from qmon.model.snapshot import ProbeFailure, QueueSamples
from qmon.model.status_report import status_object
from qmon.monitor.state.sample_figures import FigureText
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, FIFO, STATUS, T, fifo, moved, poll
from tests.wordings import has

RING = Layout("r", "ring", T, ring=Ring(100, ObjectName("p", "a"), ObjectName("p", "b")))


@pytest.mark.parametrize(
    ("usual_per_s", "weeks", "silent"), [(0.0, 4, False), (1.0, 9, False), (2.0, 9, True), (0.0, 3, True)]
)
def test_a_queue_that_usually_gets_nothing_at_this_hour_is_not_silent(
    usual_per_s: float, weeks: int, silent: bool
) -> None:
    """Twelve minutes with ten pushes a second, then one without pushes."""
    usual = Baseline(usual_per_s, 0.0, weeks)
    hours = {"t": {FIFO.queue: {"push_rate": dict.fromkeys(range(HOURS), usual)}}}
    history = TargetHistory(baselines=lambda: Baselines(hours))
    counters, said = COUNTERS, set[str]()
    for n in range(1, 391):
        moving = 20 if n < 360 else 0
        counters = moved(counters, moving, moving)
        view = history.record_snapshot(poll(n, 1000.0 + 2 * n, fifo(counters, 0)))
        said |= {verdict.code for verdict in view.queues[0].verdicts}
    assert ("no pushes" in said) == silent


def test_a_poll_with_some_queues_has_no_failures_of_the_others() -> None:
    failures = tuple(ProbeFailure("head", "denied", queue=name) for name in ("", "f", "r"))
    whole = replace(poll(1, 1000.0, fifo(COUNTERS), QueueSamples(RING)), failures=failures)
    part = whole.only_queues({"f"})
    assert [samples.layout.queue for samples in part.queues] == ["f"]
    assert [failure.queue for failure in part.failures] == ["", "f"]
    view = TargetHistory().record_snapshot(part)
    assert [queue.name for queue in view.queues] == ["f"]
    assert [failure.queue for failure in view.failures] == [""]


def test_first_poll_shows_depth_and_no_rate() -> None:
    view = TargetHistory().record_snapshot(poll(1, 1000.0, fifo(COUNTERS)))
    queue = view.queues[0]
    assert (queue.ready.value, queue.push_rate.value) == (5, None)
    assert queue.push_rate.reason == Reason.RATES_FOLLOW
    assert view.server.commits.value is None
    assert queue.gap.value == 14


@pytest.mark.parametrize(
    ("head", "age_s", "at_least", "estimated"),
    [("7", 10.0, True, False), ("22", 8.0, False, True), ("26", None, False, False), ("x", None, False, False)],
)
def test_the_oldest_without_a_push_time_is_as_old_as_its_id_is_known(
    head: str, age_s: float | None, at_least: bool, estimated: bool
) -> None:
    history, given = TargetHistory(), fifo(COUNTERS, head=HeadSample(head, None, 5))
    for number, last_id in ((1, 20), (2, 25)):
        history.record_snapshot(poll(number, 998.0 + 2 * number, replace(given, last_id=last_id)))
    oldest = history.record_snapshot(poll(3, 1010.0, replace(given, last_id=25))).queues[0].oldest
    assert (oldest.value, oldest.at_least, oldest.estimated) == (age_s, at_least, estimated)
    assert oldest.reason


ZONELESS = replace(FIFO, enqueued_at="made", zones=(("made", UNKNOWN_ZONE),))
STATED = replace(FIFO, enqueued_at="made", zones=(("made", LOCAL_ZONE),))


@pytest.mark.parametrize("layout", [ZONELESS, STATED], ids=["of an unknown zone", "ahead of the clock"])
def test_without_a_usable_push_time_ages_of_messages_that_arrive_are_watched(layout: Layout) -> None:
    history, ahead_s = TargetHistory(), None if layout is ZONELESS else -7190.0
    given = fifo(COUNTERS, head=HeadSample("22", ahead_s, 5), layout=layout)
    for number, last_id in ((1, 20), (2, 25)):
        history.record_snapshot(poll(number, 998.0 + 2 * number, replace(given, last_id=last_id)))
    oldest = history.record_snapshot(poll(3, 1010.0, replace(given, last_id=25))).queues[0].oldest
    assert (oldest.value, oldest.estimated, oldest.reason) == (
        8.0,
        True,
        Reason.WATCHED.render(reason=FigureText.NO_USABLE_TIME.render(column="made")),
    )


@pytest.mark.parametrize(("seconds", "age_s"), [(-61.0, None), (-59.0, 0.0), (-0.1, 0.0), (3.0, 3.0)])
def test_a_push_time_well_ahead_of_the_clock_gives_no_age(seconds: float, age_s: float | None) -> None:
    given = fifo(COUNTERS, head=HeadSample("x", seconds, 5), layout=STATED)
    oldest = TargetHistory().record_snapshot(poll(1, 1000.0, given)).queues[0].oldest
    assert oldest.value == age_s
    assert (has(oldest.reason, Reason.CLOCK_AHEAD, column="`made`", lead="1 m 01 s")) == (age_s is None)


def test_rings_and_scans_give_no_age_by_a_time_ahead_of_the_clock_either() -> None:
    ring = QueueSamples(RING, ring=RingSample(20, 10, 10, 10, 0, 0, -7200.0))
    scanned = fifo(
        COUNTERS, head=None, unknown={"oldest": "scanned"}, count=TableCount(999.0, 0.0, 60.0, 1, 5, oldest_at=8200.0)
    )
    for given in (ring, scanned):
        oldest = TargetHistory().record_snapshot(poll(1, 1000.0, given)).queues[0].oldest
        assert (oldest.value, has(oldest.reason, Reason.CLOCK_AHEAD, lead="2 h 00 m")) == (None, True)


def test_ages_are_watched_without_a_break_once_a_time_was_ahead() -> None:
    history = TargetHistory()
    for number, (ahead_s, last_id) in enumerate([(-7200.0, 20), (5.0, 25), (5.0, 30)], 1):
        head = HeadSample("7", ahead_s, 5)
        history.record_snapshot(
            poll(number, 998.0 + 2 * number, fifo(COUNTERS, head=head, layout=STATED, last_id=last_id))
        )
    late = fifo(COUNTERS, head=HeadSample("22", -7200.0, 5), layout=STATED, last_id=30)
    assert history.record_snapshot(poll(4, 1010.0, late)).queues[0].oldest.value == 8.0


def test_second_poll_gives_rates_of_committed_messages() -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS)))
    queue = history.record_snapshot(poll(2, 1002.0, fifo(moved(COUNTERS, 20, 10)))).queues[0]
    assert (queue.push_rate.value, queue.pop_rate.value, queue.window_s) == (10, 5, 2)


@pytest.mark.parametrize(("window_s", "pushed"), [(10.0, 20.0), (60.0, 12.0)])
def test_rates_are_taken_over_as_long_as_is_asked(window_s: float, pushed: float) -> None:
    """Ten a second for forty seconds, then twenty."""
    history = TargetHistory(window_s=window_s)
    steps = [20 * number + 20 * max(0, number - 20) for number in range(26)]
    views = [
        history.record_snapshot(poll(n + 1, 1000.0 + 2 * n, fifo(moved(COUNTERS, moves, 0))))
        for n, moves in enumerate(steps)
    ]
    queue = views[-1].queues[0]
    assert (queue.push_rate.value, queue.window_s) == (pushed, min(window_s, 50.0))


@pytest.mark.parametrize(("started_at", "rate"), [(500.0, 10.0), (0.0, None)])
def test_a_server_that_does_not_say_when_it_started_may_be_another_one_over_another_connection(
    started_at: float, rate: float | None
) -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS), started_at=started_at))
    now = replace(poll(2, 1002.0, fifo(moved(COUNTERS, 20, 10)), started_at=started_at), first=True)
    assert history.record_snapshot(now).queues[0].push_rate.value == rate


def test_a_restart_begins_anew_and_never_shows_an_absurd_rate() -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(moved(COUNTERS, 10_000, 9_000))))
    history.record_snapshot(poll(2, 1002.0, fifo(moved(COUNTERS, 10_100, 9_100))))
    queue = history.record_snapshot(poll(3, 1004.0, fifo(COUNTERS), started_at=1003.0)).queues[0]
    assert queue.push_rate.value is None
    queue = history.record_snapshot(poll(4, 1006.0, fifo(moved(COUNTERS, 4, 2)), started_at=1003.0)).queues[0]
    assert (queue.push_rate.value, queue.pop_rate.value) == (2, 1)


def test_a_gap_breaks_the_rates() -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS)))
    queue = history.record_snapshot(poll(3, 1020.0, fifo(moved(COUNTERS, 300, 300)))).queues[0]
    assert queue.push_rate.value is None


def test_a_poll_that_was_late_breaks_nothing() -> None:
    """The server took twenty seconds to answer; its counters include the moves in that time."""
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS)))
    queue = history.record_snapshot(poll(2, 1020.0, fifo(moved(COUNTERS, 300, 200)))).queues[0]
    assert (queue.push_rate.value, queue.pop_rate.value) == (15, 10)
    queue = history.record_snapshot(poll(3, 1051.0, fifo(moved(COUNTERS, 400, 300)))).queues[0]
    assert queue.push_rate.value is None


def test_beyond_the_limit_the_depth_is_a_lower_bound_until_a_count_arrives() -> None:
    history = TargetHistory()
    queue = history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS, counted=1001))).queues[0]
    assert (queue.ready.value, queue.ready.at_least) == (1001, True)
    count = TableCount(1001.0, 0.0, 60.0, 1, 5000)
    queue = history.record_snapshot(poll(2, 1002.0, fifo(moved(COUNTERS, 100, 40), 1, 1, count=count))).queues[0]
    assert (queue.ready.estimated, queue.ready.at_least) == (True, False)
    assert queue.ready.value == 5030


def test_rows_held_by_an_open_transaction_are_in_progress_and_not_ready() -> None:
    held = (HeldSample("900", 3, True), HeldSample("901", 2, False))
    snapshot = replace(
        poll(1, 1000.0, fifo(COUNTERS, counted=10, held=held)),
        writers=(WriterSample("900", 55, 400.0, "idle in transaction", "app"),),
    )
    queue = TargetHistory().record_snapshot(snapshot).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.stuck.value) == (7, 3, 3)
    assert queue.verdict.code == "stuck in progress"


@pytest.mark.parametrize(("age_s", "stuck"), [(20.0, 0), (400.0, 4)])
def test_rows_held_from_a_savepoint_are_as_old_as_the_youngest_transaction_they_can_belong_to(
    age_s: float, stuck: int
) -> None:
    history = TargetHistory()
    for number, known in ((1, 0), (2, stuck)):
        snapshot = replace(
            poll(number, 1000.0 + number, fifo(COUNTERS, counted=10, held=(HeldSample("905", 4, True),))),
            writers=(
                WriterSample("900", 55, 400.0, "active", "app"),
                WriterSample("904", 56, age_s, "active", "app"),
                WriterSample("906", 57, 1.0, "active", "app"),
            ),
        )
        queue = history.record_snapshot(snapshot).queues[0]
        assert (queue.in_progress.value, queue.stuck.value) == (4, known)


def test_a_transaction_that_ends_while_it_is_looked_at_has_not_the_age_of_another() -> None:
    """Held rows and writers are read one after the other.

    An old transaction of another session is among the writers.
    """
    history = TargetHistory()
    other = (WriterSample("900", 55, 400.0, "idle in transaction", "app"),)
    for number in range(1, 6):
        held = (HeldSample(str(1000 + number), 2, True),)
        queue = history.record_snapshot(
            replace(poll(number, 1000.0 + number, fifo(COUNTERS, counted=10, held=held)), writers=other)
        ).queues[0]
        assert (queue.in_progress.value, queue.stuck.value) == (2, 0)
        assert queue.verdict.code != "stuck in progress"


def test_status_queue_counts_in_progress_and_stuck() -> None:
    samples = QueueSamples(
        STATUS,
        counters=COUNTERS,
        head=HeadSample("1", 9.0, 31),
        head_limit=1001,
        progress=ProgressSample(12, 12, 7, 840.0),
    )
    queue = TargetHistory().record_snapshot(poll(1, 1000.0, samples)).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.stuck.value, queue.oldest.value) == (31, 12, 7, 9.0)


def test_ring_figures() -> None:
    ring = RingSample(150, 70, 4, 4, 0, 2, 3.0)
    queue = TargetHistory().record_snapshot(poll(1, 1000.0, QueueSamples(RING, ring=ring))).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.gap.value) == (76, 2, 80)
    assert queue.fill.value == 0.78


def test_what_is_unknown_is_null_with_its_reason_in_the_report() -> None:
    samples = QueueSamples(FIFO, unknown={"ready": "no index leads to the oldest message", "rates": "no permission"})
    failure = ProbeFailure("head", "permission denied", "f", "GRANT SELECT ON t TO m")
    snapshot = replace(poll(1, 1000.0, samples), failures=(failure, ProbeFailure("waits", "not allowed")))
    report = status_object(TargetHistory().record_snapshot(snapshot))
    queue = report["queues"][0]
    assert queue["ready"] is None
    assert queue["unknown"]["ready"] == "no index leads to the oldest message"
    assert queue["push_rate"] is None
    assert queue["unknown"]["push_rate"] == "no permission"
    assert report["failures"] == [
        {"probe": "waits", "reason": "not allowed"},
        {"probe": "head", "reason": "permission denied", "queue": "f", "grant": "GRANT SELECT ON t TO m"},
    ]
    assert report["sampled_at"] == "1970-01-01T00:16:40.000Z"


def test_a_queue_that_goes_away_is_forgotten() -> None:
    history = TargetHistory()
    history.record_snapshot(poll(1, 1000.0, fifo(COUNTERS)))
    assert history.record_snapshot(poll(2, 1002.0)).queues == ()
    queue = history.record_snapshot(poll(3, 1004.0, fifo(moved(COUNTERS, 50, 0)))).queues[0]
    assert queue.push_rate.value is None
