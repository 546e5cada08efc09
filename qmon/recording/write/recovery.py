"""What a recorder that was killed has left behind: its open segments are sealed, with every whole line in them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon.recording.format.records import PLAIN, IndexLine, Member, line
from qmon.recording.read.paths import sealed_path, segments
from qmon.recording.read.segment_reader import Segment, open_segment
from qmon.recording.write.segment import OPEN, Writer, publish

_WORK: Final = "_salvage-"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What became of one open segment: ``path`` it was sealed as, ``None``: nothing was in it. ``lines``: saved."""

    path: Path | None
    lines: int


def salvage(root: Path) -> list[Salvaged]:
    """Seal the open segments below a folder that nobody writes any more. Raises ``CannotWrite`` and ``OSError``."""
    done = []
    for path in segments(root):
        if path.name.startswith(OPEN):
            with _ours(path) as free:
                if free:
                    done.append(_salvage(path))
    for left in root.rglob(f"{_WORK}*"):  # of a salvage that was killed itself
        with _ours(left) as free:
            if free:
                left.unlink(missing_ok=True)
    return done


def _salvage(path: Path) -> Salvaged:
    sealed, found = sealed_path(path), open_segment(path)
    if found.indexed:  # killed just before it got its name
        publish(path, sealed)
        return Salvaged(sealed, sum(member.lines for member in found.members))
    count = sum(member.lines for member in found.members) + len(found.tail)
    if count:
        _rewrite(found, sealed)
    if found.problem:  # more than a kill does to a file: what could not be read is kept for whoever wants to look
        path.rename(path.with_name(f"_damaged-{sealed.name}"))
    else:
        path.unlink()
    return Salvaged(sealed if count else None, count)


def _rewrite(found: Segment, sealed: Path) -> None:
    """The whole members as they are, the lines of the last one anew, and the index."""
    newest = found.tail[-1] if found.tail else None
    writer = Writer(sealed.with_name(f"{_WORK}{sealed.name}"), sealed)
    with found.path.open("rb") as file:
        for member in found.members:
            file.seek(member.offset)
            writer.copy(file.read(found.ends[member.offset] - member.offset), member)
    if newest is not None:
        texts = found.tail_text.splitlines(keepends=True)
        writer.write(texts, found.tail[0].at, found.tail[0].number)
        writer.write([], newest.at, newest.number)
        writer.end_member()
    writer.seal(index_line(found, tuple(writer.members)))


def index_line(found: Segment, members: tuple[Member, ...]) -> bytes:
    """The index of a segment that its recorder has not finished; its number follows the last one that is there."""
    last = members[-1]
    index = IndexLine(found.session, members, found.shared.layouts, found.shared.texts, found.marks)
    return line(found.recorder, last.first + last.lines, last.last_at, "index", PLAIN.encode(index))


@contextlib.contextmanager
def _ours(path: Path) -> Iterator[bool]:
    """Whether nobody writes the file; it is kept so meanwhile."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield path.exists()
    finally:
        os.close(file)
