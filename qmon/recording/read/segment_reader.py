"""One segment while it is read, sealed or still open: its index, and its lines from any minute on."""

from __future__ import annotations

import itertools
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from qmon.model.snapshot import Snapshot
from qmon.model.view import Severity
from qmon.recording.format.chain import SnapshotDelta
from qmon.recording.format.codec import Damaged
from qmon.recording.format.records import (
    PLAIN,
    IndexLine,
    Line,
    Mark,
    Member,
    SessionLine,
    Shared,
    VerdictsLine,
    read_line,
)
from qmon.recording.write.segment import LOCATOR_BYTES, OPEN, located

_GZIP: Final = 31
_CHUNK: Final = 64 * 1024
_VERDICT: Final = b'"k":"verdict"'


@dataclass
class Segment:
    """What is known of one file. ``shared``: what its lines refer to. ``problem``: what is wrong with it, or empty."""

    path: Path
    session: SessionLine | None
    shared: Shared
    members: tuple[Member, ...] = ()
    marks: tuple[Mark, ...] = ()
    problem: str = ""
    indexed: bool = False
    """It ends with its index, as sealed ones do."""
    recorder: str = ""
    ends: dict[int, int] = field(default_factory=dict)
    """Where the member that begins at an offset ends; of files without an index."""
    tail: list[Line] = field(default_factory=list)
    """The lines of the last, unfinished member of a file that was never sealed."""
    tail_text: bytes = b""

    @property
    def sealed(self) -> bool:
        """Whether its recorder, or a salvage, has finished it."""
        return not self.path.name.startswith(OPEN)

    def lines(self, since_at: float = float("-inf")) -> Iterator[Line]:
        """Its lines from the minute on that holds ``since_at``. Raises ``Damaged`` and ``OSError``."""
        for text in self._texts(max(0, bisect_right(self.members, since_at, key=lambda m: m.first_at) - 1)):
            yield from _lines(text)
        yield from self.tail

    def said(self, until_at: float) -> dict[str, VerdictsLine]:
        """By queue, what was said of it last up to a moment. Other lines are passed over unread.

        Raises ``Damaged`` and ``OSError``.
        """
        found: dict[str, VerdictsLine] = {}
        for line in itertools.chain(self._verdict_lines(), (line for line in self.tail if line.kind == "verdict")):
            if line.at > until_at:
                break
            said: VerdictsLine = PLAIN.decode(VerdictsLine, line.value)
            found[said.queue] = said
        return found

    def _verdict_lines(self) -> Iterator[Line]:
        for text in self._texts(0):
            for each in text.splitlines():
                if _VERDICT in each and (line := read_line(each)) is not None:
                    yield line

    def _texts(self, first: int) -> Iterator[bytes]:
        """The minutes from that one on."""
        with self.path.open("rb") as file:
            for number in range(first, len(self.members)):
                start = self.members[number].offset
                file.seek(start)
                known = self.members[number + 1].offset - start if number + 1 < len(self.members) else -1
                text, _ = inflated(file.read(known))
                yield text

    def snapshot(self, line: Line) -> Snapshot:
        """The snapshot of a line. Raises ``Damaged``."""
        return self.shared.read(line.value)


def open_segment(path: Path) -> Segment:
    """A segment, by its index where it has one, else by reading it all. Raises ``OSError``; never for its contents."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - LOCATOR_BYTES))
        start = located(file.read())
        if start is not None and start < size:
            file.seek(start)
            try:
                text, _ = inflated(file.read())
                line = read_line(text)
                if line is not None and line.kind == "index":
                    index: IndexLine = PLAIN.decode(IndexLine, line.value)
                    shared = Shared(index.layouts, index.texts)
                    return Segment(
                        path, index.session, shared, index.members, index.marks, indexed=True, recorder=line.recorder
                    )
            except Damaged:
                pass
    return scan(path)


def scan(path: Path) -> Segment:
    """Read a file from its beginning as far as it is whole: open, cut short, or damaged. Raises ``OSError``."""
    data = memoryview(path.read_bytes())
    found = Segment(path, None, Shared())
    members: list[Member] = []
    marks: list[Mark] = []
    at = 0
    while at < len(data):
        try:
            text, used = inflated(data[at:], partly=True)
            text = text[: text.rfind(b"\n") + 1]
            lines = list(_lines(text))
        except Damaged as problem:
            found.problem = str(problem)
            break
        for line in lines:
            _take(found, line, marks)
        lines = [line for line in lines if line.kind != "index"]
        if used <= 0:
            found.problem = "damaged in the middle of a minute" if used < 0 else ""
            found.tail, found.tail_text = lines, text
            break
        if lines:
            found.ends[at] = at + used
            members.append(Member(at, lines[0].at, lines[-1].at, lines[0].number, len(lines)))
        at += used
    found.members, found.marks = tuple(members), tuple(marks)
    return found


def _take(found: Segment, line: Line, marks: list[Mark]) -> None:
    found.shared.learn(line)
    found.recorder = line.recorder
    if line.kind == "session":
        found.session = PLAIN.decode(SessionLine, line.value)
    elif (mark := mark_of(line)) is not None:
        marks.append(mark)


def mark_of(line: Line) -> Mark | None:
    """The moment worth jumping to that a line is."""
    if line.kind == "operation":
        done = line.value
        return Mark(
            line.at, "operation", done["queue"], f"{done['kind']} {done['state']}: {done['done']} by {done['by']}"
        )
    if line.kind == "verdict":
        said: VerdictsLine = PLAIN.decode(VerdictsLine, line.value)
        worst = said.holds[0] if said.holds else None
        if worst is not None and worst.severity >= Severity.WARNING and not said.standing:
            return Mark(line.at, "verdict", said.queue, f"{worst.code}: {worst.proof}")
    return None


class Inflates(Protocol):
    """What reads a gzip member piece by piece, as ``zlib.decompressobj`` does."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes | memoryview, /) -> bytes: ...


def inflated(
    data: bytes | memoryview, *, partly: bool = False, reader: Callable[[int], Inflates] = zlib.decompressobj
) -> tuple[bytes, int]:
    """The first gzip member of ``data`` and how many bytes it takes. Raises ``Damaged``.

    ``partly`` allows for one that is not finished (0 bytes), and for a damaged one of which something came out (-1).
    ``reader`` makes what reads it, for where that is another than zlib; its errors are zlib's.
    """
    inflates, text, fed = reader(_GZIP), bytearray(), 0
    try:
        while not inflates.eof and fed < len(data):
            text += inflates.decompress(data[fed : fed + _CHUNK])
            fed += min(_CHUNK, len(data) - fed)
    except zlib.error as problem:
        if not (partly and text):
            raise Damaged(f"not readable from here on: {problem}") from None
        return bytes(text), -1
    if inflates.eof:
        return bytes(text), fed - len(inflates.unused_data)
    if not partly:
        raise Damaged("it ends in the middle of a minute")
    return bytes(text), 0


def _lines(text: bytes) -> Iterator[Line]:
    """The lines of one member; snapshots are whole again. Raises ``Damaged``."""
    chain = SnapshotDelta()
    for each in text.splitlines():
        line = read_line(each)
        if line is None:
            continue
        if line.kind == "delta":
            line = replace(line, kind="snapshot", value=chain.next(line.value))
        elif line.kind == "snapshot":
            chain.begin(line.value)
        yield line
