"""Data about one queue's past, collected from recordings and from memory before it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from qmon.model.operation_records import Operation
from qmon.model.queue_figures import PLOTTED_FIGURES
from qmon.recording.history.buckets import Bins
from qmon.recording.history.incidents import Run

# The figures that are stored for each queue and poll, by their names in recordings.
FIGURES: Final = tuple(figure.recorded_name for figure in PLOTTED_FIGURES)


@dataclass(frozen=True, slots=True)
class SeenOperation:
    """An operation in its latest known state. ``at``: when qmon first read the operation, on the recorder's clock."""

    at: float
    operation: Operation


@dataclass(slots=True)
class CollectedRange:
    """The steps, runs of verdicts and operations of one queue. ``queues``: names of all queues in the range."""

    bins: Bins
    runs: list[Run] = field(default_factory=list)
    operations: dict[str, SeenOperation] = field(default_factory=dict)
    queues: set[str] = field(default_factory=set)
    problem: str = ""

    def merge_range(self, other: CollectedRange) -> None:
        """Merge another range, such as the range of a segment."""
        self.bins.merge_finer(other.bins)
        self.merge_events(other)

    def merge_events(self, other: CollectedRange) -> None:
        """Merge all data of another range except the figures."""
        self.runs += other.runs
        for id, each in other.operations.items():
            self.operations[id] = latest_operation(self.operations.get(id), each)
        self.queues |= other.queues
        self.problem = self.problem or other.problem


def latest_operation(earlier: SeenOperation | None, later: SeenOperation) -> SeenOperation:
    """Return the later of two states of an operation, with the earlier of the two times."""
    if earlier is None:
        return later
    first, last = sorted((earlier, later), key=lambda each: each.at)
    return SeenOperation(first.at, last.operation)
