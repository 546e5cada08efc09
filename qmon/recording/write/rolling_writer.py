"""The roll: one recorder's segments, one after the other, with the numbers of its lines running on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from qmon.model.snapshot import Snapshot
from qmon.recording.format.chain import SnapshotDelta
from qmon.recording.format.codec import Change, Plain
from qmon.recording.format.records import (
    PLAIN,
    End,
    IndexLine,
    Mark,
    SessionLine,
    Shared,
    VerdictsLine,
    line,
    read_line,
)
from qmon.recording.read import paths
from qmon.recording.read.segment_reader import mark_of
from qmon.recording.write.segment import MEMBER_S, OPEN, SEGMENT_BYTES, SUFFIX, Writer

_HOUR_S: Final = 3600


class RollingWriter:
    """Writes the lines of one recorder. For one thread. Every method raises ``CannotWrite`` where the disk fails.

    Args:
        root: the folder of all recordings.
        recorder: its id.
        session: what the first line of every segment says.
        change: what is left out (``qmon.recording.format.redaction``).
    """

    def __init__(self, root: Path, recorder: str, session: SessionLine, change: Change | None = None) -> None:
        self.recorder = recorder
        self.session = session
        self._root = root
        self._change = change
        self._number = 0
        self._segments = 0
        self._began_at = 0.0
        self._sealed_bytes = 0
        self._writer: Writer | None = None
        self._shared = Shared(change=change)
        self._marks: list[Mark] = []
        self._lines: list[bytes] = []
        self._chain = SnapshotDelta()
        """The snapshots of this minute."""

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return self._sealed_bytes + (self._writer.bytes if self._writer is not None else 0)

    def open(self, at: float, standing: Iterable[VerdictsLine]) -> None:
        """Begin a segment at ``at`` (seconds since the epoch); ``standing``: what holds as it begins."""
        self._segments += 1
        folder = paths.folder(self._root, self.session.target, at)
        name = paths.stem(at, self.recorder, self._segments) + SUFFIX
        self.begin(Writer(folder / f"{OPEN}{name}", folder / name), at, standing)

    def begin(self, writer: Writer, at: float, standing: Iterable[VerdictsLine] = ()) -> None:
        """Go on in this segment, which is new."""
        self._writer = writer
        self._chain = SnapshotDelta()
        self._began_at, self._shared, self._marks = at, Shared(change=self._change), []
        self.add("session", PLAIN.encode(self.session), at)
        for said in standing:
            self.add("verdict", PLAIN.encode(said), at)
        self.flush(at)

    def turn(self, at: float, standing: Iterable[VerdictsLine]) -> None:
        """Begin a new minute or a new segment where it is time."""
        writer = self._writer
        if writer is None:
            return
        same_hour = at // _HOUR_S == self._began_at // _HOUR_S
        if not same_hour or writer.bytes >= SEGMENT_BYTES:
            self.seal(at, None)
            self.open(at, standing)
        else:
            self.turn_minute(at)

    def turn_minute(self, at: float) -> None:
        """Begin a new minute where it is time."""
        writer = self._writer
        if writer is not None and writer.began_at is not None and not 0 <= at - writer.began_at < MEMBER_S:
            writer.end_member()
            self._chain = SnapshotDelta()

    def snapshot(self, snapshot: Snapshot, at: float) -> None:
        """Add a snapshot, after what it refers to: whole as the first of a minute, else what has changed."""
        if (snapshot.engine, snapshot.server_version) != (self.session.engine, self.session.version):
            self.session = replace(self.session, engine=snapshot.engine, version=snapshot.server_version)
            self.add("session", PLAIN.encode(self.session), at)
        value = self._shared.write(snapshot)
        for kind, key, each in self._shared.take():
            self.add(kind, each, at, key)
        by = self._chain.told(value)
        if by is None:
            self.add("snapshot", value, at)
        else:
            self.add("delta", by, at)

    def add(self, kind: str, value: Plain, at: float, key: str = "") -> None:
        """Add one line; it is written with the next ``flush``."""
        self._number += 1
        text = line(self.recorder, self._number, at, kind, value, key)
        self._lines.append(text)
        if kind in ("verdict", "operation"):
            read = read_line(text)
            if read is not None and (mark := mark_of(read)) is not None:
                self._marks.append(mark)

    def flush(self, at: float) -> None:
        """Hand everything that was added to the operating system."""
        if self._lines and self._writer is not None:
            lines, self._lines = self._lines, []
            self._writer.write(lines, at, self._number - len(lines) + 1)

    def seal(self, at: float, end: End | None) -> None:
        """Finish the segment. ``end``: it is the last one."""
        writer = self._writer
        if writer is None:
            return
        if end is not None:
            self.add("end", PLAIN.encode(end), at)
        self.flush(at)
        writer.end_member()
        self._number += 1
        index = IndexLine(
            self.session, tuple(writer.members), self._shared.layouts, self._shared.texts, tuple(self._marks)
        )  # fmt: skip
        writer.seal(line(self.recorder, self._number, at, "index", PLAIN.encode(index)))
        self._sealed_bytes += writer.bytes
        self._writer = None

    def abandon(self) -> None:
        """Let go of the open segment; what is in it is salvaged by the next start."""
        if self._writer is not None:
            self._sealed_bytes += self._writer.bytes
            self._writer.close()
            self._writer = None
