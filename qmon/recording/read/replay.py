"""Replay: a source of snapshots that reads a recording, at any speed and from any time.

A replay folds the snapshots itself, because every seek starts a new history. The first history after a seek is short,
so that figures appear immediately. Then a history of 15 minutes replaces it, because plots show 15 minutes.
"""

from __future__ import annotations

import queue
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.model.baseline_bands import NO_BASELINES, Baselines
from qmon.model.figure import Verdict
from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.monitor.source import Phase, ReadScope, Sink, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.records import JumpPoint, VerdictsLine
from qmon.recording.read.recording_reader import Moment, RecordingReader

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
SHORT_PAST_S: Final = 20.0

# Seconds of the past that are folded after a seek: `SHORT_PAST_S` first, because rates only need a short time, and then
# `LONG_PAST_S` for plots and counts.
LONG_PAST_S: Final = 900.0

# Minimum number of polls to fold.
_MIN_POLLS: Final = 3

# Maximum seconds that a replay waits if nothing was recorded for a long time.
_LONGEST_WAIT_S: Final = 3.0
_CHECK_EVERY: Final = 4

# If the first evidence of a verdict is at most this many seconds after the start of reading, the verdict is assumed to
# have held before.
_SOON_S: Final = 60.0


@dataclass
class VerdictCarryOver:
    """Start times of verdicts, keyed by queue and code. ``begins_at``: server time of the first snapshot read."""

    begins_at: float = 0.0
    since: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def from_lines(cls, lines: Iterable[VerdictsLine]) -> VerdictCarryOver:
        """Use the start times in the latest verdicts of each queue."""
        since = {
            (each.queue, verdict.code): verdict.since_at
            for each in lines
            for verdict in each.holds
            if verdict.since_at is not None
        }
        return cls(since=since)

    def correct_view(self, view: View) -> View:
        """Return the view with the start times of verdicts that began before the part that was read."""
        if not self.since:
            return view
        return replace(view, queues=tuple(map(self._correct_queue, view.queues)))

    def _correct_queue(self, queue: QueueView) -> QueueView:
        verdicts = tuple(self._correct_verdict(queue.name, each) for each in queue.verdicts)
        if verdicts == queue.verdicts:
            return queue
        return replace(queue, verdict=self._correct_verdict(queue.name, queue.verdict), verdicts=verdicts)

    def _correct_verdict(self, queue: str, verdict: Verdict) -> Verdict:
        before = self.since.get((queue, verdict.code))
        seen = verdict.since_at
        if before is None or seen is None or before >= seen or seen > self.begins_at + _SOON_S:
            return verdict
        return replace(verdict, since_at=before)


class Replay:
    """Plays one recording. Implements ``SnapshotSource``. Methods are thread-safe. Only ``close`` may block.

    Args:
        reader: the recording.
        start_at: seconds since the epoch on the recording machine's clock. Default: the beginning of the recording.
        playing: start playing immediately.
        baselines: returns the current baselines without waiting.

    Attributes:
        on_change: called on the source's thread after playing, speed or position has changed.
    """

    def __init__(
        self,
        reader: RecordingReader,
        start_at: float | None = None,
        *,
        playing: bool = True,
        baselines: Callable[[], Baselines] = lambda: NO_BASELINES,
    ) -> None:
        self.reader = reader
        self._baselines = baselines
        self.on_change: Callable[[], None] = lambda: None
        self._speed = 1.0
        self._is_playing = playing
        self._position = reader.begins_at if start_at is None else start_at
        self._from_start = start_at is None
        self._commands: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._sink: Sink = lambda event: None
        self._history = TargetHistory(baselines=baselines)
        self._carried = VerdictCarryOver()
        self._moments: Iterator[Moment] = iter(())
        self._next: Moment | None = None
        self._newest: Snapshot | None = None
        self._newest_at = 0.0
        self._newest_real = 0.0
        self._all_marks: list[JumpPoint] | None = None
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._needs_long_past = False

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self.reader.session.target

    @property
    def interval_s(self) -> float:
        """Poll interval of the recording, seconds."""
        return self.reader.session.interval_s

    @property
    def position(self) -> float:
        """The current position, seconds since the epoch on the recording machine's clock."""
        return self._position

    @property
    def is_playing(self) -> bool:
        """True while playing. False at the end."""
        return self._is_playing and not self._is_over

    @property
    def speed(self) -> float:
        """Speed as a multiple of real time."""
        return self._speed

    def clock(self) -> float:
        """Return the monotonic clock at the replayed time, so that figures are as old as they were when recorded."""
        newest = self._newest
        if newest is None:
            return 0.0
        passed = (time.monotonic() - self._newest_real) * self._speed if self.is_playing else 0.0
        return newest.taken_at + min(passed, 3 * newest.interval_s)

    def fold(self, snapshot: Snapshot) -> View:
        """Return the view of an emitted snapshot. Call it on the source's thread."""
        return self._carried.correct_view(self._history.record_snapshot(snapshot))

    # --------------------------------------------------------------------------------------------- SnapshotSource

    def start(self, sink: Sink) -> None:
        """Start. ``sink`` gets every recorded snapshot and phase change."""
        self._sink = sink
        self._thread = threading.Thread(target=self._run, name="qmon-replay", daemon=True)
        self._thread.start()

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Do nothing: the past cannot be polled."""

    def set_interval(self, seconds: float) -> None:
        """Do nothing: the recording determines the interval."""

    def set_focus(self, focus: ReadScope) -> None:
        """Do nothing: a recording contains only the figures that were read at the time."""

    def count_exactly(self, queue: str) -> None:
        """Do nothing: the past cannot be counted."""

    def close(self) -> None:
        """Stop the thread. Waits two seconds at most."""
        self._commands.put(None)
        if self._thread is not None:
            self._thread.join(2.0)

    # ------------------------------------------------------------------------------------------- playback control

    def set_playing(self, playing: bool) -> None:
        """Play or pause."""
        self._enqueue(lambda: self._set_playing(playing))

    def set_speed(self, speed: float) -> None:
        """Set the speed, as a multiple of real time."""

        def change_speed() -> None:
            self._speed = speed

        self._enqueue(change_speed)

    def step(self) -> None:
        """Pause and go to the next snapshot."""
        self._enqueue(self._step)

    def step_back(self) -> None:
        """Pause and go to the previous snapshot."""
        self._enqueue(self._step_back)

    def seek(self, at: float) -> None:
        """Go to the last snapshot at or before ``at``, seconds since the epoch."""
        self._enqueue(lambda: self._seek(at))

    def jump_to_mark(self, forward: bool) -> JumpPoint | None:
        """Go to the next or previous incident or operation. Returns ``None`` if there is none."""
        mark = self.find_jump_point(forward)
        if mark is not None:
            self.seek(mark.at)
        return mark

    def find_jump_point(self, forward: bool) -> JumpPoint | None:
        """Return the next or previous incident or operation, or ``None``."""
        marks = self._loaded_marks()
        if forward:
            place = bisect_right(marks, self._position + 0.001, key=lambda mark: mark.at)
            return marks[place] if place < len(marks) else None
        place = bisect_left(marks, self._position - 0.001, key=lambda mark: mark.at)
        return marks[place - 1] if place else None

    # ------------------------------------------------------------------------------------- on the source's thread

    def _loaded_marks(self) -> list[JumpPoint]:
        if self._all_marks is None:
            self._all_marks = self.reader.read_marks()
        return self._all_marks

    def _enqueue(self, command: Callable[[], None]) -> None:
        self._commands.put(command)

    def _run(self) -> None:
        self._sink(SourceState(self.target, Phase.CONNECTING))
        if self._from_start:
            self._moments = self.reader.read_moments(self._position)
            self._advance()
            self._emit_until_snapshot()
        else:
            self._seek(self._position)
        self.on_change()
        while True:
            try:
                command = self._commands.get(timeout=self._wait_s())
            except queue.Empty:
                self._run_idle()
                continue
            if command is None:
                return
            command()
            self.on_change()

    def _wait_s(self) -> float | None:
        """Return the real seconds until the next event is due, or ``None`` to wait for a command."""
        if self._needs_long_past:
            return 0.0
        if not self.is_playing or self._next is None:
            return None
        due = self._newest_real + min((self._next.at - self._position) / self._speed, _LONGEST_WAIT_S)
        return max(0.0, due - time.monotonic())

    def _run_idle(self) -> None:
        if self._needs_long_past:
            self._needs_long_past = False
            self._fold_past(LONG_PAST_S, patient=True)
        elif self.is_playing:
            self._emit_next()
            self.on_change()

    def _set_playing(self, playing: bool) -> None:
        self._is_playing = playing
        self._newest_real = time.monotonic()

    def _step(self) -> None:
        self._is_playing = False
        self._emit_until_snapshot()

    def _emit_until_snapshot(self) -> None:
        while self._next is not None and not self._emit_next():
            pass

    def _advance(self) -> None:
        self._next = next(self._moments, None)
        self._is_over = self._next is None

    def _emit_next(self) -> bool:
        """Emit the next event. Returns true if it was a snapshot."""
        moment = self._next
        if moment is None:
            return False
        self._emit_moment(moment)
        self._advance()
        return isinstance(moment.event, Snapshot)

    def _emit_moment(self, moment: Moment) -> None:
        self._position, self._newest_real = moment.at, time.monotonic()
        if isinstance(moment.event, Snapshot):
            self._newest, self._newest_at = moment.event, moment.at
            self._sink(moment.event)
        elif isinstance(moment.event, SourceState):
            self._report_state(moment.event, 0.001)

    def _report_state(self, state: SourceState, after_s: float) -> None:
        """Report a phase, ``after_s`` seconds after the newest snapshot."""
        newest = self._newest.taken_at if self._newest is not None else 0.0
        self._sink(SourceState(state.target, state.phase, state.reason, None, newest + after_s))

    def _step_back(self) -> None:
        self._is_playing = False
        self._seek(self._newest_at - 0.0005)
        self._position = self._newest_at

    def _seek(self, at: float) -> None:
        """Go to a time and fold a short history. The long history is read when the thread is idle."""
        self._position = min(max(at, self.reader.begins_at), self.reader.ends_at)
        self._needs_long_past = self._fold_past(max(SHORT_PAST_S, _MIN_POLLS * self.interval_s))

    def _fold_past(self, past_s: float, *, patient: bool = False) -> bool:
        """Fold the past before the current position and emit the newest snapshot; return false if there is no snapshot.

        ``patient``: give up without changing anything when another command arrives.
        """
        since, until = self._position - past_s, self._position
        history, moments = TargetHistory(baselines=self._baselines), self.reader.read_moments(since)
        carried = VerdictCarryOver.from_lines(self.reader.verdicts_at(since) if patient else ())
        last: Moment | None = None
        following: Moment | None = None
        state: SourceState | None = None
        for count, moment in enumerate(moments):
            if patient and count % _CHECK_EVERY == 0 and not self._commands.empty():
                return False
            if moment.at > until and last is not None:
                following = moment
                break
            if isinstance(moment.event, Snapshot):
                carried.begins_at = carried.begins_at or moment.event.sampled_at
                if last is not None and isinstance(last.event, Snapshot):
                    history.record_snapshot(last.event)
                last, state = moment, None
            elif isinstance(moment.event, SourceState):
                state = moment.event
        if last is None or not isinstance(last.event, Snapshot):
            return False
        self._history, self._carried, self._moments, self._next = history, carried, moments, following
        self._is_over = following is None
        self._newest = last.event
        self._report_state(SourceState(self.target, Phase.LIVE), -0.001)
        self._emit_moment(last)
        if state is not None:
            self._report_state(state, 0.001)
        self._position = max(last.at, until) if following is not None else last.at
        return True


def view_at(reader: RecordingReader, at: float) -> tuple[float, Snapshot, View] | None:
    """Return the time, snapshot and view of the last snapshot at or before a time, or ``None``."""
    history, carried = TargetHistory(), VerdictCarryOver.from_lines(reader.verdicts_at(at - LONG_PAST_S))
    found: tuple[float, Snapshot, View] | None = None
    for moment in reader.read_moments(at - LONG_PAST_S):
        if moment.at > at:
            break
        if isinstance(moment.event, Snapshot):
            carried.begins_at = carried.begins_at or moment.event.sampled_at
            found = (moment.at, moment.event, carried.correct_view(history.record_snapshot(moment.event)))
    return found
