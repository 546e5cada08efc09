"""Detect whether a server is still the same one, by its start time."""

from __future__ import annotations

from typing import Final

# Seconds by which clocks are put forward or back.
_CLOCK_CHANGES_S: Final = (1800.0, 3600.0)
_CLOCK_S: Final = 0.01


def is_same_start(before: float, now: float) -> bool:
    """Return whether two start times of a server, in seconds since the epoch, are equal.

    SQL Server reports its start in local time. Probes convert it to UTC with the current offset. A change to or from
    daylight saving time therefore shifts the result by the change.
    """
    moved = abs(now - before)
    return moved < 1.0 or any(abs(moved - change) < _CLOCK_S for change in _CLOCK_CHANGES_S)
