"""Writes the segments of one recorder, one after the other, with continuous line numbers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from qmon.model.snapshot import Snapshot
from qmon.recording.figures_file import FiguresFile
from qmon.recording.format.codec import Cover, encode
from qmon.recording.format.frames import FIGURE_KINDS, OPEN_PREFIX, SEGMENT_SUFFIX
from qmon.recording.format.records import (
    KIND_BY_TYPE,
    End,
    IndexLine,
    JumpPoint,
    Line,
    SessionLine,
    VerdictsLine,
    encode_line,
)
from qmon.recording.read import recording_paths
from qmon.recording.read.segment_reader import mark_for
from qmon.recording.write.segment_writer import FRAME_S, SEGMENT_BYTES, SegmentWriter

_LOG: Final = logging.getLogger(__name__)


class RollingWriter:
    """Writes the lines of one recorder, and the file of figures of each segment. Not thread-safe.

    Every method raises ``CannotWrite`` if the disk fails.

    Args:
        root: the folder of all recordings.
        recorder: the recorder's id.
        session: the first line of every segment.
        cover: decides which texts are left out (``qmon.recording.format.redaction``).
        on_sealed: called with the path of each sealed segment.
    """

    def __init__(
        self,
        root: Path,
        recorder: str,
        session: SessionLine,
        cover: Cover = str,
        on_sealed: Callable[[Path], None] | None = None,
    ) -> None:
        self.recorder = recorder
        self.session = session
        self._root = root
        self._cover = cover
        self._on_sealed = on_sealed
        self._number = 0
        self._segments = 0
        self._began_at = 0.0
        self._sealed_bytes = 0
        self._writer: SegmentWriter | None = None
        self._figures: FiguresFile | None = None
        self._marks: list[JumpPoint] = []
        self._lines: list[bytes] = []

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return self._sealed_bytes + (self._writer.bytes if self._writer is not None else 0)

    def open_segment(self, at: float, verdicts: Iterable[VerdictsLine]) -> None:
        """Begin a segment at ``at`` (seconds since the epoch). ``verdicts``: the verdicts that hold at this time."""
        self._segments += 1
        folder = recording_paths.segment_folder(self._root, self.session.target, at)
        name = recording_paths.segment_stem(at, self.recorder, self._segments) + SEGMENT_SUFFIX
        writer, self._figures = SegmentWriter(folder / f"{OPEN_PREFIX}{name}", folder / name), FiguresFile()
        self.begin_segment(writer, at, verdicts)

    def begin_segment(self, writer: SegmentWriter, at: float, verdicts: Iterable[VerdictsLine] = ()) -> None:
        """Write the following lines to this new segment."""
        self._writer = writer
        self._began_at, self._marks = at, []
        self.add_record(self.session, at)
        for each in verdicts:
            self.add_record(each, at)
        self.flush(at)

    def roll_segment(self, at: float, verdicts: Iterable[VerdictsLine]) -> None:
        """Begin a new frame or a new segment if the current one is old or large enough."""
        writer = self._writer
        if writer is None:
            return
        same_hour = at // recording_paths.SEGMENT_S == self._began_at // recording_paths.SEGMENT_S
        if not same_hour or writer.bytes >= SEGMENT_BYTES:
            self.seal_segment(at, None)
            self.open_segment(at, verdicts)
        else:
            self.roll_frame(at)

    def roll_frame(self, at: float) -> None:
        """End the current frame if it is two minutes old. The next line begins a new frame."""
        writer = self._writer
        if writer is not None and writer.began_at is not None and not 0 <= at - writer.began_at < FRAME_S:
            writer.end_frame()

    def add_snapshot(self, snapshot: Snapshot, at: float) -> None:
        """Add a snapshot. If the engine or server version has changed, first add a new session line."""
        if (snapshot.engine, snapshot.server_version) != (self.session.engine, self.session.version):
            self.session = replace(self.session, engine=snapshot.engine, version=snapshot.server_version)
            self.add_record(self.session, at)
        self.add_record(snapshot, at)

    def add_record(self, record: object, at: float) -> None:
        """Add a record of one of ``KINDS`` as a line. The next ``flush`` writes the line."""
        self.add_line(Line(self.recorder, 0, at, KIND_BY_TYPE[type(record)], encode(record, self._cover)))

    def add_line(self, parsed: Line) -> None:
        """Add a line from another recording, with the recorder id and the next line number of this writer."""
        self._number += 1
        self._lines.append(encode_line(replace(parsed, recorder=self.recorder, number=self._number)))
        if self._figures is not None and parsed.kind in FIGURE_KINDS:
            self._figures.add_line(self._lines[-1])
        if (mark := mark_for(parsed)) is not None:
            self._marks.append(mark)

    def flush(self, at: float) -> None:
        """Write all added lines to the file."""
        if self._lines and self._writer is not None:
            lines, self._lines = self._lines, []
            self._writer.write_lines(lines, at, self._number - len(lines) + 1)

    def seal_segment(self, at: float, end: End | None) -> None:
        """Finish the segment. ``end``: the record for the recorder's last line, if no segment follows."""
        writer = self._writer
        if writer is None:
            return
        if end is not None:
            self.add_record(end, at)
        self.flush(at)
        writer.end_frame()
        self._number += 1
        index = IndexLine(self.session, tuple(writer.frames), tuple(self._marks))
        sealed = writer.seal(encode_line(Line(self.recorder, self._number, at, "index", encode(index))))
        self._sealed_bytes += writer.bytes
        self._writer = None
        if self._figures is not None:
            try:
                self._figures.write(sealed)
            except OSError as problem:  # the pipeline then reads the segment
                _LOG.warning("cannot write the figures of %s: %s", sealed, problem)
        if self._on_sealed is not None:
            self._on_sealed(sealed)

    def abandon_segment(self) -> None:
        """Close the open segment without finishing it. The next start of a recorder salvages its contents."""
        if self._writer is not None:
            self._sealed_bytes += self._writer.bytes
            self._writer.close()
            self._writer = None
