"""Turns of test processes on one machine: many tests together, or one alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Final

# Increase of the nice value next to a test that runs alone (see nice(2)): a seventieth of its weight.
LOWER: Final = 19


@contextmanager
def turn(folder: Path, *, alone: bool, beside: bool = False) -> Iterator[None]:
    """Hold a turn: shared, or ``alone`` when no other process that shares ``folder`` is within one.

    A waiting test that wants to be alone holds the door, so that later tests do not overtake it. A test that may run
    ``beside`` another does not wait: it runs at a low priority, if that can be undone.
    """
    with (folder / "door").open("w") as door, (folder / "turn").open("w") as held:
        if beside and may_come_back() and not _shared(door, held):
            with _lower():
                yield
            return
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield


def _shared(door: IO[str], held: IO[str]) -> bool:
    """Take a shared turn, unless a test runs alone or waits to."""
    try:
        fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        fcntl.flock(door, fcntl.LOCK_UN)
    return True


@contextmanager
def _lower() -> Iterator[None]:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, before + LOWER)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


@cache
def may_come_back() -> bool:
    """Return whether this process may raise its priority again (usually only root). Tried in a separate thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_comes_back).result()


def _comes_back() -> bool:
    try:
        with _lower():
            return True
    except OSError:
        return False
