"""Reads the baselines file ``.baselines.json`` that ``qmon pipeline baselines`` writes."""

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
from qmon.model.baseline_bands import HOURS, Baseline, Baselines
from qmon.recording.times import is_zone
from qmon.system import read_text
from qmon.texts import Text


class BaselinesText(Text):
    """Why a file of baselines cannot be used."""

    NO_FILE = "{path}: no such file; create it with: qmon pipeline baselines"
    UNREADABLE = "{path}: cannot be read: {problem}"
    NOT_JSON = "{path}: is damaged; write it again with: qmon pipeline baselines"
    FOREIGN = "{path}: was not written by qmon pipeline baselines"
    NEWER = "{path}: was written by a newer qmon (file version {version}); upgrade qmon"
    WRONG_FIELD = "a field is missing or has the wrong type"
    DAMAGED = "{path}: is damaged ({why}); write it again with: qmon pipeline baselines"
    NO_ZONE = "unknown time zone {name!r}"
    NO_HOUR = "the hour of the week must be 0 to {last}, not {hour}"
    INFINITE = "a value is infinite or not a number"


# The name of the baselines file in the folder of recordings.
FILE_NAME: Final = ".baselines.json"
VERSION: Final = 1
_MAX_BYTES: Final = 256 * 1024 * 1024

# Minimum seconds between checks for a changed file. Only a request for baselines starts a check.
RELOAD_EVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class FoundBaselines:
    """Baselines from a file.

    ``problem``: why the file ``path`` could not be read (one line), or an empty text.
    """

    baselines: Baselines = field(default_factory=Baselines)
    problem: str = ""
    path: Path | None = None


def read_baselines(path: Path) -> Baselines:
    """Read a baselines file. Raises ``BadInput`` (one line) if the file is missing, damaged, or from a newer qmon."""
    try:
        raw = json.loads(read_text(path, _MAX_BYTES))
    except FileNotFoundError:
        raise BadInput(BaselinesText.NO_FILE.render(path=path)) from None
    except OSError as problem:
        raise BadInput(BaselinesText.UNREADABLE.render(path=path, problem=problem.strerror or problem)) from None
    except (ValueError, RecursionError):
        raise BadInput(BaselinesText.NOT_JSON.render(path=path)) from None
    if not isinstance(raw, dict) or not isinstance(raw.get("version"), int):
        raise BadInput(BaselinesText.FOREIGN.render(path=path))
    if raw["version"] > VERSION:
        raise BadInput(BaselinesText.NEWER.render(path=path, version=raw["version"]))
    try:
        return _parse_baselines(raw)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        why = f"{problem}" if isinstance(problem, ValueError) else BaselinesText.WRONG_FIELD
        raise BadInput(BaselinesText.DAMAGED.render(path=path, why=why)) from None


def find_baselines(root: Path | None) -> FoundBaselines:
    """Read the baselines file in the folder of recordings, if there is one. Does not raise if the file is damaged."""
    path = root / FILE_NAME if root is not None else None
    if path is None or not path.is_file():
        return FoundBaselines()
    try:
        return FoundBaselines(read_baselines(path))
    except BadInput as problem:
        return FoundBaselines(problem=str(problem), path=path)


def _parse_baselines(raw: Mapping[str, Any]) -> Baselines:
    zones = {str(target): _checked_zone(name) for target, name in raw.get("zones", {}).items()}
    hours = {
        target: {
            queue: {name: _parse_hours(each) for name, each in figures.items()} for queue, figures in queues.items()
        }
        for target, queues in raw["queues"].items()
    }
    return Baselines(hours, _checked_zone(raw["zone"]), zones)


@cache
def _checked_zone(name: object) -> str:
    if not isinstance(name, str) or not is_zone(name):
        raise ValueError(BaselinesText.NO_ZONE.render(name=name))
    return name


def _parse_hours(raw: Mapping[str, Any]) -> dict[int, Baseline]:
    return {_parse_hour(hour): _parse_baseline(numbers) for hour, numbers in raw.items()}


def _parse_hour(text: str) -> int:
    hour = int(text)
    if not 0 <= hour < HOURS:
        raise ValueError(BaselinesText.NO_HOUR.render(last=HOURS - 1, hour=hour))
    return hour


def _parse_baseline(numbers: list[float]) -> Baseline:
    median, mad, readings = numbers
    if not (math.isfinite(median) and math.isfinite(mad)):
        raise ValueError(BaselinesText.INFINITE)
    return Baseline(float(median), float(mad), int(readings))


class ReloadingBaselines:
    """Reloads the baselines file when it changes. A call returns the current baselines; a thread checks the file."""

    def __init__(self, path: Path, baselines: FoundBaselines, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._found = baselines
        self._clock = clock
        self._seen = _file_stamp(path)
        self._due = clock() + RELOAD_EVERY_S
        self._check_lock = Lock()

    def __call__(self) -> FoundBaselines:
        """Return the current baselines without blocking."""
        if self._clock() >= self._due:
            self._due = self._clock() + RELOAD_EVERY_S
            Thread(target=self.check_file, name="qmon-usual", daemon=True).start()
        return self._found

    def check_file(self) -> None:
        """Read the file if it has changed. If reading fails, keep the old baselines and record the problem."""
        with self._check_lock:
            stamp = _file_stamp(self._path)
            if stamp is None or stamp == self._seen:
                return
            self._seen = stamp
            try:
                self._found = FoundBaselines(read_baselines(self._path))
            except BadInput as problem:
                self._found = FoundBaselines(self._found.baselines, str(problem), self._path)


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Return a value that changes whenever the file is written, or ``None`` if the file does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
