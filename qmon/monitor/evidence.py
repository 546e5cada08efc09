"""Evidence: what is learnt about one queue over several polls, handed to its rules as one frozen record."""

from __future__ import annotations

from qmon.model.readings import QueueReadings
from qmon.model.snapshot import QueueSamples, Snapshot


class Evidence:
    """The memory of one queue for its verdicts. Not thread-safe: one thread folds."""

    def add(self, snapshot: Snapshot, q: QueueSamples) -> QueueReadings:
        """Take in one poll; returns what is known now."""
        return QueueReadings()
