"""What lies under all queues over time: whether another server answers now, and by which plans they are popped."""

from __future__ import annotations

from typing import Final

from qmon.model.evidence import FailedOver
from qmon.model.rates.plans import every_s
from qmon.model.samples.plans import QueuePlans
from qmon.model.samples.server_state import ReplicationSample
from qmon.model.snapshot import Snapshot

# Seconds for which a failover is said.
SAID_S: Final = 300.0
_SECONDARY: Final = "secondary"
# Times the pace of reading plans, after which what was read is forgotten.
_STALE: Final = 3.0


class ServerStateTrack:
    """The memory of one target; it outlives connections. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._local: ReplicationSample | None = None
        self._failed_over: FailedOver | None = None

    def add(self, snapshot: Snapshot) -> FailedOver | None:
        """Take in one poll; the failover that is still to be said."""
        state = snapshot.server_state
        local = state.local if state is not None else None
        if local is not None:
            before, self._local = self._local, local
            if before is not None and (words := _moved(before, local)) is not None:
                self._failed_over = FailedOver(*words, snapshot.sampled_at)
        seen = self._failed_over
        if seen is not None and not 0.0 <= snapshot.sampled_at - seen.at < SAID_S:
            seen = self._failed_over = None
        return seen


class PlanTrack:
    """By which plans the queues are popped, as last read. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._known: dict[str, QueuePlans] = {}

    def add(self, snapshot: Snapshot) -> tuple[QueuePlans, ...]:
        """Take in one poll; what is known of its queues, and not too old."""
        old_s = _STALE * every_s(len(snapshot.queues))
        names = {each.layout.queue for each in snapshot.queues}
        known = self._known | {found.queue: found for found in snapshot.plans}
        self._known = {
            name: found
            for name, found in known.items()
            if name in names and 0.0 <= snapshot.sampled_at - found.read_at <= old_s
        }
        return tuple(self._known.values())


def _moved(before: ReplicationSample, now: ReplicationSample) -> tuple[str, str] | None:
    """From where to where; ``None`` where it is the same server in the same part, or one copy in place of another."""
    if now.role == _SECONDARY:
        return None
    if before.timeline is not None and before.timeline == now.timeline and before.role != _SECONDARY:
        return None  # the same primary at another of its addresses: each promotion begins a timeline
    if before.name == now.name and before.host == now.host:
        if before.role == _SECONDARY:
            return f"{now.name} as {_SECONDARY}", f"{now.name} as primary"
        if (before.timeline or 0) < (now.timeline or 0) and before.timeline is not None:
            return f"timeline {before.timeline}", f"timeline {now.timeline}"
        return None
    if before.name == now.name:
        return before.host or before.name, now.host or now.name
    return before.name, now.name
