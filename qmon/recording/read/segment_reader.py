"""Reads one segment, sealed or still open: its index, and its lines from any time on."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from qmon.model.figure import Severity
from qmon.model.operation_records import Operation
from qmon.recording.format.frames import (
    LOCATOR_BYTES,
    OPEN_PREFIX,
    Damaged,
    inflate_frame,
    line_kind,
    line_spans,
    parse_locator,
)
from qmon.recording.format.records import (
    LATEST_TIME,
    Frame,
    IndexLine,
    JumpPoint,
    Line,
    SessionLine,
    VerdictsLine,
    parse_line,
)
from qmon.recording.read.recording_paths import sealed_path

_VERDICT_KIND: Final = frozenset({"verdict"})


@dataclass
class Segment:
    """The contents of one file, or the part of the contents that could be read."""

    path: Path
    session: SessionLine | None
    frames: tuple[Frame, ...] = ()
    marks: tuple[JumpPoint, ...] = ()
    # The reason for each damaged part that was found so far, keyed by the offset of the frame or the negative line
    # number.
    damage: dict[int, str] = field(default_factory=dict)
    # True if the file ends with an index, like every sealed segment.
    is_indexed: bool = False
    recorder: str = ""
    # For files without an index, the end offset of each frame, keyed by its start offset.
    frame_ends: dict[int, int] = field(default_factory=dict)
    # The lines of the last, unfinished frame of a file that was never sealed.
    tail: list[Line] = field(default_factory=list)
    tail_text: bytes = b""

    @property
    def first_damage(self) -> str:
        """The first damage found, or an empty text."""
        return next(iter(self.damage.values()), "")

    def read_lines(self, since_at: float = float("-inf")) -> Iterator[Line]:
        """Yield the readable lines, from the frame that contains ``since_at`` to the end. Raises ``OSError``."""
        first = max(0, bisect_right(self.frames, since_at, key=lambda frame: frame.first_at) - 1)
        for start, text in self._frame_texts(range(first, len(self.frames))):
            try:
                yield from _parse_lines(text)
            except Damaged as problem:
                self.damage[start] = str(problem)
        yield from self.tail

    def decode_line(self, line: Line) -> Any:
        """Return the record of a line of this segment, or ``None`` if it is damaged."""
        try:
            return line.decode_record()
        except Damaged as problem:
            self.damage[-line.number] = str(problem)
            return None

    def verdicts_until(self, until_at: float) -> dict[str, VerdictsLine]:
        """Return the latest verdicts of each queue up to a time. Other lines are not parsed. Raises ``OSError``."""
        found: dict[str, VerdictsLine] = {}
        for line in itertools.chain(self._verdict_lines(), (line for line in self.tail if line.kind == "verdict")):
            if line.at > until_at:
                break
            verdicts: VerdictsLine | None = self.decode_line(line)
            if verdicts is not None:
                found[verdicts.queue] = verdicts
        return found

    def _verdict_lines(self) -> Iterator[Line]:
        for start, text in self._frame_texts(number for number, frame in enumerate(self.frames) if frame.verdicts):
            try:
                yield from parse_lines_of_kinds(text, _VERDICT_KIND)
            except Damaged as problem:
                self.damage[start] = str(problem)

    def _frame_texts(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the offset and text of these frames, except damaged frames."""
        with self.path.open("rb") as file:
            for number in numbers:
                start = self.frames[number].offset
                file.seek(start)
                known = self.frames[number + 1].offset - start if number + 1 < len(self.frames) else -1
                try:
                    text, _ = inflate_frame(file.read(known))
                except Damaged as problem:
                    self.damage[start] = str(problem)
                else:
                    yield start, text


def open_segment(path: Path) -> Segment:
    """Open a segment by its index, or read the whole file if it has no index. Raises ``OSError``.

    Does not raise if the segment is damaged.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - LOCATOR_BYTES))
        start = parse_locator(file.read())
        if start is not None and start < size:
            file.seek(start)
            try:
                text, _ = inflate_frame(file.read())
                line = parse_line(text)
                index: IndexLine | None = line.decode_record() if line is not None and line.kind == "index" else None
                if line is not None and index is not None and _index_fits(index, start):
                    return Segment(
                        path, index.session, index.frames, index.marks, is_indexed=True, recorder=line.recorder
                    )
            except Damaged:
                pass
    return scan_segment(path)


def _index_fits(index: IndexLine, size: int) -> bool:
    """Return true if the index fits ``size`` bytes of frames. A file that qmon did not write may contain any index."""
    offsets = [frame.offset for frame in index.frames]
    within = all(0 <= offset < size for offset in offsets)
    timed = all(abs(at) < LATEST_TIME for frame in index.frames for at in (frame.first_at, frame.last_at))
    return within and timed and all(before < after for before, after in itertools.pairwise(offsets))


def scan_segment(path: Path) -> Segment:
    """Read a file without an index (open, truncated or damaged) up to the first damage. Raises ``OSError``."""
    data = memoryview(path.read_bytes())
    found = Segment(path, None)
    frames: list[Frame] = []
    marks: list[JumpPoint] = []
    at = 0
    while at < len(data):
        try:
            text, used = inflate_frame(data[at:], allow_partial=True)
            text = text[: text.rfind(b"\n") + 1]
            lines = list(_parse_lines(text))
            for line in lines:
                _record_line(found, line, marks)
        except Damaged as problem:
            found.damage[at] = str(problem)
            break
        lines = [line for line in lines if line.kind != "index"]
        if not used:
            found.tail, found.tail_text = lines, text
            break
        if lines:
            found.frame_ends[at] = at + used
            verdicts = sum(line.kind == "verdict" for line in lines)
            frames.append(Frame(at, lines[0].at, lines[-1].at, lines[0].number, len(lines), verdicts))
        at += used
    found.frames, found.marks = tuple(frames), tuple(marks)
    return found


def _record_line(segment: Segment, line: Line, marks: list[JumpPoint]) -> None:
    segment.recorder = line.recorder
    if line.kind == "session":
        segment.session = line.decode_record()
    elif (mark := mark_for(line)) is not None:
        marks.append(mark)


def mark_for(line: Line) -> JumpPoint | None:
    """Return the mark that a line stands for, or ``None``."""
    if line.kind == "operation":
        done: Operation = line.decode_record()
        return JumpPoint(line.at, "operation", done.queue, f"{done.kind} {done.state}: {done.done} by {done.by}")
    if line.kind == "verdict":
        verdicts: VerdictsLine = line.decode_record()
        worst = verdicts.holds[0] if verdicts.holds else None
        if worst is not None and worst.severity >= Severity.WARNING and not verdicts.repeated:
            return JumpPoint(line.at, "verdict", verdicts.queue, f"{worst.code}: {worst.proof}")
    return None


def _parse_lines(text: bytes) -> Iterator[Line]:
    """Yield the lines of one frame. Raises ``Damaged``."""
    return (line for begin, end in line_spans(text) if (line := parse_line(text[begin:end])) is not None)


def parse_lines_of_kinds(text: bytes, kinds: frozenset[str]) -> Iterator[Line]:
    """Yield the lines of these kinds. Other lines are not parsed. Raises ``Damaged``."""
    for begin, end in line_spans(text):
        if (line_kind(text, begin, end) or "?") in (
            "?",
            *kinds,
        ):  # a line without a kind is damaged; parsing it raises
            line = parse_line(text[begin:end])
            if line is not None and line.kind in kinds:
                yield line


def frames_between(path: Path, since_at: float, until_at: float) -> Iterator[tuple[float, bytes]]:
    """Yield the text of each frame that may have lines between two times, with the share of the work done so far.

    A file that is still open is read from its beginning, which is cheap because its lines are not parsed. If the file
    was sealed in the meantime, it is read under its new name. Raises ``OSError``. Raises ``Damaged`` after the
    undamaged part.
    """
    if path.name.startswith(OPEN_PREFIX):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            path = sealed_path(path)
        else:
            yield from _all_frames(data)
            return
    one = open_segment(path)
    if not one.is_indexed:
        yield from _all_frames(path.read_bytes())
        return
    wanted = [i for i, m in enumerate(one.frames) if m.first_at <= until_at and m.last_at >= since_at]
    with path.open("rb") as file:
        for done, number in enumerate(wanted, 1):
            start = one.frames[number].offset
            file.seek(start)
            following = one.frames[number + 1].offset - start if number + 1 < len(one.frames) else -1
            yield done / len(wanted), inflate_frame(file.read(following))[0]


def _all_frames(data: bytes) -> Iterator[tuple[float, bytes]]:
    """Yield all frames of a file without an index, including the available part of the last one."""
    view, at = memoryview(data), 0
    while at < len(data):
        text, used = inflate_frame(view[at:], allow_partial=True)
        whole = text[: text.rfind(b"\n") + 1]
        if not used:
            yield 1.0, whole
            return
        at += used
        yield at / len(data), whole
