"""The poll intervals that ``+`` and ``-`` step through."""

from __future__ import annotations

from typing import Final

INTERVALS_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""In seconds."""


def faster(seconds: float) -> float:
    """The next shorter interval; the shortest stays."""
    return max((i for i in INTERVALS_S if i < seconds), default=INTERVALS_S[0])


def slower(seconds: float) -> float:
    """The next longer interval; the longest stays."""
    return min((i for i in INTERVALS_S if i > seconds), default=INTERVALS_S[-1])
