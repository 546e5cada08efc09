"""Many queues: visible ones are read in each poll, all others in turns, with few round trips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.figure import Severity
from qmon.model.reasons import Reason
from qmon.model.verdicts.judge import CANNOT_TELL, EMPTY
from qmon.model.view import QueueView, View
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import NO_QUEUES, resolve_queues
from qmon.monitor.poll import runner
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.poller import POLL
from qmon.monitor.poll.runner import MOST_TRIPS
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.install.install_queue import install_queue
from tests.benchmarks.wire import relayed
from tests.facts import connected, query
from tests.queues import ENGINE, opened, target_of

QUEUES = 24
INTERVAL_S = 2.0
# Polls of 2 s until each queue is read: they fit into 10 s, less half a second.
TURN = 4


class Polled:
    """A collector with our own clock, run poll by poll."""

    def __init__(self, url: str, at_once: int) -> None:
        self.now = 1000.0
        self.connection = ENGINE.connect(target_of(url), POLL)
        slow = SlowReads(ENGINE, lambda session: ENGINE.connect(target_of(url), session))  # not started
        self.collector = Collector("test", ENGINE, self.connection, slow, lambda: self.now, at_once=at_once)
        self.history = TargetHistory()
        self.resolved = NO_QUEUES
        self.focus = ReadScope()
        self.polls = 0
        self.trips: list[int] = []
        self.read: list[frozenset[str]] = []
        self._use()

    def _use(self) -> None:
        self.resolved = resolve_queues(self.connection, ENGINE, (), before=self.resolved)
        self.collector.watch_queues(self.resolved)

    def poll(self, times: int = 1) -> View:
        """Poll ``number`` times; return the last view."""
        return [self._poll() for _ in range(times)][-1]

    def _poll(self) -> View:
        self.polls += 1
        snapshot = self.collector.collect(self.polls, INTERVAL_S, self.focus)
        if self.collector.is_stale:
            self._use()
            snapshot = self.collector.collect(self.polls, INTERVAL_S, self.focus)
        self.trips.append(self.collector._runner.trips)
        self.read.append(frozenset(q.layout.queue for q in snapshot.queues if not q.unread))
        snapshot = replace(snapshot, sampled_at=snapshot.sampled_at + self.now)  # the server's clock follows ours
        self.now += INTERVAL_S
        return self.history.record_snapshot(snapshot)


@pytest.fixture
def url(database: str) -> str:
    with opened(database) as connection:
        for n in range(QUEUES):
            install_queue(connection, ENGINE, ("status", "fifo", "naive")[n % 3], schema="public", queue=f"q{n:02}")
    return database


@pytest.fixture
def polled(url: str) -> Iterator[Polled]:
    made = Polled(url, at_once=5)
    yield made
    made.connection.close()


def of(view: View, queue: str) -> QueueView:
    found = view.queue(queue)
    assert found is not None
    return found


def test_few_queues_are_all_read_in_each_poll(url: str) -> None:
    polled = Polled(url, at_once=QUEUES)
    view = polled.poll(3)
    assert [len(each) for each in polled.read] == [QUEUES] * 3
    assert {queue.verdict.code for queue in view.queues} == {EMPTY}
    assert max(polled.trips) <= 2
    polled.connection.close()


def test_each_queue_is_read_in_its_turn_and_what_is_looked_at_in_each_poll(polled: Polled) -> None:
    view = polled.poll()
    assert sum(queue.ready.value is None for queue in view.queues) == QUEUES - QUEUES // TURN
    unread = next(queue for queue in view.queues if queue.ready.value is None)
    assert (unread.verdict.code, unread.verdict.severity) == (CANNOT_TELL, Severity.FINE)
    assert unread.ready.reason == Reason.READ_IN_TURNS
    polled.focus = ReadScope(visible=frozenset({"q07", "q08"}), cursor="q11", with_verdict=frozenset({"q20"}))
    view = polled.poll(3 * TURN)
    looked_at = {"q07", "q08", "q11", "q20"}
    for poll in range(1, len(polled.read)):
        assert looked_at <= polled.read[poll]
        assert len(polled.read[poll]) <= len(looked_at) + QUEUES // TURN
    names = {queue.name for queue in view.queues}
    for poll in range(TURN, len(polled.read)):
        assert frozenset().union(*polled.read[poll - TURN + 1 : poll + 1]) == names
    assert {queue.verdict.code for queue in view.queues} == {EMPTY}
    for queue in view.queues:
        read_now = queue.name in polled.read[-1]
        assert (view.since_read_s(queue) == 0) == (queue.read_at is None) == read_now
        assert queue.ready.estimated != read_now


def test_messages_off_the_screen_are_seen_within_a_turn(url: str, polled: Polled) -> None:
    polled.poll(2 * TURN)
    for n in (0, 1, 2, 21):
        query(url, f"SELECT q{n:02}_push('x')" if n % 3 == 2 else f"SELECT q{n:02}_push('x'::bytea)")
    view = polled.poll(TURN + 1)  # one more: the last read may only check for existence
    assert {name: of(view, name).ready.value for name in ("q00", "q01", "q02", "q21", "q22")} == {
        "q00": 1,
        "q01": 1,
        "q02": 1,
        "q21": 1,
        "q22": 0,
    }
    query(url, "SELECT * FROM q00_pop()")
    view = polled.poll(TURN + 1)
    assert (of(view, "q00").ready.value, of(view, "q00").in_progress.value) == (0, 1)


def test_a_lock_costs_one_queue_and_few_round_trips(url: str, polled: Polled) -> None:
    polled.poll(2 * TURN)
    began = len(polled.read)
    with connected(url, autocommit=False) as holder:
        holder.execute("LOCK TABLE q03 IN ACCESS EXCLUSIVE MODE")
        view = polled.poll(3 * TURN)
        others = {queue.name for queue in view.queues} - {"q03"}
        assert others <= frozenset().union(*polled.read[began:])
        assert {of(view, name).verdict.code for name in others} == {EMPTY}
        assert of(view, "q03").verdict.code != EMPTY
    assert max(polled.trips) <= MOST_TRIPS
    polled.poll(5 * TURN)
    assert of(polled.poll(TURN), "q03").verdict.code == EMPTY


def test_a_table_that_is_dropped_costs_one_queue_and_few_round_trips(url: str, polled: Polled) -> None:
    polled.poll(2 * TURN)
    query(url, "DROP TABLE q06 CASCADE")
    view = polled.poll(2 * TURN)
    assert of(view, "q06").verdict.severity > Severity.FINE
    assert {queue.verdict.code for queue in view.queues if queue.name != "q06"} == {EMPTY}
    assert max(polled.trips) <= MOST_TRIPS


def test_what_was_not_read_for_three_turns_says_so(polled: Polled) -> None:
    view = polled.poll(TURN + 1)
    assert of(view, "q13").verdict.code == EMPTY
    track = polled.history._tracks["q13"]
    snapshot = polled.collector.collect(polled.polls + 1, INTERVAL_S, ReadScope())
    sample = next(q for q in snapshot.queues if q.layout.queue == "q13")
    assert track._last is not None
    later = replace(snapshot, sampled_at=track._last[0] + 3.1 * TURN * INTERVAL_S)
    late = track.record_unread(later, sample, unbroken=True)
    assert late.verdict.code == CANNOT_TELL
    assert late.ready.old
    assert late.ready.evidence.value is None


def test_what_a_slow_poll_does_not_come_to_stays_as_it_was_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One statement makes a whole poll fail, and the server is too slow to find out which one within that poll."""
    query(url, "SELECT q03_push('x'::bytea)")
    polled = Polled(url, QUEUES)
    polled.poll(4)
    monkeypatch.setattr(runner, "UNPROVEN_S", 0.0)
    query(url, "ALTER TABLE q00 RENAME COLUMN status TO renamed")
    missed: list[bool] = []
    while len(missed) < 80 and not (any(missed) and not missed[-1]):
        view = polled.poll()
        missed.append(bool(polled.collector._runner.missed))
        assert {queue.name: queue.ready.value for queue in view.queues if queue.name != "q00"} == {
            f"q{n:02}": float(n == 3) for n in range(1, QUEUES)
        }
    assert any(missed)
    assert not missed[-1]
    assert of(polled.poll(), "q00").verdict.severity > Severity.FINE


def test_no_poll_has_a_round_trip_for_each_queue(server: EmbeddedServer, database: str) -> None:
    """Measured on the wire, in the first polls, which try and prepare statements, and in later ones."""
    with opened(database) as connection:
        for n in range(QUEUES):
            design = ("status", "batch_fast", "batch_single", "batch_split")[n % 4]
            install_queue(connection, ENGINE, design, schema="public", queue=f"q{n:02}")
            query(database, f"SELECT q{n:02}_push('x')")
    with relayed(server.socket_dir) as wire:
        polled = Polled(wire.through(database, server.socket_dir), QUEUES)
        trips = []
        for n in range(8):
            polled.focus = ReadScope(rows_of=f"q{n:02}")
            before = wire.trips
            polled.poll()
            trips.append(wire.trips - before)
        assert max(trips) < 10, trips
        polled.connection.close()
