"""Track failovers of the server, and the plans that pops use."""

from __future__ import annotations

from typing import Final

from qmon.model.evidence import FailedOver
from qmon.model.samples.plan_samples import QueuePlans
from qmon.model.samples.server_state_samples import ReplicationSample
from qmon.model.snapshot import Snapshot
from qmon.model.statement_use import reading_interval_s
from qmon.texts import Text


class FailoverText(Text):
    """The servers before and after a failover."""

    PRIMARY = "{server} as primary"
    SECONDARY = "{server} as secondary"
    TIMELINE = "timeline {timeline}"


# Seconds for which a failover is reported.
REPORTED_S: Final = 300.0
_SECONDARY: Final = "secondary"

# Plans are forgotten after this many times the interval at which they are read.
_STALE: Final = 3.0


class FailoverTrack:
    """The replication role of one target, across connections. Not thread-safe."""

    def __init__(self) -> None:
        self._local: ReplicationSample | None = None
        self._failed_over: FailedOver | None = None

    def record_poll(self, snapshot: Snapshot) -> FailedOver | None:
        """Record one poll and return the failover of the last five minutes; ``None`` without a failover."""
        state = snapshot.server_state
        local = state.local_server if state is not None else None
        if local is not None:
            before, self._local = self._local, local
            if before is not None and (words := _primary_change(before, local)) is not None:
                self._failed_over = FailedOver(*words, snapshot.sampled_at)
        seen = self._failed_over
        if seen is not None and not 0.0 <= snapshot.sampled_at - seen.at < REPORTED_S:
            seen = self._failed_over = None
        return seen


class PlanTrack:
    """The plans of each queue's pops, as last read. Not thread-safe."""

    def __init__(self) -> None:
        self._known: dict[str, QueuePlans] = {}

    def record_poll(self, snapshot: Snapshot) -> tuple[QueuePlans, ...]:
        """Record one poll and return the plans of its queues, except outdated plans."""
        old_s = _STALE * reading_interval_s(len(snapshot.queues))
        names = {each.layout.queue for each in snapshot.queues}
        known = self._known | {found.queue: found for found in snapshot.plans}
        self._known = {
            name: found
            for name, found in known.items()
            if name in names and 0.0 <= snapshot.sampled_at - found.read_at <= old_s
        }
        return tuple(self._known.values())


def _primary_change(before: ReplicationSample, now: ReplicationSample) -> tuple[str, str] | None:
    """Return the old and the new primary; ``None`` if nothing changed or only a replica replaced another replica."""
    if now.role == _SECONDARY:
        return None
    if before.timeline is not None and before.timeline == now.timeline and before.role != _SECONDARY:
        return None  # the same primary at another of its addresses, because each promotion starts a new timeline
    if before.name == now.name and before.host == now.host:
        if before.role == _SECONDARY:
            return FailoverText.SECONDARY.render(server=now.name), FailoverText.PRIMARY.render(server=now.name)
        if (before.timeline or 0) < (now.timeline or 0) and before.timeline is not None:
            old, new = (FailoverText.TIMELINE.render(timeline=each) for each in (before.timeline, now.timeline))
            return old, new
        return None
    if before.name == now.name:
        return before.host or before.name, now.host or now.name
    return before.name, now.name
