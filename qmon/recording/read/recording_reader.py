"""Reads all recordings of one target in chronological order, beginning at any time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from qmon.errors import BadInput
from qmon.model.operation_records import Operation
from qmon.model.snapshot import Snapshot
from qmon.monitor.source import Phase, SourceState
from qmon.recording.format.records import JumpPoint, Line, PhaseChange, SessionLine, VerdictsLine
from qmon.recording.read.recording_paths import list_segments, recorded_targets, sealed_path, segment_start
from qmon.recording.read.segment_reader import Segment, open_segment
from qmon.texts import Text


class ReaderText(Text):
    """Why a recording cannot be read."""

    EMPTY = "the recording is empty"
    ONE_PART = "1 damaged part"
    PARTS = "{count:,} damaged parts"
    SKIPPED = "skipped {parts}; {file}: {problem}"
    SEVERAL_TARGETS = "{path} has recordings of several targets; choose one with --target: {targets}"
    NO_SUCH_TARGET = "{path} has no recording of {target!r}; it has: {targets}"
    UNREADABLE = "cannot read {path}: {problem}"
    NO_RECORDING = "{path} has no recording"


RecordedEvent = Snapshot | SourceState | Operation | VerdictsLine


@dataclass(frozen=True, slots=True)
class Moment:
    """An event recorded at ``at``, seconds since the epoch on the recording machine's clock."""

    at: float
    event: RecordedEvent


class NothingRecorded(BadInput):
    """The segments contain no session line."""


class RecordingReader:
    """Reads the segments of one target. Not thread-safe.

    Args:
        paths: the segments in chronological order. Damaged segments are read as far as possible.

    Raises ``BadInput`` if nothing was recorded.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._segment = lru_cache(maxsize=8)(self._open_segment)
        self._damage: dict[Path, dict[int, str]] = {}
        starts = {path: segment_start(path) or self._first_at(path) for path in paths}
        twice = {at for at, count in Counter(starts.values()).items() if count > 1}
        self._paths = sorted(
            starts, key=lambda path: (starts[path], self._first_at(path) if starts[path] in twice else 0.0)
        )
        self._starts = [starts[path] for path in self._paths]
        sessions = (self._segment(path).session for path in reversed(self._paths))
        newest = next((session for session in sessions if session is not None), None)
        if newest is None:
            raise NothingRecorded(ReaderText.EMPTY)
        self._newest_session = newest

    def _first_at(self, path: Path) -> float:
        one = self._segment(path)
        return one.frames[0].first_at if one.frames else one.tail[0].at if one.tail else 0.0

    @property
    def paths(self) -> tuple[Path, ...]:
        """The segments in chronological order."""
        return tuple(self._paths)

    @property
    def damage(self) -> str:
        """The damage found so far, in one line, or empty."""
        found = [(path.name, why) for path, each in self._damage.items() for why in each.values()]
        if not found:
            return ""
        parts = ReaderText.ONE_PART if len(found) == 1 else ReaderText.PARTS.render(count=len(found))
        return ReaderText.SKIPPED.render(parts=parts, file=found[0][0], problem=found[0][1])

    def _open_segment(self, path: Path) -> Segment:
        """Open the segment. If its recorder has sealed the segment in the meantime, use its new name."""
        try:
            one = open_segment(path)
        except FileNotFoundError:
            one = open_segment(sealed_path(path))
        known = self._damage.setdefault(path, {})
        known |= one.damage
        one.damage = known
        return one

    @property
    def session(self) -> SessionLine:
        """The session line of the newest segment."""
        return self._newest_session

    @property
    def begins_at(self) -> float:
        """Time of the first line, seconds since the epoch."""
        return min(self._first_at(path) for path in self._paths[:2])

    @property
    def ends_at(self) -> float:
        """Time of the last line, seconds since the epoch."""
        return max(_last_at(self._segment(path)) for path in self._paths[-2:])

    def read_marks(self) -> list[JumpPoint]:
        """Return the marks of all segments in chronological order."""
        return sorted((mark for path in self._paths for mark in self._segment(path).marks), key=lambda mark: mark.at)

    def verdicts_at(self, at: float) -> list[VerdictsLine]:
        """Return the latest verdicts of each queue up to a time.

        Reading one segment is enough, because each segment begins with all current verdicts.
        """
        if not self._starts or at < self._starts[0]:
            return []
        return list(self._segment(self._paths[bisect_right(self._starts, at) - 1]).verdicts_until(at).values())

    def read_moments(self, since_at: float) -> Iterator[Moment]:
        """Decode and yield all events from a time on."""
        for one, line in self.read_lines(since_at):
            what = _event_from_line(one, line)
            if what is not None:
                yield Moment(line.at, what)

    def read_lines(self, since_at: float) -> Iterator[tuple[Segment, Line]]:
        """Yield every line from a time on.

        If two recorders ran at the same time, lines of the first are used until they end.
        """
        first = max(0, bisect_right(self._starts, since_at) - 1)
        newest, recorder = since_at, ""
        for path in self._paths[first:]:
            one = self._segment(path)
            for line in one.read_lines(newest):
                if line.at < since_at or (line.at <= newest and recorder not in ("", line.recorder)):
                    continue
                newest, recorder = max(newest, line.at), line.recorder
                yield one, line


def _last_at(segment: Segment) -> float:
    return segment.tail[-1].at if segment.tail else segment.frames[-1].last_at if segment.frames else 0.0


def _event_from_line(segment: Segment, line: Line) -> RecordedEvent | None:
    if line.kind == "state":
        changed: PhaseChange | None = segment.decode_line(line)
        if changed is None or changed.phase not in set(Phase):
            return None
        return SourceState(segment.session.target if segment.session else "", Phase(changed.phase), changed.reason)
    if line.kind in ("snapshot", "operation", "verdict"):
        found: RecordedEvent | None = segment.decode_line(line)
        return found
    return None


def open_recording(path: Path, target: str | None = None) -> RecordingReader:
    """Open a file, or one target of a folder of recordings. Raises ``BadInput``."""
    try:
        if path.is_file():
            return RecordingReader([path])
        known = dict(recorded_targets(path))
        if target is None and len(known) > 1:
            raise BadInput(ReaderText.SEVERAL_TARGETS.render(path=path, targets=", ".join(known)))
        if target is not None and target not in known:
            raise BadInput(
                ReaderText.NO_SUCH_TARGET.render(path=path, target=target, targets=", ".join(known) or "none")
            )
        below = known[target] if target is not None else next(iter(known.values()), path)
        return RecordingReader(list_segments(below))
    except OSError as problem:
        raise BadInput(ReaderText.UNREADABLE.render(path=path, problem=problem.strerror or problem)) from problem
    except NothingRecorded:
        raise BadInput(ReaderText.NO_RECORDING.render(path=path)) from None
