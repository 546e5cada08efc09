"""History without a recording: thinned out with age, limited in size, and with past verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.figure import Severity, Verdict
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.waits.wait_rates import Waiting, WaitRate
from qmon.monitor.source import Phase, SourceState
from qmon.recording.history.collected_range import FIGURES
from qmon.recording.history.in_memory import MOST_EVENTS, InMemoryHistory
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.history.recording_archive import live_archive
from qmon.recording.history.thinned import TIERS, ThinnedFigures
from qmon.recording.history.timeline import EventKind, TimelineEvent, VerdictChanges
from qmon.recording.history.timeline_query import recorded_events
from tests.recording.days import BEGIN, DONE_AT, ZONE, written
from tests.tui.scripted import SAMPLED_AT, queue, target, view

pytestmark = pytest.mark.unit

HOUR = 3600.0
STUCK = Verdict("stuck_in_progress", "7 in progress", Severity.CRITICAL)
SLOW = Verdict("consumers fall behind", "push 91.0/s", Severity.WARNING)
FINE = Verdict("healthy", "")


class Watched:
    """Return a memory whose clock the test sets."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.memory = InMemoryHistory(lambda: self.now)

    def poll(self, ready: float = 1.0, verdict: Verdict = FINE, *, every_s: float = 2.0) -> None:
        """Record one poll later."""
        self.now += every_s
        self.memory.record_view(view([queue("mails", ready=ready, verdict=verdict)], at=self.now - BEGIN))

    def past(self, since_at: float, step_s: float, count: int) -> PastRange:
        """Return the newest answer about a range."""
        return list(RangeReader(memory=self.memory).read_range("mails", since_at, step_s, count))[-1]


def test_an_hour_at_two_seconds_is_there_without_a_hole_and_means_are_right() -> None:
    watched = Watched()
    for poll in range(1800):
        watched.poll(float(poll))
    past = watched.past(watched.now - HOUR, 36.0, 100)
    steps = past.steps["ready"]
    assert None not in steps[1:]
    for place in (20, 50, 98):
        step = steps[place]
        assert step is not None
        assert step.least < step.mean < step.most
        assert step.mean == pytest.approx(18 * (place + 0.5), abs=6)
    assert {name for name in FIGURES if any(past.steps[name])} >= {"ready", "push_rate", "oldest_s", "stuck"}


def test_it_stays_small_however_long_it_lasts() -> None:
    thinned = ThinnedFigures()
    for at in range(0, 40 * 3600, 5):
        thinned.record_reading(float(at), 5.0, (1.0,) * len(FIGURES))
    sizes = [len(steps.starts) for steps in thinned.steps()]
    assert sizes == [tier.most + 1 for tier in TIERS]
    numbers = sum(each.most + each.most // 8 for each in TIERS) * (3 * len(FIGURES) * 4 + 8)
    assert 12 * numbers < 2_200_000, "bytes of twelve queues"
    assert sum(each.step_s * each.most for each in TIERS[:2]) >= HOUR


def test_of_each_moment_the_finest_there_is() -> None:
    watched = Watched()
    for poll in range(3000):
        watched.poll(1_000.0 if poll == 2990 else 0.0)
    near = watched.past(watched.now - 60, 5.0, 12).steps["ready"]
    assert [step is not None and step.most == 1_000.0 for step in near].count(True) == 1


def test_a_clock_that_is_put_back_takes_what_lies_after_it() -> None:
    thinned = ThinnedFigures()
    for at in (*range(0, 600, 5), *range(100, 200, 5)):
        thinned.record_reading(float(at), 5.0, (1.0,))
    starts = thinned.steps()[0].starts
    assert list(starts) == sorted(starts) and starts[-1] == 195.0


def test_many_queues_are_remembered_coarsely() -> None:
    few, many = InMemoryHistory(), InMemoryHistory()
    few.record_view(view([queue("mails")]))
    many.record_view(view([queue(f"q{number}") for number in range(60)]))
    size = {
        name: sum(tier.most for tier in memory._queues[name].figures._tiers)
        for memory, name in ((few, "mails"), (many, "q1"))
    }
    assert size["q1"] < size["mails"] / 5


def test_a_queue_whose_turn_it_was_not_adds_nothing_and_one_that_is_gone_is_forgotten() -> None:
    watched = Watched()
    watched.poll()
    unread = replace(queue("mails", ready=9.0, verdict=STUCK), read_at=SAMPLED_AT)
    watched.memory.record_view(view([unread]))
    assert watched.memory.events() == ()
    watched.memory.record_view(view([queue("orders")]))
    assert watched.memory.queues == ("orders",)


def test_past_verdicts_and_waits_stay_few() -> None:
    watched = Watched()
    for poll in range(400):
        watched.poll(verdict=(FINE, SLOW)[poll % 2])
    assert len(watched.memory._queues["mails"].runs.runs) == 100
    for number in range(60):
        waiting = Waiting(WaitSource.COUNTED, 10.0, None, (WaitRate("Lock", f"w{number}", 1.0, 1.0),))
        watched.now += 2.0
        watched.memory.record_view(view([queue("mails")], server=target(waiting=waiting)))
    assert [*watched.memory._waits] == [f"Lock:w{number}" for number in range(20, 60)], "the newest 40"
    tiers = watched.memory._waits["Lock:w59"]._tiers
    assert sum(tier.most for tier in tiers) < 400
    assert HOUR <= tiers[-1].step_s * tiers[-1].most < 2 * HOUR


def told(events: tuple[TimelineEvent, ...] | list[TimelineEvent]) -> list[str]:
    return [f"{event.queue}: {event.about} {event.change}" for event in events]


def test_verdicts_begin_get_worse_and_end_and_what_is_not_decided_is_not_over() -> None:
    changes = VerdictChanges()
    assert told(changes.record_verdicts(0.0, "mails", (SLOW,))) == ["mails: consumers fall behind began"]
    worse = replace(SLOW, severity=Severity.CRITICAL)
    assert told(changes.record_verdicts(10.0, "mails", (worse, STUCK))) == [
        "mails: consumers fall behind worse",
        "mails: stuck in progress began",
    ]
    assert changes.record_verdicts(20.0, "mails", (worse,), undecided=("stuck_in_progress",)) == []
    (over,) = changes.record_verdicts(70.0, "mails", (worse,))
    assert (over.change, over.text, over.severity) == ("ended", "after 1 m 00 s: 7 in progress", Severity.FINE)
    assert told(changes.forget_queues(80.0, ["mails"])) == ["mails: consumers fall behind ended"]
    assert changes.queues == ()


def test_incidents_and_events_come_from_the_same_polls() -> None:
    watched = Watched()
    for poll in range(300):
        watched.poll(1.0, STUCK if 100 <= poll < 200 else FINE)
    (incident,) = watched.past(BEGIN, 30.0, 20).incidents
    assert incident.cause == "stuck_in_progress"
    assert incident.last_at - incident.first_at == pytest.approx(198.0)
    over, began = watched.memory.events()
    assert (over.change, began.change) == ("ended", "began")
    assert over.at - began.at == pytest.approx(200.0)
    mark = watched.memory.find_jump_point("mails", BEGIN, forward=True)
    assert mark is not None and mark.at == incident.first_at
    assert watched.memory.find_jump_point("orders", BEGIN, forward=True) is None


def test_a_connection_is_told_when_it_changes_and_events_are_bounded() -> None:
    watched = Watched()
    for phase in (Phase.CONNECTING, Phase.LIVE, Phase.LIVE, Phase.LOST):
        watched.memory.record_state(
            SourceState("orders-prod", phase, "no route to host" if phase is Phase.LOST else "")
        )
    lost, live = watched.memory.events()
    assert (lost.change, lost.text, lost.severity, live.change) == (
        "lost",
        "no route to host",
        Severity.CRITICAL,
        "live",
    )
    for number in range(MOST_EVENTS):
        watched.now += 1
        watched.memory.record_state(SourceState("orders-prod", Phase.LOST if number % 2 else Phase.LIVE))
    assert len(watched.memory.events()) == MOST_EVENTS
    assert watched.memory.oldest_event_at > BEGIN


def test_events_of_a_recording_are_those_of_the_day(tmp_path: Path) -> None:
    written(tmp_path, 14.0)
    archive = live_archive(tmp_path, "orders-prod", ZONE, clock=lambda: BEGIN + 14 * HOUR)
    found = [event for events in recorded_events(archive, BEGIN + 14 * HOUR) for event in events]
    assert [event.at for event in found] == sorted((event.at for event in found), reverse=True)
    assert told(found) == [
        "mails: consumers fall behind ended",
        "mails: consumers fall behind began",
        "orders: consumers fall behind ended",
        "orders: consumers fall behind began",
        "mails: stuck in progress ended",
        "mails: requeue done",
        "mails: stuck in progress began",
    ]
    done = next(event for event in found if event.kind is EventKind.OPERATION)
    assert done.at == pytest.approx(BEGIN + DONE_AT * HOUR, abs=60)
    assert done.text == "40 by anna@ops-1, worker died"
    before = [event for events in recorded_events(archive, BEGIN + 8 * HOUR) for event in events]
    assert told(before) == told(found)[-3:]


def test_what_is_recorded_extends_what_is_remembered(tmp_path: Path) -> None:
    written(tmp_path, 1.0)
    now = BEGIN + 2 * HOUR
    memory = InMemoryHistory(lambda: now)
    memory.record_view(view([queue("mails", ready=77.0)]))
    archive = live_archive(tmp_path, "orders-prod", ZONE, clock=lambda: now)
    found = list(RangeReader(archive, memory).read_range("mails", BEGIN, 120.0, 61))
    steps = found[-1].steps["ready"]
    assert found[-1].queues == ("mails", "orders")
    assert steps[10] is not None and steps[10].mean != 77.0
    assert steps[45] is None
    assert steps[60] is not None and steps[60].mean == 77.0
    assert found[0].steps["ready"][60] is not None, "remembered data is there at once"
