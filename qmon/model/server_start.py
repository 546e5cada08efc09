"""Detect from a server's start time whether the server was restarted."""

from __future__ import annotations

from typing import Final

# Daylight saving time moves clocks by one of these numbers of seconds.
_CLOCK_CHANGES_S: Final = (1800.0, 3600.0)
_CLOCK_S: Final = 0.01


def is_same_start(before: float, now: float) -> bool:
    """Return whether two start times of a server (seconds since the epoch) are equal.

    SQL Server reports its start in local time. Probes convert this time to UTC with the current offset. A change to or
    from daylight saving time therefore shifts the converted time by the change of the offset.
    """
    moved = abs(now - before)
    return moved < 1.0 or any(abs(moved - change) < _CLOCK_S for change in _CLOCK_CHANGES_S)
