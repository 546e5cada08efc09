"""The recordings of one target, which may still grow: lists the segments and finds the segments that a range needs."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from qmon.recording.format.frames import OPEN_PREFIX, Damaged
from qmon.recording.format.records import JumpPoint
from qmon.recording.read.recording_paths import folder_name_for, list_segments, segment_start
from qmon.recording.read.recording_reader import RecordingReader
from qmon.recording.read.segment_reader import frames_between, mark_for, open_segment, parse_lines_of_kinds

# Maximum length of a segment in seconds: an hour, plus a tolerance.
_LONGEST_S: Final = 3700.0
_JUMP_TO: Final = frozenset({"verdict", "operation"})


class RecordingArchive:
    """Finds segments and marks. All methods except ``ends_at`` read the disk, which may block the thread.

    Args:
        paths: returns the segments in chronological order.
        zone: IANA time zone of the recording machine.
        spans: times of the first and last data, seconds since the epoch. ``None``: recording is still running, so the
            last data is current.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        paths: Callable[[], Sequence[Path]],
        zone: str,
        *,
        spans: tuple[float, float] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._paths = paths
        self._spans = spans
        self._clock = clock
        self._marks = lru_cache(maxsize=1000)(_sealed_marks)
        self.zone = zone
        self.is_live = spans is None

    @property
    def ends_at(self) -> float:
        """The latest time that may have data (seconds since the epoch): now, if recording is still running."""
        return self._spans[1] if self._spans is not None else self._clock()

    @property
    def begins_at(self) -> float:
        """The time of the first data, or the current time if nothing was recorded. Seconds since the epoch."""
        if self._spans is not None:
            return self._spans[0]
        paths = self._paths()
        return segment_start(paths[0]) if paths else self._clock()

    def segments_between(self, since_at: float, until_at: float) -> list[Path]:
        """Return the segments that may have lines between two times."""
        starts = ((segment_start(path), path) for path in self._paths())
        return [path for at, path in starts if at == 0.0 or since_at - _LONGEST_S <= at <= until_at]

    def segment_span(self, path: Path) -> tuple[float, float] | None:
        """Return the times of the first and last line of a sealed segment, or ``None`` if it cannot be read."""
        try:
            one = open_segment(path)
        except OSError:
            return None
        times = [at for frame in one.frames for at in (frame.first_at, frame.last_at)]
        times += [line.at for line in one.tail]
        return (min(times), max(times)) if times else None

    def find_jump_point(
        self, queue: str, at: float, *, forward: bool, stopped: Callable[[], bool] = lambda: False
    ) -> JumpPoint | None:
        """Return the next or previous incident or operation of a queue, seen from ``at``, or ``None``."""
        paths = self._paths()
        starts = [segment_start(path) for path in paths]
        if forward:
            order: Iterator[Path] = iter(paths[max(0, bisect_left(starts, at - _LONGEST_S)) :])
        else:
            order = reversed(paths[: bisect_right(starts, at)])
        best: JumpPoint | None = None
        for path in order:
            if stopped() or (
                best is not None and segment_start(path) not in (0.0, best.at) and _is_past(best, path, forward)
            ):
                break
            for mark in self._marks_in(path):
                after = mark.at > at + 0.001 if forward else mark.at < at - 0.001
                nearer = best is None or (mark.at < best.at if forward else mark.at > best.at)
                if mark.queue in ("", queue) and after and nearer:
                    best = mark
        return best

    def _marks_in(self, path: Path) -> tuple[JumpPoint, ...]:
        return _open_marks(path) if path.name.startswith(OPEN_PREFIX) else self._marks(path)


def _is_past(best: JumpPoint, path: Path, forward: bool) -> bool:
    """Return true if every mark of this segment is farther away than the mark ``best``."""
    return segment_start(path) > best.at if forward else segment_start(path) + _LONGEST_S < best.at


def _sealed_marks(path: Path) -> tuple[JumpPoint, ...]:
    try:
        return open_segment(path).marks
    except OSError:
        return ()


def _open_marks(path: Path) -> tuple[JumpPoint, ...]:
    found: list[JumpPoint] = []
    try:
        for _, text in frames_between(path, float("-inf"), float("inf")):
            found += (mark for line in parse_lines_of_kinds(text, _JUMP_TO) if (mark := mark_for(line)) is not None)
    except (Damaged, OSError):
        pass
    return tuple(found)


def live_archive(root: Path, target: str, zone: str, *, clock: Callable[[], float] = time.time) -> RecordingArchive:
    """Return the archive of a target below a folder, including open segments. Raises ``BadInput``."""
    below = root / f"target={folder_name_for(target)}"
    return RecordingArchive(lambda: list_segments(below), zone, clock=clock)


def archive_from_reader(reader: RecordingReader) -> RecordingArchive:
    """Return the archive of a reader's segments."""
    return RecordingArchive(lambda: reader.paths, reader.session.zone, spans=(reader.begins_at, reader.ends_at))
