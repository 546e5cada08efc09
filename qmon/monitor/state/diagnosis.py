"""Evidence: what is learnt about one queue over several polls, handed to its rules as one frozen record."""

from __future__ import annotations

from collections.abc import Collection
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
_ROWS: Final = ("owners", "tried")
_SWEEP: Final = "ring_sweep"
_PRIORITIES: Final = "priorities"
_COUNTERS: Final = ("counters", "table_counters")


class QueueDiagnosis:
    """The memory of one queue for its verdicts. Not thread-safe: one thread folds.

    What was left out of a poll, to stay within the budget, is what it was before: a verdict does not come and go with
    it. So is what failed to be read, for half a minute; what was learnt by then is gone on with once it is read again.
    Who is connected is forgotten after half a minute without a word.
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
        self._failing: dict[str, float] = {}

    def add(self, snapshot: Snapshot, q: QueueSamples, done: Figure, sessions: Sessions | None) -> QueueEvidence:
        """Take in one poll; returns what is known now. ``done``: messages that are done and not archived.

        ``sessions``: those of the snapshot, where it has them.
        """
        layout, messages, at = q.layout, q.diagnostics, snapshot.sampled_at
        before, failing = self._last, failing_probes(q, snapshot)
        missed = (*q.left_out, *failing)
        rows_read = not any(probe.startswith(_ROWS) for probe in missed)
        loss = before.ring_loss
        if layout.ring is not None and _SWEEP not in missed:
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
            archiving=before.archiving if q.counters is None else self._archive.add(q.counters, done, at),
            ring_loss=loss,
        )
        self._failing = {probe: self._failing.get(probe, at) for probe in failing}
        if snapshot.clients is not None:
            self._seen_at = at
        known = self._last if at - self._seen_at <= _STALE_S else replace(self._last, pushers=None, poppers=None)
        return _without({probe for probe, since in self._failing.items() if at - since > _STALE_S}, known)

    def _repeated(self, q: QueueSamples, at: float) -> Repeated | None:
        head = None if q.held_counted else q.head
        return self._tries.add(q.diagnostics, at, head=head, none_held=q.held == () and q.held_at is None)


def failing_probes(q: QueueSamples, snapshot: Snapshot) -> tuple[str, ...]:
    """The probes that should have told of this queue in this poll, or of the target, and failed."""
    return tuple(each.probe for each in snapshot.failures if each.queue in ("", q.layout.queue))


def _without(old: Collection[str], known: QueueEvidence) -> QueueEvidence:
    """What is known, without what these probes have not told for too long."""
    if any(probe.startswith(_ROWS) for probe in old):
        known = replace(known, owners=None, repeated=None, twice=())
    if _SWEEP in old:
        known = replace(known, ring_loss=None)
    if any(probe.startswith(_PRIORITIES) for probe in old):
        known = replace(known, starved=None)
    if any(probe in _COUNTERS for probe in old):
        known = replace(known, archiving=None)
    return known
