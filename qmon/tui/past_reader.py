"""Reads recordings and baselines for the screens, on a separate thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.model.baseline_bands import Baselines
from qmon.recording.format.records import JumpPoint
from qmon.recording.history.baselines_reader import FoundBaselines
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.history.recording_archive import RecordingArchive
from qmon.tui.daemon_thread import start_daemon

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class KnownPast:
    """The sources of past data other than the app's own memory.

    ``archive``: the recordings of the target, if there are any. ``usual`` returns the current baselines. ``here``
    returns the moment that a replay shows, and ``go`` moves the replay to a moment, both in seconds since the epoch.
    """

    archive: RecordingArchive | None = None
    usual: Callable[[], FoundBaselines] = FoundBaselines
    here: Callable[[], float] | None = None
    go: Callable[[float], None] | None = None

    @property
    def baselines(self) -> Baselines:
        """The current baselines."""
        return self.usual().baselines

    @property
    def problem(self) -> str:
        """Why the baselines could not be read, in one line with the name of their file, or an empty text."""
        found = self.usual()
        return found.problem if found.path is None else found.problem.replace(str(found.path), found.path.name)


@dataclass(frozen=True, slots=True)
class PastRequest:
    """A range of one queue: ``count`` steps of ``step_s`` seconds, from ``since_at`` (seconds since the epoch)."""

    queue: str
    since_at: float
    step_s: float
    count: int


class PastRead(Message):
    """A range or a part of it was read. ``begins_at`` and ``ends_at``: the start and the end of all known data."""

    def __init__(self, number: int, past: PastRange, begins_at: float, ends_at: float) -> None:
        super().__init__()
        self.number = number
        self.past = past
        self.begins_at = begins_at
        self.ends_at = ends_at


class MarkFound(Message):
    """The search has ended with an incident or operation to jump to, or with ``None``."""

    def __init__(self, number: int, mark: JumpPoint | None) -> None:
        super().__init__()
        self.number = number
        self.mark = mark


class PastReader:
    """Reads on a separate thread. A new request cancels the previous request. Only the screen's thread may call it."""

    def __init__(self, pasts: RangeReader, receiver: MessagePump) -> None:
        # The number of the last request. Answers to earlier requests are discarded.
        self.number = 0
        self._pasts = pasts
        self._receiver = receiver
        self._read_lock = Lock()

    def stop(self) -> None:
        """Discard the answers of all requests so far."""
        self.number += 1

    def read_range(self, request: PastRequest, *, complete_only: bool = False) -> None:
        """Read a range, and post ``PastRead`` for each part.

        With ``complete_only``, post it once, for the complete range.
        """

        def post_parts(number: int) -> None:
            last: PastRange | None = None
            given = (request.queue, request.since_at, request.step_s, request.count)
            for past in self._pasts.read_range(*given, lambda: number != self.number):
                if last is not None and not complete_only:
                    self._post(number, last)
                last = past
            if last is not None:
                self._post(number, last)

        self._start(post_parts)

    def find_jump_point(self, queue: str, at: float, *, forward: bool) -> None:
        """Find the next or previous incident or operation of a queue, and post ``MarkFound``."""

        def post_mark(number: int) -> None:
            mark = self._pasts.find_jump_point(queue, at, forward=forward, stopped=lambda: number != self.number)
            self._receiver.post_message(MarkFound(number, mark))

        self._start(post_mark)

    def _start(self, read: Callable[[int], None]) -> None:
        self.number += 1
        number = self.number

        def run() -> None:
            with self._read_lock:
                if number == self.number:
                    read(number)

        start_daemon(run, "qmon-past")

    def _post(self, number: int, past: PastRange) -> None:
        if number == self.number:
            self._receiver.post_message(PastRead(number, past, self._pasts.begins_at, self._pasts.ends_at))
