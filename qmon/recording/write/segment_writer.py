"""Writes one segment, which consists of frames of two minutes. Each call writes its lines to the file.

The name of the open file begins with ``_``, and the file is locked. Renaming seals the file. A sealed file is never
written again. A sealed file ends with a frame that contains the index, and a frame of 16 bytes with the offset of the
index.
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
from qmon.recording.format.frames import FRAME_TEXT_BYTES, FrameWriter, line_kind, locator_bytes
from qmon.recording.format.records import Frame
from qmon.texts import Text


class WriterText(Text):
    """Why a recording cannot be written."""

    UNWRITABLE = "cannot write the recording to {folder}: {problem}"


FRAME_S: Final = 120.0

# Data older than this many seconds is synced to disk, so that the data survives a crash of the machine.
_SYNC_S: Final = 60.0
SEGMENT_BYTES: Final = 16 * 1024 * 1024


class CannotWrite(QmonError):
    """The recording cannot be continued: the disk is full, a limit is reached, or the folder is gone."""


class SegmentWriter:
    """Writes one segment. Not thread-safe.

    If a call fails, none of its data stays in the file, but all earlier data stays.

    Args:
        path: the file while it is open. Its folder is created.
        sealed: the path of the file after it is sealed.

    Raises ``CannotWrite`` if the file cannot be created.
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
            self._file = _create_locked(self.path)
        except OSError as problem:
            raise _write_error(self.path, problem) from problem

    @property
    def began_at(self) -> float | None:
        """Start of the current frame, seconds since the epoch, or ``None``."""
        return self._frame.first_at if self._frame is not None else None

    def copy_frame(self, data: bytes, frame: Frame) -> None:
        """Append a complete frame of another file. Raises ``CannotWrite``."""
        self.frames.append(replace(frame, offset=self.bytes))
        self._append_bytes(data)

    def write_lines(self, lines: Sequence[bytes], at: float, first: int) -> None:
        """Append lines and write them to the file, so that the lines survive the end of this process.

        ``at``: seconds since the epoch. ``first``: number of the first line. Raises ``CannotWrite``.
        """
        text = b"".join(lines)
        if self._text_bytes + len(text) > FRAME_TEXT_BYTES // 2:  # readers accept frames of at most twice this size
            self.end_frame()
        frame = self._frame or Frame(self.bytes, at, at, first, 0)
        if self._frame is None:
            self._text, self._text_bytes, self._synced_at = FrameWriter(), 0, at
        self._append_bytes(self._text.compress(text))
        self._text_bytes += len(text)
        verdicts = sum(line_kind(each) == "verdict" for each in lines)
        self._frame = replace(frame, last_at=at, lines=frame.lines + len(lines), verdicts=frame.verdicts + verdicts)
        if not 0 <= at - self._synced_at < _SYNC_S:
            self._sync()
            self._synced_at = at

    def end_frame(self) -> None:
        """End the frame and sync it to disk, so that it survives a crash of the machine. Raises ``CannotWrite``."""
        frame = self._frame
        if frame is None:
            return
        self._append_bytes(self._text.finish())
        self._frame = None
        self.frames.append(frame)
        self._sync()

    def seal(self, index: bytes) -> Path:
        """Write the index line, rename the file to its final name and return its new path. Raises ``CannotWrite``."""
        self.end_frame()
        self._append_bytes(FrameWriter().finish(index) + locator_bytes(self.bytes))
        try:
            os.fsync(self._file)
            if system.HELD_WHILE_OPEN:
                self.close()
            publish_segment(self.path, self.sealed_path)
        except OSError as problem:
            raise _write_error(self.path, problem) from problem
        self.close()
        return self.sealed_path

    def close(self) -> None:
        """Close the file without finishing it. The next start of a recorder salvages its contents."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _sync(self) -> None:
        try:
            system.sync_data(self._file)
        except OSError as problem:
            raise _write_error(self.path, problem) from problem

    def _append_bytes(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as problem:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self.bytes)
            raise _write_error(self.path, problem) from problem
        self.bytes += len(data)


def _create_locked(path: Path) -> int:
    """Create a file and lock it. Retries if a salvage removed the file before it was locked."""
    while True:
        file = files.open_private(path, os.O_WRONLY | os.O_EXCL)
        system.lock_file(file)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)


def publish_segment(path: Path, sealed: Path) -> None:
    """Rename a finished file to its final name, unless a file of that name exists. Sealed files are never replaced.

    Raises ``OSError``.
    """
    system.rename_new(path, sealed)
    system.sync_folder(sealed.parent)


def _write_error(path: Path, problem: OSError) -> CannotWrite:
    return CannotWrite(WriterText.UNWRITABLE.render(folder=path.parent, problem=problem.strerror or problem))
