"""A replay equals the live run: every sample and every figure of a real run with faults."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.recording_reader import RecordingReader, open_recording
from qmon.recording.read.replay import Replay, view_at
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write.recorder import Recorder
from tests.contract.watching import ROOMY, installed, target_of
from tests.facts import connected, query, wait_until
from tests.recording.sameness import plain


class Live:
    """A real run that is recorded: its snapshots and its views."""

    def __init__(self, root: Path, url: str) -> None:
        self.recorder = Recorder(root, "shop", interval_s=0.5, record_payloads=True)
        self.history = TargetHistory()
        self.snapshots: list[Snapshot] = []
        self.views: list[View] = []
        self.states: list[SourceState] = []
        self.poller = open_poller(target_of(url), interval_s=0.5, budget=ROOMY)

    def __call__(self, event: Event) -> None:
        """Fold as the dashboard and the recorder do."""
        if isinstance(event, SourceState):
            self.states.append(event)
            self.recorder.record_state(event)
            return
        self.snapshots.append(event)
        self.views.append(self.history.record_snapshot(event))
        self.recorder.record_snapshot(event, self.views[-1])

    def polls(self, count: int) -> None:
        """Wait for this number of further polls."""
        wanted = len(self.snapshots) + count
        wait_until(lambda: len(self.snapshots) >= wanted, what=f"{count} polls")


@pytest.fixture
def live(tmp_path: Path, database: str) -> Iterator[Live]:
    """Run queues in use, with a lock held, a queue without rights, dead owners, and a connection that breaks."""
    layouts = {layout.design: layout for layout in installed(database, "status", "fifo", "ring")}
    run = Live(tmp_path / "kept", database)
    status, fifo = layouts["status"], layouts["fifo"]
    push = {
        name: f"INSERT INTO {each.table} ({each.payload}) SELECT 'x' FROM generate_series(1, %d)"
        for name, each in layouts.items()
        if name != "ring"
    }
    assert status.state is not None
    run.poller.start(run)
    run.polls(2)
    query(database, push["status"] % 40)
    query(database, push["fifo"] % 2500)
    run.polls(2)
    query(
        database,
        f"UPDATE {status.table} SET {status.state.column} = '{status.state.in_progress}', "
        f"{status.started_at} = now() - interval '1 hour' WHERE {status.id} <= 5",
    )
    run.polls(2)
    with connected(database, autocommit=False) as holding, connected(database, autocommit=False) as waiting:
        holding.execute(f"DELETE FROM {fifo.table} WHERE ctid IN (SELECT ctid FROM {fifo.table} LIMIT 7)")
        holding.execute(f"LOCK TABLE {status.table} IN SHARE MODE")
        waiter = threading.Thread(target=lambda: waiting.execute(push["status"] % 1))
        waiter.start()
        run.polls(3)
        holding.rollback()
        waiter.join()
        waiting.commit()
    query(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'qmon poll%'")
    wait_until(lambda: Phase.LOST in [state.phase for state in run.states])
    run.polls(3)
    run.poller.close()
    run.recorder.close()
    yield run


class Seen:
    """The sink of a replay, folded as the app folds it."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.snapshots: list[Snapshot] = []
        self.views: list[View] = []
        self.states: list[SourceState] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, SourceState):
            self.states.append(event)
        else:
            self.snapshots.append(event)
            self.views.append(self.replay.fold(event))


def test_every_sample_and_every_figure_is_what_it_was(live: Live, tmp_path: Path) -> None:
    assert live.recorder.status.stopped == ""
    found = [
        line.decode_record()
        for path in list_segments(tmp_path)
        for line in open_segment(path).read_lines()
        if line.kind == "snapshot"
    ]
    assert plain(found) == plain(live.snapshots)
    assert any(snapshot.blocking for snapshot in found) and len({s.sequence for s in found}) == len(found)
    replay = Replay(open_recording(tmp_path / "kept"))
    replay.set_speed(300.0)
    seen = Seen(replay)
    replay.start(seen)
    try:
        wait_until(lambda: len(seen.views) == len(live.views), what="the whole run")
    finally:
        replay.close()
    for before, after in zip(live.views, seen.views, strict=True):
        assert plain(after) == plain(before)
    phases = [state.phase for state in live.states if state.phase is not Phase.CLOSED]
    assert [state.phase for state in seen.states][1:] == phases
    codes = {queue.verdict.code for view in seen.views for queue in view.queues}
    assert "stuck in progress" in codes and len(codes) >= 2
    _and_from_the_middle(live, replay.reader)


def _and_from_the_middle(live: Live, reader: RecordingReader) -> None:
    """Going to a moment, a step forward and back, and to the next incident, shows the same as then."""
    times = [m.at for m in reader.read_moments(reader.begins_at) if isinstance(m.event, Snapshot)]
    middle = len(times) // 2
    replay = Replay(reader, times[middle] + 0.01, playing=False)
    seen = Seen(replay)
    replay.start(seen)
    try:
        wait_until(lambda: len(seen.views) >= 2, what="the figures, and those with all of the past")
        assert plain(seen.views[-1]) == plain(live.views[middle])
        replay.step()
        wait_until(lambda: seen.views[-1].sequence == live.snapshots[middle + 1].sequence)
        assert plain(seen.views[-1]) == plain(live.views[middle + 1])
        replay.step_back()
        wait_until(lambda: seen.views[-1].sequence == live.snapshots[middle].sequence)
        marks = reader.read_marks()
        assert {mark.kind for mark in marks} == {"verdict"}
        replay.seek(reader.begins_at)
        wait_until(lambda: replay.position < times[1])
        mark = replay.jump_to_mark(forward=True)
        assert mark == marks[0]
        wait_until(lambda: replay.position == marks[0].at)
        there = times.index(marks[0].at)
        wait_until(lambda: plain(seen.views[-1]) == plain(live.views[there]))
        assert not replay.is_playing
    finally:
        replay.close()
    at, snapshot, view = view_at(reader, times[middle]) or (0.0, None, None)
    assert (at, plain(snapshot), plain(view)) == (
        times[middle],
        plain(live.snapshots[middle]),
        plain(live.views[middle]),
    )
