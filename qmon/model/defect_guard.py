"""Contain exceptions in one part of a queue's view, so that the other parts are still shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from qmon.model.snapshot import ProbeFailure

T = TypeVar("T")

# A failure whose probe name starts with this prefix is an exception in qmon.
DEFECT_PREFIX: Final = "fault: "

# The part name used for the whole view of a queue.
WHOLE_VIEW: Final = "view"


@dataclass(slots=True)
class DefectGuard:
    """Runs the parts of one queue's view and catches their exceptions.

    Attributes:
        report: logs an exception and returns one line for the operator.
        reasons: the line about each exception, keyed by part (a figure or a rule).
    """

    report: Callable[[Exception], str]
    reasons: dict[str, str] = field(default_factory=dict)

    def attempt(self, part: str, work: Callable[[], T], fallback: Callable[[str], T]) -> T:
        """Return the result of ``work``, or after an exception the result of ``fallback`` called with the reason."""
        try:
            return work()
        # an error that one queue's data triggers in qmon must not affect other figures and queues
        except Exception as problem:
            return fallback(self.record(part, problem))

    def record(self, part: str, problem: Exception) -> str:
        """Record an exception in a part. Return the line about it."""
        reason = self.reasons[part] = self.report(problem)
        return reason

    def failures(self, queue: str) -> tuple[ProbeFailure, ...]:
        """Return the reasons as failures of the queue."""
        return tuple(ProbeFailure(f"{DEFECT_PREFIX}{part}", reason, queue) for part, reason in self.reasons.items())
