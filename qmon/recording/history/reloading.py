"""The file of what is usual, read again when it is written anew: a dashboard stays open longer than a night."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from qmon.errors import BadInput
from qmon.recording.history.baselines import FoundBaselines, read_baselines

EVERY_S: Final = 60.0
"""The file is looked at so often, in seconds, while somebody asks."""


class ReloadingBaselines:
    """Called for what is known; where a look is due, one begins on a thread of its own, and a later call has it."""

    def __init__(self, path: Path, found: FoundBaselines, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._found = found
        self._clock = clock
        self._seen = _stamp(path)
        self._due = clock() + EVERY_S
        self._one = Lock()

    def __call__(self) -> FoundBaselines:
        """What is known now. Never waits."""
        if self._clock() >= self._due:
            self._due = self._clock() + EVERY_S
            Thread(target=self.look, name="qmon-usual", daemon=True).start()
        return self._found

    def look(self) -> None:
        """Read the file if it is another one than before; where it cannot be read, what was known stays, with why."""
        with self._one:
            stamp = _stamp(self._path)
            if stamp is None or stamp == self._seen:
                return
            self._seen = stamp
            try:
                self._found = FoundBaselines(read_baselines(self._path))
            except BadInput as problem:
                self._found = FoundBaselines(self._found.baselines, str(problem))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells one writing of a file from the next; ``None`` where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
