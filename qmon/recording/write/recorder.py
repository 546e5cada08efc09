"""The recorder of one target. Its thread writes data to the file as soon as the data arrives.

If the process is killed, only data that was not written yet is lost. If the disk fails, the recorder stops and reports
the reason, and polling continues.
"""

from __future__ import annotations

import importlib.util
import logging
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from qmon import __version__, log
from qmon.errors import BadInput
from qmon.model.figure import Severity, Verdict
from qmon.model.formatting import count_text
from qmon.model.operation_records import Operation
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts.judge import is_brief
from qmon.model.view import QueueView, View
from qmon.monitor.source import Phase, SourceState
from qmon.operate.context import OperatorContext
from qmon.recording.format.poll_figures import Figures, figures_from_view
from qmon.recording.format.records import End, Gap, PhaseChange, SessionLine, VerdictsLine
from qmon.recording.format.redaction import recording_cover
from qmon.recording.times import local_zone
from qmon.recording.write.operations_watch import OperationsWatch
from qmon.recording.write.recovery import salvage_segments
from qmon.recording.write.rolling_writer import RollingWriter
from qmon.recording.write.segment_writer import CannotWrite
from qmon.texts import Text


class RecorderText(Text):
    """Why a recorder cannot record, has stopped, or has lost polls."""

    SLOW_DISK = "the disk is too slow"
    ITS_FILE = "its file"
    OTHER_FOLDER = "{problem}; choose another folder"
    STOPPED = "recording stopped after {snapshots}: {problem}"


_LOG: Final = logging.getLogger(__name__)
_QUEUE_SIZE: Final = 256
_CLOSE_TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _QueueVerdicts:
    """The verdicts of a queue, worst first. ``kept``: earlier verdicts that may still hold."""

    holds: tuple[Verdict, ...] = ()
    kept: tuple[Verdict, ...] = ()
    undecided: frozenset[str] = frozenset()

    def carry_over(self, before: _QueueVerdicts) -> _QueueVerdicts:
        """Return a copy that also contains earlier verdicts, from ``before``, that may still hold."""
        now = {verdict.code for verdict in self.holds}
        may_go_on = (v for v in (*before.holds, *before.kept) if v.code in self.undecided and v.code not in now)
        return replace(self, kept=tuple(v for v in may_go_on if v.severity > Severity.FINE))

    @property
    def key(self) -> tuple[list[tuple[str, int]], list[str]]:
        """Codes and severities. A line is written when a code or a severity changes."""
        return [(verdict.code, verdict.severity) for verdict in self.holds], [verdict.code for verdict in self.kept]


@dataclass(frozen=True, slots=True)
class _Poll:
    """A snapshot with its verdicts (keyed by queue) and figures. Without a view, verdicts and figures are ``None``."""

    snapshot: Snapshot
    verdicts: Mapping[str, _QueueVerdicts] | None
    figures: Figures | None


# Phases in which a source has no connection.
_DISCONNECTED: Final = frozenset({Phase.CONNECTING, Phase.LOST, Phase.CLOSED})
_Event = tuple[float, _Poll | SourceState | Operation]


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """Progress of a recording. ``stopped``: why recording has ended, or an empty text. ``cpu_s``: CPU seconds so far.

    ``snapshots``: number recorded. ``lost``: number not recorded. ``bytes``: number written since the program started.
    """

    snapshots: int = 0
    lost: int = 0
    bytes: int = 0
    cpu_s: float = 0.0
    stopped: str = ""
    newest_at: float | None = None

    @property
    def stopped_text(self) -> str:
        """How many snapshots were recorded before the recording stopped, and why it stopped."""
        return RecorderText.STOPPED.render(snapshots=count_text(self.snapshots, "snapshot"), problem=self.stopped)


class Recorder:
    """Records one target below a folder. ``record_snapshot``, ``record_state`` and ``record_operation`` never block.

    These three methods may be called from any thread.

    Args:
        recordings_folder: the folder of all recordings.
        target: the target's name, free of secrets.
        interval_s: requested seconds between polls.
        redact: applies the configured redaction to statements and payloads.
        record_payloads: also record payloads and last errors of messages.
        environment: the target's environment, such as ``prod``.
        rows_files: also write a Parquet file for each sealed segment, if pyarrow is installed. Needs 250 MB.
        clock: seconds since the epoch.

    Before it records, it seals the segments that a killed recorder left open. Raises ``BadInput`` if the folder is not
    writable.
    """

    def __init__(
        self,
        recordings_folder: Path,
        target: str,
        *,
        interval_s: float,
        redact: Callable[[str], str] = lambda text: text,
        record_payloads: bool = False,
        environment: str = "",
        rows_files: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._target = target
        self._queue: queue.Queue[_Event | None] = queue.Queue(_QUEUE_SIZE)
        self._lost = 0
        self._verdicts: dict[str, _QueueVerdicts] = {}
        self._ahead_s = 0.0
        session = SessionLine(
            target, "", "", __version__, local_zone(), interval_s, clock(), socket.gethostname(), environment
        )
        try:
            for found in salvage_segments(recordings_folder):
                _LOG.warning(
                    "an earlier recorder did not close %s; %s lines were recovered",
                    found.path or RecorderText.ITS_FILE,
                    found.lines,
                )
            self._writer = RollingWriter(
                recordings_folder,
                secrets.token_hex(6),
                session,
                recording_cover(redact, payloads=record_payloads),
                on_sealed=write_rows_if_possible if rows_files else None,
            )
            self._writer.open_segment(clock(), ())
        except (CannotWrite, OSError) as problem:
            raise BadInput(RecorderText.OTHER_FOLDER.render(problem=problem)) from problem
        self._status = RecorderStatus()
        self._is_connected = False
        self._operations: OperationsWatch | None = None
        self._closing = ""
        self._thread = threading.Thread(target=self._run, name="qmon-record", daemon=True)
        self._thread.start()

    @property
    def status(self) -> RecorderStatus:
        return self._status

    @property
    def id(self) -> str:
        """The recorder's id, as in its lines."""
        return self._writer.recorder

    def record_snapshot(self, snapshot: Snapshot, view: View | None) -> None:
        """Record a snapshot and its figures, and the verdicts of each queue whose verdicts have changed.

        Without a view, only the snapshot is recorded.
        """
        poll = _Poll(snapshot, None, None)
        if view is not None:
            poll = _Poll(
                snapshot,
                {q.name: _verdicts_to_record(q, view.sampled_at) for q in view.queues},
                figures_from_view(view),
            )
        self._is_connected = True
        self._enqueue((self._clock(), poll))

    def record_state(self, state: SourceState) -> None:
        """Record a phase change of the source."""
        self._is_connected = state.phase not in _DISCONNECTED
        self._enqueue((self._clock(), state))

    def record_operation(self, operation: Operation) -> None:
        """Record an operation."""
        self._enqueue((self._clock(), operation))

    def watch_operations(self, context: OperatorContext) -> None:
        """Also record the target's operations until ``close``. Later calls are ignored."""
        self._operations = self._operations or OperationsWatch(
            context, self.record_operation, lambda: self._is_connected
        )

    def close(self, reason: str = "closed") -> RecorderStatus:
        """Write pending data, seal the segment, and return the status. Waits at most twelve seconds."""
        if self._operations is not None:
            self._operations.close()
        self._closing = self._closing or reason
        try:
            self._queue.put(None, timeout=_CLOSE_TIMEOUT_S)
        except queue.Full:
            return replace(self._status, stopped=RecorderText.SLOW_DISK)
        self._thread.join(_CLOSE_TIMEOUT_S)
        return self._status

    def _enqueue(self, event: _Event) -> None:
        if self._status.stopped or self._closing:
            return
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            if isinstance(event[1], _Poll):
                self._lost += 1

    # ----------------------------------------------------------------------------------- on the recorder's thread

    def _run(self) -> None:
        try:
            while (event := self._queue.get()) is not None:
                self._write_event(event)
                self._status = replace(self._status, bytes=self._writer.bytes, cpu_s=time.thread_time())
            self._writer.seal_segment(self._clock(), End(self._closing))
        except CannotWrite as problem:
            self._stop_recording(str(problem))
        except Exception as problem:  # a bug in qmon ends the recording, never the polling
            self._stop_recording(log.report_defect(problem))

    def _stop_recording(self, reason: str) -> None:
        _LOG.warning("recording of %s stopped: %s", self._target, reason)
        self._status = replace(self._status, stopped=reason)
        self._writer.abandon_segment()

    def _write_event(self, event: _Event) -> None:
        (at, what), writer = event, self._writer
        known = self._verdicts.items()
        writer.roll_segment(
            at, [self._verdicts_line(name, (*each.holds, *each.kept), repeated=True) for name, each in known]
        )
        if self._lost and self._queue.qsize() < _QUEUE_SIZE // 2:
            writer.add_record(Gap(self._lost, RecorderText.SLOW_DISK), at)
            self._status = replace(self._status, lost=self._status.lost + self._lost)
            self._lost = 0
        if isinstance(what, _Poll):
            self._write_poll(what, at)
        elif isinstance(what, SourceState):
            writer.add_record(PhaseChange(what.phase, what.reason), at)
        else:
            writer.add_record(what, at)
        writer.flush(at)
        if isinstance(what, _Poll):
            self._status = replace(self._status, snapshots=self._status.snapshots + 1, newest_at=at)

    def _write_poll(self, poll: _Poll, at: float) -> None:
        self._writer.add_snapshot(poll.snapshot, at)
        if poll.figures is not None:
            self._writer.add_record(poll.figures, at)
        if poll.verdicts is None:
            return
        self._ahead_s = poll.snapshot.sampled_at - at
        none = _QueueVerdicts()
        verdicts = {name: each.carry_over(self._verdicts.get(name, none)) for name, each in poll.verdicts.items()}
        for name, each in verdicts.items():
            if each.key != self._verdicts.get(name, none).key:
                kept = tuple(verdict.code for verdict in each.kept)
                self._writer.add_record(self._verdicts_line(name, each.holds, kept), at)
        self._verdicts = verdicts

    def _verdicts_line(
        self, queue: str, holds: tuple[Verdict, ...], kept_codes: tuple[str, ...] = (), *, repeated: bool = False
    ) -> VerdictsLine:
        return VerdictsLine(queue, holds, repeated, kept_codes, self._ahead_s)


def _verdicts_to_record(queue: QueueView, sampled_at: float) -> _QueueVerdicts:
    """Return a queue's verdicts. Leave out a ``cannot tell`` that is still brief at ``sampled_at`` (server clock)."""
    holds = tuple(verdict for verdict in verdicts_for_queue(queue) if not is_brief(verdict, sampled_at))
    return _QueueVerdicts(holds, undecided=queue.undecided)


def verdicts_for_queue(queue: QueueView) -> tuple[Verdict, ...]:
    """Return the verdicts of a queue, worst first."""
    return queue.verdicts or (queue.verdict,)


_ROWS_FILE_PACKAGES: Final = ("pyarrow", "numpy")

# Recorders of many targets seal their segments at the same time. One conversion at a time leaves time for polls.
_ROWS_FILE_LOCK: Final = threading.Lock()


def write_rows_if_possible(segment: Path) -> None:
    """Write the Parquet file of a sealed segment. Without pyarrow, or if the disk fails, there is no file.

    The pipeline then reads the segment itself, so an error is only logged.
    """
    if any(importlib.util.find_spec(name) is None for name in _ROWS_FILE_PACKAGES):
        return
    from qmon.recording.figure_rows.rows_file import write_rows_file

    with _ROWS_FILE_LOCK:
        try:
            write_rows_file(segment)
        except OSError as problem:
            _LOG.warning("cannot write the Parquet file of %s: %s", segment, problem)
