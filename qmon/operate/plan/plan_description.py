"""Describes a plan for screens and commands: its messages, its duration, and whether it can be undone."""

from __future__ import annotations

from collections.abc import Callable

from qmon.model import formatting
from qmon.model.operation_records import Plan, Undo
from qmon.texts import Text


class PlanText(Text):
    """The parts of the description of a plan."""

    ABOUT = "about {duration}"
    UNDER_A_SECOND = "less than a second"
    NO_UNDO = "cannot be undone"
    NO_UNDO_BECAUSE = "cannot be undone: {notes}"
    UNDO = "can be undone{until}"
    PARTLY_UNDO = "can be partly undone{until}: {notes}"
    UNTIL = " until {time}"


def count_text(plan: Plan) -> str:
    """Return the number of messages or other things that the plan changes: ``1,204 messages``."""
    return f"{plan.count:,} {plan.unit if plan.count != 1 else plan.unit.removesuffix('s')}"


def duration_text(seconds: float) -> str:
    """Return how long a plan will take: ``about 2.4 s``."""
    if seconds < 1:
        return PlanText.UNDER_A_SECOND
    return PlanText.ABOUT.render(duration=formatting.duration(seconds))


def undo_text(undo: Undo, moment_text: Callable[[float], str]) -> str:
    """Describe whether a plan can be undone, fully or partly, and what an undo would not restore.

    ``moment_text``: returns a time in seconds since the epoch as text.
    """
    notes = "; ".join(undo.notes)
    if not undo.possible:
        return PlanText.NO_UNDO_BECAUSE.render(notes=notes) if notes else PlanText.NO_UNDO
    until = PlanText.UNTIL.render(time=moment_text(undo.until)) if undo.until is not None else ""
    return PlanText.PARTLY_UNDO.render(until=until, notes=notes) if notes else PlanText.UNDO.render(until=until)
