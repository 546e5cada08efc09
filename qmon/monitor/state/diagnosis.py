"""Evidence: what is learnt about one queue over several polls, handed to its rules as one frozen record."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.evidence import NO_QUEUE_EVIDENCE, QueueEvidence, Repeated
from qmon.model.figure import Figure
from qmon.model.operations import Side
from qmon.model.sessions.clients import ClientsSeen, Sessions
from qmon.model.sessions.owners import owners_of
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.monitor.state.archive import ArchiveTrack
from qmon.monitor.state.clients import ClientsTrack
from qmon.monitor.state.messages import HandsTrack, PriorityTrack, TriesTrack
from qmon.monitor.state.ring import RingTrack

_STALE_S: Final = 30.0


class QueueDiagnosis:
    """The memory of one queue for its verdicts. Not thread-safe: one thread folds.

    What was left out of a poll, to stay within the budget, is what it was before: a verdict does not come and go with
    it. Who is connected is forgotten after half a minute without a word.
    """

    def __init__(self) -> None:
        self._pushers = ClientsTrack(Side.PUSHERS)
        self._poppers = ClientsTrack(Side.POPPERS)
        self._tries = TriesTrack()
        self._hands = HandsTrack()
        self._ring = RingTrack()
        self._priorities = PriorityTrack()
        self._archive = ArchiveTrack()
        self._last = NO_QUEUE_EVIDENCE
        self._seen_at = float("-inf")

    def add(self, snapshot: Snapshot, q: QueueSamples, done: Figure, sessions: Sessions | None) -> QueueEvidence:
        """Take in one poll; returns what is known now. ``done``: messages that are done and not archived.

        ``sessions``: those of the snapshot, where it has them.
        """
        layout, messages, at = q.layout, q.diagnostics, snapshot.sampled_at
        before, left_out = self._last, q.left_out
        rows_read = not any(probe.startswith(("owners", "tried")) for probe in left_out)
        loss = before.ring_loss
        if layout.ring is not None and "ring_sweep" not in left_out:
            loss = self._ring.add(messages, layout.ring.size, at)
        workers = None
        if layout.part is not None:  # whose sessions are its workers' cannot be told by what they run
            sessions = None
            workers = None if q.workers is None else ClientsSeen(q.workers, 0, "library", quiet_s=_STALE_S)
        self._last = QueueEvidence(
            pushers=before.pushers if sessions is None else self._pushers.add(snapshot, layout, sessions),
            poppers=workers or (before.poppers if sessions is None else self._poppers.add(snapshot, layout, sessions)),
            owners=owners_of(messages, layout.timeout_s) if rows_read else before.owners,
            repeated=self._repeated(q, at) if rows_read else before.repeated,
            twice=self._hands.add(snapshot, layout, messages) if rows_read else before.twice,
            starved=self._priorities.add(messages, at) if messages.priorities is not None else before.starved,
            archiving=self._archive.add(q.counters, done, at),
            ring_loss=loss,
        )
        if snapshot.clients is not None:
            self._seen_at = at
        return self._last if at - self._seen_at <= _STALE_S else replace(self._last, pushers=None, poppers=None)

    def _repeated(self, q: QueueSamples, at: float) -> Repeated | None:
        head = None if q.held_counted else q.head
        return self._tries.add(q.diagnostics, at, head=head, none_held=q.held == () and q.held_at is None)
