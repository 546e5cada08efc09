"""Store the preferences of a dashboard user: theme, interval, columns and order.

Several dashboards may write the file at the same time. For each change, a dashboard locks the file, reads it and then
replaces the whole file. Unreadable content is ignored. The file never contains passwords or parts of messages.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from qmon import files, system

_logger: Final = logging.getLogger(__name__)
_MAX_BYTES: Final = 1_000_000
_INTERVALS_S: Final = (0.5, 60.0)
_MAX_TRIES: Final = 20
_RETRY_S: Final = 0.01


# Key of the preferences for the screen with the queues of all targets. No target has this name.
ALL_TARGETS: Final = ""


@dataclass(frozen=True, slots=True)
class TargetPreferences:
    """The preferences for one target.

    ``interval_s``: last chosen seconds between polls. ``folded``: true if plots next to tables are hidden.
    """

    columns: tuple[str, ...] = ()
    sort: tuple[str, bool] | None = None
    interval_s: float | None = None
    folded: bool = False


@dataclass(frozen=True, slots=True)
class _Stored:
    theme: str = ""
    targets: dict[str, TargetPreferences] = field(default_factory=dict)


def default_path() -> Path:
    """Return the path of ``screen.json`` in the user's state folder (``~/.local/state/qmon`` on Linux)."""
    return platformdirs.user_state_path("qmon") / "screen.json"


def read_preferences() -> Preferences:
    """Read this user's preferences."""
    return Preferences(default_path())


class Preferences:
    """The preferences of one user. Only the screen's thread may use this object.

    Args:
        path: the file; ``None`` keeps preferences only until the program ends.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._failed = False
        self._stored = self._read_file()

    @property
    def theme(self) -> str:
        """The theme's name; empty if no theme is stored."""
        return self._stored.theme

    def target_preferences(self, target: str) -> TargetPreferences:
        """Return the preferences for a target."""
        return self._stored.targets.get(target, TargetPreferences())

    def set_theme(self, name: str) -> None:
        self._store_change(lambda stored: replace(stored, theme=name))

    def change_target(self, target: str, change: Callable[[TargetPreferences], TargetPreferences]) -> None:
        """Change the preferences for a target. ``change`` gets the stored and returns the new preferences."""

        def change_stored(stored: _Stored) -> _Stored:
            made = change(stored.targets.get(target, TargetPreferences()))
            return replace(stored, targets={**stored.targets, target: made})

        self._store_change(change_stored)

    def _store_change(self, change: Callable[[_Stored], _Stored]) -> None:
        if self._path is None:
            self._stored = change(self._stored)
            return
        try:
            files.make_folder(self._path.parent)
            with _hold_lock(self._path.with_suffix(".lock")):
                self._stored = change(self._read_file())
                files.replace_file(self._path, msgspec.json.format(msgspec.json.encode(self._stored), indent=1))
        except OSError as problem:
            self._stored = change(self._stored)
            if not self._failed:  # warn once, not after every key
                self._failed = True
                _logger.warning("%s cannot be written: %s", self._path, problem.strerror or problem)

    def _read_file(self) -> _Stored:
        """Read the file. Unknown keys are ignored. A damaged file is ignored completely."""
        if self._path is None:
            return _Stored()
        try:
            with self._path.open("rb") as file:
                text = file.read(_MAX_BYTES + 1)
            if len(text) > _MAX_BYTES:
                raise ValueError("the file is too large")
            return _without_bad_intervals(msgspec.json.decode(text, type=_Stored))
        except FileNotFoundError:
            return _Stored()
        except (OSError, ValueError, RecursionError) as problem:  # msgspec's errors are ValueErrors
            _logger.warning("%s is ignored: %s", self._path, problem)
            return _Stored()


def _without_bad_intervals(stored: _Stored) -> _Stored:
    """Return the preferences without invalid intervals."""
    least, most = _INTERVALS_S
    bad = {
        name for name, of in stored.targets.items() if of.interval_s is not None and not least <= of.interval_s <= most
    }
    return replace(
        stored, targets={n: replace(of, interval_s=None) if n in bad else of for n, of in stored.targets.items()}
    )


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Hold the lock file.

    Other dashboards hold the lock only briefly. Raises ``OSError`` if another dashboard does not release the lock.
    """
    file = files.open_private(path, os.O_WRONLY)
    try:
        tries = 1
        while not system.lock_file(file, wait=False):
            if tries == _MAX_TRIES:
                raise BlockingIOError(0, "another dashboard has locked the file")
            tries += 1
            time.sleep(_RETRY_S)
        yield
    finally:
        os.close(file)
