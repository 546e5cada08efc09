"""The local audit: one JSON line before and one after whatever an operator does, in a file private to the user."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

import platformdirs

from qmon import files, system
from qmon.errors import QmonError

FORMAT: Final = 1


class AuditFailed(QmonError):
    """The audit could not be written, so the action stopped; the message says where and why."""


def default_path() -> Path:
    """``operations.jsonl`` in the user's folder for state (``~/.local/state/qmon`` on Linux)."""
    return platformdirs.user_state_path("qmon") / "operations.jsonl"


class AuditLine(TypedDict):
    """A line. ``event``: begin, progress or end; ``at``: ISO 8601 in UTC; ``frozen``: what of the plan names its rows.

    At the begin ``kind`` to ``frozen``, later the counts, at the end ``state``, and ``notes`` or ``problem``.
    """

    format: Literal[1]
    at: str
    event: Literal["begin", "progress", "end"]
    operation: str
    target: str
    kind: NotRequired[str]
    queue: NotRequired[str]
    about: NotRequired[str]
    by: NotRequired[str]
    reason: NotRequired[str]
    predicate: NotRequired[str]
    planned: NotRequired[int]
    undo_of: NotRequired[str | None]
    frozen: NotRequired[dict[str, Any]]
    done: NotRequired[int]
    skipped: NotRequired[int]
    changed: NotRequired[int]
    refused: NotRequired[int]
    state: NotRequired[str]
    notes: NotRequired[list[str]]
    problem: NotRequired[str]


class Audit:
    """Appends lines to one file. Every line is on the disk when ``write`` returns."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()

    def write(self, event: str, entry: Mapping[str, object]) -> None:
        """Append one line: the time (UTC), ``event`` and ``entry``, in which nothing secret may be.

        Raises ``AuditFailed`` where the line is not safely on the disk; what was written of it is taken back.
        """
        line = {"format": FORMAT, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **entry}
        try:
            with self._opened() as file:
                _append(file, json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise AuditFailed(f"the audit cannot be written to {self.path}: {why}; the action was stopped") from problem

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        files.make_folder(self.path.parent)
        file = files.open_private(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            system.lock(file)
            yield file
        finally:
            os.close(file)


def _append(file: int, line: bytes) -> None:
    before = os.fstat(file).st_size
    try:
        left = memoryview(line)
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, before)
        raise
