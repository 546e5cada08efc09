"""Evidence: what is learnt about one queue over several polls, handed to its rules as one frozen record."""

from __future__ import annotations

from qmon.model.operations import Side
from qmon.model.readings import QueueReadings
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.monitor.clients_track import ClientsTrack


class Evidence:
    """The memory of one queue for its verdicts. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._pushers = ClientsTrack(Side.PUSHERS)
        self._poppers = ClientsTrack(Side.POPPERS)

    def add(self, snapshot: Snapshot, q: QueueSamples) -> QueueReadings:
        """Take in one poll; returns what is known now."""
        return QueueReadings(
            pushers=self._pushers.add(snapshot, q.layout), poppers=self._poppers.add(snapshot, q.layout)
        )
