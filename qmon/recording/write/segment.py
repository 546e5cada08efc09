"""One segment while it is written: frames of two minutes, with the system after every call, sealed by renaming.

The open file's name begins with ``_`` and the file is locked; a sealed path is never written again. A sealed segment
ends with a frame that holds the index and one of 16 bytes that says where the index begins.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from qmon import files, system
from qmon.errors import QmonError
from qmon.recording.format.frames import FRAME_TEXT_BYTES, FrameWriter, kind_of, locator
from qmon.recording.format.records import Frame

FRAME_S: Final = 120.0
# What is older than this is on the disk itself, whatever becomes of the machine.
_SYNC_S: Final = 60.0
SEGMENT_BYTES: Final = 16 * 1024 * 1024


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
        self.frames: list[Frame] = []
        self.bytes = 0
        self._text = FrameWriter()
        self._text_bytes = 0
        self._frame: Frame | None = None
        self._synced_at = 0.0
        try:
            files.make_folder(path.parent)
            self._file = _made(self.path)
        except OSError as problem:
            raise _cannot(self.path, problem) from problem

    @property
    def began_at(self) -> float | None:
        """When the frame under way began, seconds since the epoch."""
        return self._frame.first_at if self._frame is not None else None

    def copy(self, data: bytes, frame: Frame) -> None:
        """Append a whole frame of another file. Raises ``CannotWrite``."""
        self.frames.append(replace(frame, offset=self.bytes))
        self._append(data)

    def write(self, lines: Sequence[bytes], at: float, first: int) -> None:
        """Append lines and hand them to the operating system, so that the end of this process loses none.

        ``at``: seconds since the epoch; ``first``: the number of the first line. Raises ``CannotWrite``.
        """
        text = b"".join(lines)
        if self._text_bytes + len(text) > FRAME_TEXT_BYTES // 2:  # readers take no more than that twice
            self.end_frame()
        frame = self._frame or Frame(self.bytes, at, at, first, 0)
        if self._frame is None:
            self._text, self._text_bytes, self._synced_at = FrameWriter(), 0, at
        self._append(self._text.add(text))
        self._text_bytes += len(text)
        verdicts = sum(kind_of(each) == "verdict" for each in lines)
        self._frame = replace(frame, last_at=at, lines=frame.lines + len(lines), verdicts=frame.verdicts + verdicts)
        if not 0 <= at - self._synced_at < _SYNC_S:
            self._sync()
            self._synced_at = at

    def end_frame(self) -> None:
        """End the frame: from now on a failing disk or machine does not cost it either. Raises ``CannotWrite``."""
        frame = self._frame
        if frame is None:
            return
        self._append(self._text.end())
        self._frame = None
        self.frames.append(frame)
        self._sync()

    def seal(self, index: bytes) -> Path:
        """Write the index line and give the segment its name for good; returns its path. Raises ``CannotWrite``."""
        self.end_frame()
        self._append(FrameWriter().end(index) + locator(self.bytes))
        try:
            os.fsync(self._file)
            if system.HELD_WHILE_OPEN:
                self.close()
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

    def _sync(self) -> None:
        try:
            system.sync_data(self._file)
        except OSError as problem:
            raise _cannot(self.path, problem) from problem

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
        file = files.open_private(path, os.O_WRONLY | os.O_EXCL)
        system.lock(file)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)


def publish(path: Path, sealed: Path) -> None:
    """Give a finished file its name, unless that is taken: what is sealed is never replaced. Raises ``OSError``."""
    system.rename_new(path, sealed)
    system.sync_folder(sealed.parent)


def _cannot(path: Path, problem: OSError) -> CannotWrite:
    return CannotWrite(f"the recording cannot be written to {path.parent}: {problem.strerror or problem}")
