"""One segment while it is written: gzip members of a minute, on the disk after every call, sealed by renaming.

The open file's name begins with ``_`` and the file is locked; a sealed path is never written again. A sealed segment
ends with a member that holds the index and an empty one of 34 bytes that says where the index begins.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from qmon.errors import QmonError
from qmon.recording.format.records import Member

MEMBER_S: Final = 60.0
SEGMENT_BYTES: Final = 16 * 1024 * 1024
OPEN: Final = "_"
SUFFIX: Final = ".jsonl.gz"
_LEVEL: Final = 9
_GZIP: Final = 31
_LOCATOR: Final = struct.Struct("<10sH2sHQ2s8s")
_HEAD: Final = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff"
_EMPTY: Final = b"\x03\x00"
_FIELD: Final = b"QM"
LOCATOR_BYTES: Final = _LOCATOR.size


class CannotWrite(QmonError):
    """The recording cannot be written on: the disk is full, a limit is reached, the folder is gone."""


class Writer:
    """Writes one segment. For one thread. What a failed call was given is not in the file; nothing before it is lost.

    Args:
        path: the file while it is open; its folder is made.
        sealed: its name when it is sealed.

    Raises ``CannotWrite`` where the file cannot be made.
    """

    def __init__(self, path: Path, sealed: Path) -> None:
        self.path = path
        self.sealed_path = sealed
        self.members: list[Member] = []
        self.bytes = 0
        self._compressor: zlib._Compress | None = None
        self._member: Member | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _made(self.path)
        except OSError as problem:
            raise _cannot(self.path, problem) from problem

    @property
    def began_at(self) -> float | None:
        """When the minute under way began, seconds since the epoch."""
        return self._member.first_at if self._member is not None else None

    def copy(self, data: bytes, member: Member) -> None:
        """Append a whole member of another file. Raises ``CannotWrite``."""
        self.members.append(replace(member, offset=self.bytes))
        self._append(data)

    def write(self, lines: Sequence[bytes], at: float, first: int) -> None:
        """Append lines and hand them to the operating system, so that the end of this process loses none.

        ``at``: seconds since the epoch; ``first``: the number of the first line. Raises ``CannotWrite``.
        """
        member = self._member
        if self._compressor is None or member is None:
            self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP, 9)
            member = Member(self.bytes, at, at, first, 0)
        compressor = self._compressor
        self._append(compressor.compress(b"".join(lines)) + compressor.flush(zlib.Z_SYNC_FLUSH))
        self._member = Member(member.offset, member.first_at, at, member.first, member.lines + len(lines))

    def end_member(self) -> None:
        """End the minute: from now on a failing disk or machine does not cost it either. Raises ``CannotWrite``."""
        compressor, member = self._compressor, self._member
        if compressor is None or member is None:
            return
        self._append(compressor.flush(zlib.Z_FINISH))
        self._compressor = self._member = None
        self.members.append(member)
        try:
            os.fdatasync(self._file)
        except OSError as problem:
            raise _cannot(self.path, problem) from problem

    def seal(self, index: bytes) -> Path:
        """Write the index line and give the segment its name for good; returns its path. Raises ``CannotWrite``."""
        self.end_member()
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP, 9)
        start = self.bytes
        self._append(compressor.compress(index) + compressor.flush(zlib.Z_FINISH) + locator(start))
        try:
            os.fsync(self._file)
            publish(self.path, self.sealed_path)
        except OSError as problem:
            raise _cannot(self.path, problem) from problem
        self.close()
        return self.sealed_path

    def close(self) -> None:
        """Let go of the file as it is; the next start salvages what is in it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as problem:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self.bytes)
            raise _cannot(self.path, problem) from problem
        self.bytes += len(data)


def _made(path: Path) -> int:
    """A new file, open and locked. A salvage may have come between the two and taken it for one that was left."""
    while True:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)


def publish(path: Path, sealed: Path) -> None:
    """Give a finished file its name, unless that is taken: what is sealed is never replaced. Raises ``OSError``."""
    os.link(path, sealed)
    path.unlink()
    folder = os.open(sealed.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def locator(index_offset: int) -> bytes:
    """An empty gzip member whose extra field ``QM`` holds where the index begins."""
    return _LOCATOR.pack(_HEAD, 12, _FIELD, 8, index_offset, _EMPTY, b"\x00" * 8)


def located(tail: bytes) -> int | None:
    """Where the index begins, of the last bytes of a file; ``None`` where they are no locator."""
    if len(tail) < LOCATOR_BYTES:
        return None
    head, extra, name, length, offset, empty, rest = _LOCATOR.unpack(tail[-LOCATOR_BYTES:])
    whole = (head, extra, name, length, empty, rest) == (_HEAD, 12, _FIELD, 8, _EMPTY, b"\x00" * 8)
    return int(offset) if whole else None


def _cannot(path: Path, problem: OSError) -> CannotWrite:
    return CannotWrite(f"the recording cannot be written to {path.parent}: {problem.strerror or problem}")
