"""Rates of queues, compared with the messages that were counted over the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

INTERVAL_S: Final = 0.5
# Rates may be off by the flow of this many seconds: they lag, and batches are pushed at once.
_ENOUGH_S: Final = 1.5


def agrees(rate: float, window_s: float, counted: Callable[[float, float], int], end: float) -> bool:
    """Return whether a rate matches the count over the same number of seconds, which ended up to four polls ago."""
    lags = [n * INTERVAL_S for n in range(5)]
    found = [counted(end - lag - window_s, end - lag) for lag in lags]
    most = max(found) / window_s
    near = max(0.03 * max(found), _ENOUGH_S * most)
    return min(found) - near <= rate * window_s <= max(found) + near
