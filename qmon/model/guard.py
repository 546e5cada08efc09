"""Keeps one part of a queue's view that ends in an exception from ending all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from qmon.model.snapshot import ProbeFailure

T = TypeVar("T")

# How the probe of such a failure is called.
DEFECT: Final = "fault: "
# The part that is everything of a queue.
VIEW: Final = "view"


@dataclass(slots=True)
class Guard:
    """Runs the parts of one queue's view.

    Attributes:
        report: logs an exception, and returns one line for the operator.
        reasons: by part (a figure, a rule) the line of the exception that ended it.
    """

    report: Callable[[Exception], str]
    reasons: dict[str, str] = field(default_factory=dict)

    def attempt(self, part: str, work: Callable[[], T], otherwise: Callable[[str], T]) -> T:
        """Return the result of ``work``; after an exception that of ``otherwise``, which gets the reason."""
        try:
            return work()
        except Exception as problem:  # whatever a queue's data make of qmon, the other figures and queues stay
            self.reasons[part] = self.report(problem)
            return otherwise(self.reasons[part])

    def failures(self, queue: str) -> tuple[ProbeFailure, ...]:
        """The reasons as failures of the queue."""
        return tuple(ProbeFailure(f"{DEFECT}{part}", reason, queue) for part, reason in self.reasons.items())
