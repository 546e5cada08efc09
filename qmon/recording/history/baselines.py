"""Reads the small file of what is usual, ``.baselines.json``, that ``qmon pipeline baselines`` writes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from qmon.errors import BadInput
from qmon.model.baselines import HOURS, Baseline, Baselines
from qmon.recording.times import is_zone
from qmon.system import read_text

# Its name in the folder of the recordings.
FILE: Final = ".baselines.json"
VERSION: Final = 1
_LARGEST: Final = 256 * 1024 * 1024
# How often the file is looked for again, in seconds, while somebody asks.
EVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class FoundBaselines:
    """What was found where nobody had named a file. ``problem``: why it could not be read, in one line, or empty."""

    baselines: Baselines = field(default_factory=Baselines)
    problem: str = ""


def read_baselines(path: Path) -> Baselines:
    """What is usual, as the file says. Raises ``BadInput`` in one line: no such file, damaged, or newer than this."""
    try:
        raw = json.loads(read_text(path, _LARGEST))
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file; `qmon pipeline baselines` writes it") from None
    except OSError as problem:
        raise BadInput(f"{path}: cannot be read: {problem.strerror or problem}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path}: is damaged; `qmon pipeline baselines` writes it anew") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("version"), int):
        raise BadInput(f"{path}: is no file of `qmon pipeline baselines`")
    if raw["version"] > VERSION:
        raise BadInput(f"{path}: was written by a newer qmon (version {raw['version']} of the file); install that one")
    try:
        return _read(raw)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        why = f"{problem}" if isinstance(problem, ValueError) else "something is missing in it"
        raise BadInput(f"{path}: is damaged ({why}); `qmon pipeline baselines` writes it anew") from None


def find_baselines(root: Path | None) -> FoundBaselines:
    """What is usual, from the file in the folder of the recordings, if there is one; never raises for its contents."""
    path = root / FILE if root is not None else None
    if path is None or not path.is_file():
        return FoundBaselines()
    try:
        return FoundBaselines(read_baselines(path))
    except BadInput as problem:
        return FoundBaselines(problem=str(problem))


def _read(raw: Mapping[str, Any]) -> Baselines:
    zones = {str(target): _zone(name) for target, name in raw.get("zones", {}).items()}
    hours = {
        target: {queue: {name: _hours(each) for name, each in figures.items()} for queue, figures in queues.items()}
        for target, queues in raw["queues"].items()
    }
    return Baselines(hours, _zone(raw["zone"]), zones)


@cache
def _zone(name: object) -> str:
    if not isinstance(name, str) or not is_zone(name):
        raise ValueError(f"there is no time zone {name!r}")
    return name


def _hours(raw: Mapping[str, Any]) -> dict[int, Baseline]:
    return {_hour(hour): _usual(numbers) for hour, numbers in raw.items()}


def _hour(text: str) -> int:
    hour = int(text)
    if not 0 <= hour < HOURS:
        raise ValueError(f"there is no hour {hour} of the week")
    return hour


def _usual(numbers: list[float]) -> Baseline:
    median, mad, readings = numbers
    if not (math.isfinite(median) and math.isfinite(mad)):
        raise ValueError("a number that is infinite or none")
    return Baseline(float(median), float(mad), int(readings))


class ReloadingBaselines:
    """Reloads the file when it changes: a call gives what is known, and reads on a thread where that is due."""

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
