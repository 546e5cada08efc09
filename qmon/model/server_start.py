"""Whether a server is the one that it was: by the time at which it says that it started."""

from __future__ import annotations

from typing import Final

# Seconds that clocks are put forward or back by.
_CLOCK_CHANGES_S: Final = (1800.0, 3600.0)
_CLOCK_S: Final = 0.01


def same_start(before: float, now: float) -> bool:
    """Return whether a server gives the same moment as its start, in seconds since the epoch.

    SQL Server gives it by its wall clock. Probes turn that into UTC by the offset of today, so a change of the clock
    moves the moment by as much.
    """
    moved = abs(now - before)
    return moved < 1.0 or any(abs(moved - change) < _CLOCK_S for change in _CLOCK_CHANGES_S)
