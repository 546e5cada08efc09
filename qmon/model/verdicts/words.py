"""Words that several proofs use."""

from __future__ import annotations


def lasting(seconds: float) -> str:
    """A span of time in the unit that fits it: ``45 s``, ``12 m``, ``2 h 04 m``, ``3 d``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds // 60:.0f} m"
    hours = seconds / 3_600
    return f"{hours // 1:.0f} h {seconds % 3_600 // 60:02.0f} m" if hours < 48 else f"{hours / 24:.0f} d"
