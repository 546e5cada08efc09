"""The tape: all that was recorded of one target, in the order of time, from any moment on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from qmon.errors import BadInput
from qmon.model.operations import Operation
from qmon.model.snapshot import Snapshot
from qmon.monitor.source import Phase, SourceState
from qmon.recording.codec import Damaged
from qmon.recording.lines import PLAIN, Changed, Line, Mark, Said, Session
from qmon.recording.places import begins_at, segments, targets
from qmon.recording.reading import Segment, open_segment

What = Snapshot | SourceState | Operation | Said


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that was recorded, and when, in seconds since the epoch on the clock of the recording machine."""

    at: float
    what: What


class Tape:
    """Reads the segments of one target. For one thread.

    Args:
        paths: its segments, in the order of time; damaged ones are read as far as they go.

    Raises ``BadInput`` where nothing was recorded.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._segment = lru_cache(maxsize=8)(open_segment)
        self._paths = [path for path in paths if self._segment(path).session is not None]
        if not self._paths:
            raise BadInput("nothing is recorded there")
        self._sessions = [each for path in self._paths if (each := self._segment(path).session) is not None]
        self._starts = [max(begins_at(path), self._first_at(path)) for path in self._paths]

    def _first_at(self, path: Path) -> float:
        one = self._segment(path)
        return one.members[0].first_at if one.members else one.tail[0].at

    @property
    def session(self) -> Session:
        """What the newest segment says of itself."""
        return self._sessions[-1]

    @property
    def begins_at(self) -> float:
        """The time of the first line."""
        return self._starts[0]

    @property
    def ends_at(self) -> float:
        """The time of the last line."""
        last = self._segment(self._paths[-1])
        return last.tail[-1].at if last.tail else last.members[-1].last_at

    def marks(self) -> list[Mark]:
        """The moments worth jumping to, in order."""
        return sorted((mark for path in self._paths for mark in self._segment(path).marks), key=lambda mark: mark.at)

    def moments(self, since_at: float) -> Iterator[Moment]:
        """Everything from a moment on. Where two recorders were at it, the first goes on until it ends."""
        first = max(0, bisect_right(self._starts, since_at) - 1)
        newest, recorder = since_at, ""
        for path in self._paths[first:]:
            one = self._segment(path)
            for line in _readable(one, newest):
                if line.at < since_at or (line.at <= newest and recorder not in ("", line.recorder)):
                    continue
                newest, recorder = max(newest, line.at), line.recorder
                what = _what(one, line)
                if what is not None:
                    yield Moment(line.at, what)


def _readable(one: Segment, since_at: float) -> Iterator[Line]:
    try:
        yield from one.lines(since_at)
    except Damaged:
        return


def _what(one: Segment, line: Line) -> What | None:
    if line.kind == "snapshot":
        return one.snapshot(line)
    if line.kind == "state":
        changed: Changed = PLAIN.decode(Changed, line.value)
        known = changed.phase in set(Phase)
        return (
            SourceState(one.session.target if one.session else "", Phase(changed.phase), changed.reason)
            if known
            else None
        )
    if line.kind in ("operation", "verdict"):
        found: What = PLAIN.decode(Operation if line.kind == "operation" else Said, line.value)
        return found
    return None


def open_tape(path: Path, target: str | None = None) -> Tape:
    """The tape of a file, or of one target of a folder of recordings. Raises ``BadInput``."""
    try:
        if path.is_file():
            return Tape([path])
        known = dict(targets(path))
        if target is None and len(known) > 1:
            raise BadInput(f"several targets are recorded in {path}; say which with --target: {', '.join(known)}")
        if target is not None and target not in known:
            raise BadInput(f"{target!r} is not recorded in {path}; there is: {', '.join(known) or 'nothing'}")
        below = known[target] if target is not None else next(iter(known.values()), path)
        return Tape(segments(below))
    except OSError as problem:
        raise BadInput(f"{path} cannot be read: {problem.strerror or problem}") from problem
    except BadInput as problem:
        if "nothing is recorded there" in str(problem):
            raise BadInput(f"nothing is recorded in {path}") from None
        raise
