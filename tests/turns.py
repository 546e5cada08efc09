"""Who may run now, where several test processes share a machine: many tests together, or one that is alone."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Hold a turn: shared, or ``alone`` when no other process that shares ``folder`` is within one.

    Whoever wants to be alone holds the door meanwhile, so that those who come later do not go first.
    """
    with (folder / "door").open("w") as door, (folder / "turn").open("w") as held:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield
