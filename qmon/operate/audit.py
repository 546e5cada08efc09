"""Writes the local audit log: JSON lines for the start and end of each action. Only the user can read the file."""

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
from qmon.texts import Text


class AuditText(Text):
    """Errors of the audit log."""

    NOT_WRITTEN = "the audit cannot be written to {path}: {why}; the action was stopped"


FORMAT: Final = 1


class AuditFailed(QmonError):
    """Raised when the audit file cannot be written.

    The action was stopped. The message gives the path and the reason.
    """


def default_path() -> Path:
    """Return the path of ``operations.jsonl`` in the user's state folder (``~/.local/state/qmon`` on Linux)."""
    return platformdirs.user_state_path("qmon") / "operations.jsonl"


class AuditLine(TypedDict):
    """One line of the audit file.

    ``event`` is begin, progress or end. ``at`` is ISO 8601 in UTC. ``frozen`` holds the values that identify the
    rows of the plan. A begin line has the fields from ``kind`` to ``frozen``. Later lines have the counts. The end
    line also has ``state``, and ``notes`` or ``problem``.
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
    """Append lines to one audit file. Each line is on disk when ``write`` returns."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()

    def write(self, event: str, entry: Mapping[str, object]) -> None:
        """Append one line with the time (UTC), ``event`` and ``entry``. ``entry`` must not contain secrets.

        Raises ``AuditFailed`` if the line is not safely on disk. A partly written line is removed.
        """
        line = {"format": FORMAT, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **entry}
        try:
            with self._open_locked() as file:
                _append(file, json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise AuditFailed(AuditText.NOT_WRITTEN.render(path=self.path, why=why)) from problem

    @contextlib.contextmanager
    def _open_locked(self) -> Iterator[int]:
        files.make_folder(self.path.parent)
        file = files.open_private(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            system.lock_file(file)
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
