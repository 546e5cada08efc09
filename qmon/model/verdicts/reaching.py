"""The target cannot be reached: said of the target as a whole, since nothing is known of its queues then."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity, Verdict

UNREACHABLE: Final = "unreachable"


def unreachable(reason: str, since_at: float | None = None) -> Verdict:
    """The verdict on a target that was lost. ``reason``: what the way to it says; ``since_at``: when that began."""
    return Verdict(UNREACHABLE, reason or "no connection", Severity.CRITICAL, since_at)
