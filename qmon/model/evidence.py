"""Evidence that verdicts need beside the samples of one poll: about the whole target, and learnt over several polls.

Each record is ``None`` or empty where nothing was read: a rule then finds nothing. Frozen, so that a verdict can be
judged again from a recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qmon.model.rates.trend import DueLater, Rise, Silence, Slower
from qmon.model.rates.usage import QueueUse
from qmon.model.samples.messages import DrawerSample
from qmon.model.samples.plans import QueuePlans
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.waits.deadlocks import Deadlocks
from qmon.model.waits.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Archiving:
    """The done messages of one queue that were not archived.

    Attributes:
        done: how many there are.
        grown: how many more than the fewest since rows were last deleted.
        silent_s: seconds since rows were last deleted, as far as was watched.
        usual_s: the longest break between two runs of deletions seen so far, in seconds; 0 if rows were deleted all the
            time; ``None`` if too few breaks were seen to know.
        most: the most done messages seen when rows were deleted; ``None`` if none were.
        untouched: the server's counters say that no row was ever deleted.
    """

    done: float
    grown: float
    silent_s: float
    usual_s: float | None
    most: float | None
    untouched: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """A message that has failed again and again. ``failures``: seen within ``seconds`` of watching it, at least.

    ``attempts``: how often it was popped in all, ``None`` where nothing counts.
    """

    id: str
    failures: int
    seconds: float
    attempts: int | None


@dataclass(frozen=True, slots=True)
class DoubleDelivery:
    """A message delivered twice. ``first``: its owner until it was popped again, alive and still at the same statement.

    ``second``: who has it now; ``seconds``: since it was popped for the first of them.
    """

    id: str
    first: str
    second: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RingLoss:
    """What a ring has lost, as far as its slots were read.

    ``hole``: the first number that poppers have drawn and that has no message, for ``hole_s`` seconds at least;
    ``drawer``: the oldest open transaction that may have it; without one, nobody can push it any more. ``orphans``:
    messages that were drawn by poppers, not popped; ``orphan`` the first of them, ``orphan_s`` seconds old;
    ``popper``: the oldest open transaction that may pop them; while there is one, no popper takes them. A number that
    was seen in one sweep only is none of them. ``swept``: share of the slots that were read, 0 to 1.
    """

    hole: int | None = None
    hole_s: float = 0.0
    drawer: DrawerSample | None = None
    orphans: int = 0
    orphan: int | None = None
    orphan_s: float | None = None
    swept: float = 0.0
    popper: DrawerSample | None = None


@dataclass(frozen=True, slots=True)
class Starved:
    """A priority whose oldest message stays while those of others are popped. ``still_s``: seconds it was seen so.

    ``others``: how often the head of another priority has moved meanwhile; ``oldest_s``: its age in seconds.
    """

    priority: int
    head_id: str
    still_s: float
    oldest_s: float | None
    others: int


@dataclass(frozen=True, slots=True)
class Motion:
    """Whether messages leave a queue, as far as its head and its depth tell.

    Attributes:
        head_id: the message at the head; ``None`` without an id or a message.
        still_s: seconds for which the head has been the same and the depth has not fallen; ``None`` without a head.
        moved_s: seconds since the head changed or the depth fell; ``None`` if that has not been seen yet.
    """

    head_id: str | None
    still_s: float | None
    moved_s: float | None


@dataclass(frozen=True, slots=True)
class FailedOver:
    """Another server answers since ``at`` (server clock, seconds since the epoch), or the same one in another part."""

    before: str
    now: str
    at: float


@dataclass(frozen=True, slots=True)
class Ghosts:
    """Deleted rows that the server has not removed yet, per second (SQL Server).

    ``skipped``: stepped over by scans in the whole server, qmon's own scans among them. ``made``: rows and index
    entries of all watched queues that became ghosts.
    """

    skipped: float
    made: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEvidence:
    """About the target as a whole, once a poll for all its queues (``monitor.state.target``).

    ``waiting``: what sessions waited for in the last few seconds; ``commits`` and ``rollbacks``: transactions
    per second, the latter including those of sessions that touch no queue.
    ``failed_over``: a failover of the last minutes. ``plans``: by queue. ``ghosts``: ``None`` unless both figures are
    known.
    """

    waiting: Waiting | None = None
    commits: float | None = None
    rollbacks: float | None = None
    deadlocks: Deadlocks | None = None
    failed_over: FailedOver | None = None
    plans: Mapping[str, QueuePlans] = field(default_factory=dict)
    ghosts: Ghosts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEvidence:
    """About one queue, from several polls (``monitor.state.diagnosis``; ``use``: ``monitor.state.usage``).

    ``pushers`` and ``poppers``: ``None`` where sessions, or what they run, cannot be seen. ``repeated``: the message
    that fails most; ``twice``: those delivered twice; ``ring_loss``: what a ring has lost, ``None`` where unknown.
    ``rise``, ``slower``, ``silence`` and ``due_later``: what the last hour shows.
    """

    pushers: ClientsSeen | None = None
    poppers: ClientsSeen | None = None
    owners: Owners | None = None
    repeated: Repeated | None = None
    twice: tuple[DoubleDelivery, ...] = ()
    ring_loss: RingLoss | None = None
    starved: Starved | None = None
    archiving: Archiving | None = None
    motion: Motion | None = None
    use: QueueUse | None = None
    rise: Rise | None = None
    slower: Slower | None = None
    silence: Silence | None = None
    due_later: DueLater | None = None


NO_TARGET_EVIDENCE = TargetEvidence()
NO_QUEUE_EVIDENCE = QueueEvidence()
