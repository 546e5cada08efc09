"""The banner that is on every screen while a queue is paused: who, until when, and why."""

from __future__ import annotations

from qmon.tui.spans import Line
from qmon.tui.status import Shown


def banner(shown: Shown, now: float, cells: int) -> list[Line]:
    """One line a pause in force, at most three."""
    return []
