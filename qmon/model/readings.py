"""Readings: what verdicts need beside the samples of one poll: of the target as a whole, and learnt over several polls.

Each is a record of its own in a module of its own, and ``None`` or empty here where it has not been read: a rule then
says nothing. Frozen, so that a verdict can be judged again from a recording.
"""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.clients import ClientsSeen
from qmon.model.evidence import Archiving, Repeated, RingLoss, Starved, Twice
from qmon.model.owners import Owners
from qmon.model.rates.usage import QueueUse
from qmon.model.waits.deadlocks import Deadlocks
from qmon.model.waits.waiting import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReadings:
    """What the target as a whole tells about its queues: made once a poll by ``monitor.state.target`` for all of them.

    ``waiting``: what sessions waited for in the last few seconds; ``commits``: transactions committed per second.
    """

    waiting: Waiting | None = None
    commits: float | None = None
    deadlocks: Deadlocks | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReadings:
    """What several polls tell about one queue: made by ``monitor.state.diagnosis`` and ``monitor.state.usage``.

    ``pushers`` and ``poppers``: ``None`` where sessions, or what they run, cannot be seen. ``repeated``: the message
    that fails most; ``twice``: those in two hands; ``ring_loss``: what a ring has lost, ``None`` where nothing tells.
    """

    pushers: ClientsSeen | None = None
    poppers: ClientsSeen | None = None
    owners: Owners | None = None
    repeated: Repeated | None = None
    twice: tuple[Twice, ...] = ()
    ring_loss: RingLoss | None = None
    starved: Starved | None = None
    archiving: Archiving | None = None
    use: QueueUse | None = None


NO_TARGET_READINGS = TargetReadings()
NO_QUEUE_READINGS = QueueReadings()
