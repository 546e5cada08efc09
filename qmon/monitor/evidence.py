"""Evidence: what is learnt about one queue over several polls, handed to its rules as one frozen record."""

from __future__ import annotations

from qmon.model.operations import Side
from qmon.model.owning import owners_of
from qmon.model.readings import QueueReadings
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.view import Figure
from qmon.monitor.archive_track import ArchiveTrack
from qmon.monitor.clients_track import ClientsTrack
from qmon.monitor.priority_track import PriorityTrack
from qmon.monitor.ring_track import RingTrack
from qmon.monitor.tries_track import HandsTrack, TriesTrack


class Evidence:
    """The memory of one queue for its verdicts. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._pushers = ClientsTrack(Side.PUSHERS)
        self._poppers = ClientsTrack(Side.POPPERS)
        self._tries = TriesTrack()
        self._hands = HandsTrack()
        self._ring = RingTrack()
        self._priorities = PriorityTrack()
        self._archive = ArchiveTrack()

    def add(self, snapshot: Snapshot, q: QueueSamples, done: Figure) -> QueueReadings:
        """Take in one poll; returns what is known now. ``done``: messages that are done and not archived."""
        layout, clues, at = q.layout, q.clues, snapshot.sampled_at
        return QueueReadings(
            pushers=self._pushers.add(snapshot, layout),
            poppers=self._poppers.add(snapshot, layout),
            owners=owners_of(clues, layout.timeout_s),
            repeated=self._tries.add(clues, at),
            twice=self._hands.add(snapshot, layout, clues),
            starved=self._priorities.add(clues, at),
            archiving=self._archive.add(q.counters, done, at),
            ring_loss=None if layout.ring is None else self._ring.add(clues, layout.ring.size, at),
        )
