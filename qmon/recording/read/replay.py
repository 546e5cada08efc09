"""Replay: a source of snapshots like the poller, that gives what was recorded, at any speed and from any moment.

It folds what it gives itself, since going to another moment begins a new history: first one of some seconds, so that
the figures are there at once, then one of a quarter of an hour, which is as long as the plots.
"""

from __future__ import annotations

import queue
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.model.figure import Verdict
from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.monitor.source import Focus, Phase, Sink, SourceState
from qmon.monitor.state.target import TargetHistory
from qmon.recording.format.records import Mark, VerdictsLine
from qmon.recording.read.reader import Moment, RecordingReader

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
SHORT_S: Final = 20.0
# How much of the past makes the figures of a moment: enough for rates at once, and for plots and counts soon.
LONG_S: Final = 900.0
# The same in polls, at least.
_POLLS: Final = 3
# Seconds after which replay goes on where nothing was recorded for long.
_LONGEST_WAIT_S: Final = 3.0
_CHECK_EVERY: Final = 4

# Seconds from the begin of the reading within which evidence that was shown before it has been there all the time.
_SOON_S: Final = 60.0


@dataclass
class VerdictCarryOver:
    """Since when verdicts hold, by queue and code. ``begins_at``: where the reading begins, on the server's clock."""

    begins_at: float = 0.0
    since: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, lines: Iterable[VerdictsLine]) -> VerdictCarryOver:
        """From the last verdicts of each queue."""
        since = {
            (each.queue, verdict.code): verdict.since_at
            for each in lines
            for verdict in each.holds
            if verdict.since_at is not None
        }
        return cls(since=since)

    def corrected(self, view: View) -> View:
        """The view, with the beginnings that what was read again does not reach back to."""
        if not self.since:
            return view
        return replace(view, queues=tuple(map(self._queue, view.queues)))

    def _queue(self, queue: QueueView) -> QueueView:
        verdicts = tuple(self._verdict(queue.name, each) for each in queue.verdicts)
        if verdicts == queue.verdicts:
            return queue
        return replace(queue, verdict=self._verdict(queue.name, queue.verdict), verdicts=verdicts)

    def _verdict(self, queue: str, verdict: Verdict) -> Verdict:
        before = self.since.get((queue, verdict.code))
        seen = verdict.since_at
        if before is None or seen is None or before >= seen or seen > self.begins_at + _SOON_S:
            return verdict
        return replace(verdict, since_at=before)


class Replay:
    """Plays one recording. Implements ``SnapshotSource``; all methods may be called from any thread and return at once.

    Args:
        reader: what was recorded.
        at: where to begin, seconds since the epoch on the recording machine's clock; else at its beginning.
        speed: 1.0 as it was.
        playing: begin to play at once.

    Attributes:
        on_change: called on the source's thread when playing, speed or moment have changed.
    """

    def __init__(
        self, reader: RecordingReader, at: float | None = None, *, speed: float = 1.0, playing: bool = True
    ) -> None:
        self.reader = reader
        self.on_change: Callable[[], None] = lambda: None
        self._speed = speed
        self._playing = playing
        self._at = reader.begins_at if at is None else at
        self._from_start = at is None
        self._commands: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._sink: Sink = lambda event: None
        self._history = TargetHistory()
        self._carried = VerdictCarryOver()
        self._moments: Iterator[Moment] = iter(())
        self._next: Moment | None = None
        self._newest: Snapshot | None = None
        self._newest_at = 0.0
        self._newest_real = 0.0
        self._all_marks: list[Mark] | None = None
        self._thread: threading.Thread | None = None
        self._over = False
        self._deepen = False

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self.reader.session.target

    @property
    def interval_s(self) -> float:
        """Seconds between polls, as they were made."""
        return self.reader.session.interval_s

    @property
    def at(self) -> float:
        """The moment that is shown, seconds since the epoch on the recording machine's clock."""
        return self._at

    @property
    def playing(self) -> bool:
        """Whether it plays; at the end it stands still."""
        return self._playing and not self._over

    @property
    def speed(self) -> float:
        """How many times faster than it was."""
        return self._speed

    def clock(self) -> float:
        """What our monotonic clock would have shown then: figures are as old as they were."""
        newest = self._newest
        if newest is None:
            return 0.0
        passed = (time.monotonic() - self._newest_real) * self._speed if self.playing else 0.0
        return newest.taken_at + min(passed, 3 * newest.interval_s)

    def fold(self, snapshot: Snapshot) -> View:
        """The view of a snapshot that was given; for the thread of the source."""
        return self._carried.corrected(self._history.add(snapshot))

    # ------------------------------------------------------------------------------------ what a source has to do

    def start(self, sink: Sink) -> None:
        """Begin; ``sink`` gets every snapshot and every change of phase, as they were recorded."""
        self._sink = sink
        self._thread = threading.Thread(target=self._run, name="qmon-replay", daemon=True)
        self._thread.start()

    def poll_now(self, changed: str = "", *, whole: bool = False) -> None:
        """Does nothing: the past cannot be polled."""

    def set_interval(self, seconds: float) -> None:
        """Does nothing: the interval is that of the recording."""

    def set_focus(self, focus: Focus) -> None:
        """Does nothing: only what was on a screen then was read."""

    def count_exactly(self, queue: str) -> None:
        """Does nothing: the past cannot be counted."""

    def close(self) -> None:
        """End."""
        self._commands.put(None)
        if self._thread is not None:
            self._thread.join(2.0)

    # ----------------------------------------------------------------------------------------- what the keys want

    def play(self, playing: bool) -> None:
        """Play, or stand still."""
        self._do(lambda: self._play(playing))

    def set_speed(self, speed: float) -> None:
        """Play this many times faster than it was."""

        def do() -> None:
            self._speed = speed

        self._do(do)

    def step(self) -> None:
        """Stand still, and go to the next snapshot."""
        self._do(self._step)

    def step_back(self) -> None:
        """Stand still, and go to the snapshot before."""
        self._do(self._step_back)

    def seek(self, at: float) -> None:
        """Go to the last snapshot at or before a moment, seconds since the epoch."""
        self._do(lambda: self._seek(at))

    def jump(self, forward: bool) -> Mark | None:
        """Go to the next incident or operation, or back to the one before; ``None``: there is none."""
        mark = self.mark(forward)
        if mark is not None:
            self.seek(mark.at)
        return mark

    def mark(self, forward: bool) -> Mark | None:
        """The next incident or operation, or the one before."""
        marks = self._marks()
        if forward:
            place = bisect_right(marks, self._at + 0.001, key=lambda mark: mark.at)
            return marks[place] if place < len(marks) else None
        place = bisect_left(marks, self._at - 0.001, key=lambda mark: mark.at)
        return marks[place - 1] if place else None

    # ------------------------------------------------------------------------------------- on the source's thread

    def _marks(self) -> list[Mark]:
        if self._all_marks is None:
            self._all_marks = self.reader.marks()
        return self._all_marks

    def _do(self, command: Callable[[], None]) -> None:
        self._commands.put(command)

    def _run(self) -> None:
        self._sink(SourceState(self.target, Phase.CONNECTING))
        if self._from_start:
            self._moments = self.reader.moments(self._at)
            self._advance()
            self._emit_until_snapshot()
        else:
            self._seek(self._at)
        self.on_change()
        while True:
            try:
                command = self._commands.get(timeout=self._wait_s())
            except queue.Empty:
                self._idle()
                continue
            if command is None:
                return
            command()
            self.on_change()

    def _wait_s(self) -> float | None:
        """Real seconds until the next moment; ``None``: until somebody wants something."""
        if self._deepen:
            return 0.0
        if not self.playing or self._next is None:
            return None
        due = self._newest_real + min((self._next.at - self._at) / self._speed, _LONGEST_WAIT_S)
        return max(0.0, due - time.monotonic())

    def _idle(self) -> None:
        if self._deepen:
            self._deepen = False
            self._remember(LONG_S, patient=True)
        elif self.playing:
            self._emit()
            self.on_change()

    def _play(self, playing: bool) -> None:
        self._playing = playing
        self._newest_real = time.monotonic()

    def _step(self) -> None:
        self._playing = False
        self._emit_until_snapshot()

    def _emit_until_snapshot(self) -> None:
        while self._next is not None and not self._emit():
            pass

    def _advance(self) -> None:
        self._next = next(self._moments, None)
        self._over = self._next is None

    def _emit(self) -> bool:
        """Give the next moment; whether it was a snapshot."""
        moment = self._next
        if moment is None:
            return False
        self._give(moment)
        self._advance()
        return isinstance(moment.what, Snapshot)

    def _give(self, moment: Moment) -> None:
        self._at, self._newest_real = moment.at, time.monotonic()
        if isinstance(moment.what, Snapshot):
            self._newest, self._newest_at = moment.what, moment.at
            self._sink(moment.what)
        elif isinstance(moment.what, SourceState):
            self._say(moment.what, 0.001)

    def _say(self, state: SourceState, after_s: float) -> None:
        """Report a phase, ``after_s`` seconds after the newest snapshot."""
        newest = self._newest.taken_at if self._newest is not None else 0.0
        self._sink(SourceState(state.target, state.phase, state.reason, None, newest + after_s))

    def _step_back(self) -> None:
        self._playing = False
        self._seek(self._newest_at - 0.0005)
        self._at = self._newest_at

    def _seek(self, at: float) -> None:
        """Go there with a minute of past; the rest follows while nothing else is to do."""
        self._at = min(max(at, self.reader.begins_at), self.reader.ends_at)
        self._deepen = self._remember(max(SHORT_S, _POLLS * self.interval_s))

    def _remember(self, past_s: float, *, patient: bool = False) -> bool:
        """Fold a stretch of the past, and give its newest snapshot; false: nothing was recorded there.

        ``patient``: leave it, and what is shown as it is, where something else is wanted by now.
        """
        since, until = self._at - past_s, self._at
        history, moments = TargetHistory(), self.reader.moments(since)
        carried = VerdictCarryOver.of(self.reader.verdicts(since) if patient else ())
        last: Moment | None = None
        following: Moment | None = None
        state: SourceState | None = None
        for count, moment in enumerate(moments):
            if patient and count % _CHECK_EVERY == 0 and not self._commands.empty():
                return False
            if moment.at > until and last is not None:
                following = moment
                break
            if isinstance(moment.what, Snapshot):
                carried.begins_at = carried.begins_at or moment.what.sampled_at
                if last is not None and isinstance(last.what, Snapshot):
                    history.add(last.what)
                last, state = moment, None
            elif isinstance(moment.what, SourceState):
                state = moment.what
        if last is None or not isinstance(last.what, Snapshot):
            return False
        self._history, self._carried, self._moments, self._next = history, carried, moments, following
        self._over = following is None
        self._newest = last.what
        self._say(SourceState(self.target, Phase.LIVE), -0.001)
        self._give(last)
        if state is not None:
            self._say(state, 0.001)
        self._at = max(last.at, until) if following is not None else last.at
        return True


def view_at(reader: RecordingReader, at: float) -> tuple[float, Snapshot, View] | None:
    """The last snapshot at or before a moment, when it was, and its view; ``None``: nothing was recorded before."""
    history, carried = TargetHistory(), VerdictCarryOver.of(reader.verdicts(at - LONG_S))
    found: tuple[float, Snapshot, View] | None = None
    for moment in reader.moments(at - LONG_S):
        if moment.at > at:
            break
        if isinstance(moment.what, Snapshot):
            carried.begins_at = carried.begins_at or moment.what.sampled_at
            found = (moment.at, moment.what, carried.corrected(history.add(moment.what)))
    return found
