"""Salvages the open segments of a killed recorder: seals each segment with all its complete lines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon import system
from qmon.recording.format.codec import encode
from qmon.recording.format.frames import OPEN_PREFIX, line_spans
from qmon.recording.format.records import Frame, IndexLine, Line, encode_line
from qmon.recording.read.recording_paths import list_segments, sealed_path
from qmon.recording.read.segment_reader import Segment, open_segment
from qmon.recording.write.segment_writer import SegmentWriter, publish_segment

_WORK_PREFIX: Final = "_salvage-"


@dataclass(frozen=True, slots=True)
class SalvageResult:
    """The result for one open segment. ``path``: the sealed file, if any line was saved. ``lines``: lines saved."""

    path: Path | None
    lines: int


def salvage_segments(root: Path) -> list[SalvageResult]:
    """Seal all open segments below a folder, except segments that a process is writing.

    Raises ``CannotWrite`` and ``OSError``.
    """
    done = []
    for path in list_segments(root):
        if path.name.startswith(OPEN_PREFIX):
            with _lock_if_unused(path) as free:
                if free:
                    done.append(_salvage_segment(path))
    for left in root.rglob(f"{_WORK_PREFIX}*"):  # an earlier salvage that was killed left this file
        with _lock_if_unused(left) as free:
            if free:
                system.remove_file(left)
    return done


def _salvage_segment(path: Path) -> SalvageResult:
    sealed, found = sealed_path(path), open_segment(path)
    if found.is_indexed:  # the recorder was killed just before the rename
        publish_segment(path, sealed)
        return SalvageResult(sealed, sum(frame.lines for frame in found.frames))
    count = sum(frame.lines for frame in found.frames) + len(found.tail)
    if count:
        _rewrite(found, sealed)
    if found.first_damage:  # killing a recorder does not cause such damage, so keep the unreadable part for inspection
        system.rename_over(path, path.with_name(f"_damaged-{sealed.name}"))
    else:
        system.remove_file(path)
    return SalvageResult(sealed if count else None, count)


def _rewrite(segment: Segment, sealed: Path) -> None:
    """Copy the complete frames, rewrite the lines of the last one, and add the index."""
    newest = segment.tail[-1] if segment.tail else None
    writer = SegmentWriter(sealed.with_name(f"{_WORK_PREFIX}{sealed.name}"), sealed)
    with segment.path.open("rb") as file:
        for frame in segment.frames:
            file.seek(frame.offset)
            writer.copy_frame(file.read(segment.frame_ends[frame.offset] - frame.offset), frame)
    if newest is not None:
        texts = [segment.tail_text[begin:end] + b"\n" for begin, end in line_spans(segment.tail_text)]
        writer.write_lines(texts, segment.tail[0].at, segment.tail[0].number)
        writer.write_lines([], newest.at, newest.number)
        writer.end_frame()
    writer.seal(index_line(segment, tuple(writer.frames)))


def index_line(segment: Segment, frames: tuple[Frame, ...]) -> bytes:
    """Return the index line of a segment that its recorder did not finish. This line gets the next line number."""
    last = frames[-1]
    index = IndexLine(segment.session, frames, segment.marks)
    return encode_line(Line(segment.recorder, last.first + last.lines, last.last_at, "index", encode(index)))


@contextlib.contextmanager
def _lock_if_unused(path: Path) -> Iterator[bool]:
    """Yield true if no process writes the file. On systems that can rename locked files, keep the file locked."""
    try:
        file = os.open(path, os.O_RDONLY | system.OPEN_FLAGS)
    except FileNotFoundError:
        yield False
        return
    try:
        free = system.lock_file(file, wait=False) and path.exists()
        if system.HELD_WHILE_OPEN:
            os.close(file)
            file = -1
        yield free
    finally:
        if file >= 0:
            os.close(file)
