"""Evidence that verdicts need about the whole target or from several polls of a queue.

A record is ``None`` or empty if nothing was read. The rule that needs the record then finds nothing. Records are
frozen, so that verdicts can be recomputed from a recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qmon.model.baseline_bands import NO_BASELINES, Baselines
from qmon.model.figure import Verdict
from qmon.model.rates.queue_use import QueueUse
from qmon.model.samples.message_samples import DrawerSample
from qmon.model.samples.plan_samples import QueuePlans
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.trend import DueLater, FailedPushes, Rise, Silence, Slower
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.model.waits.wait_rates import Waiting


@dataclass(frozen=True, slots=True)
class Archiving:
    """The done messages of one queue that were not archived.

    Attributes:
        done: number of done messages.
        grown: ``done`` minus the lowest number of done messages since rows were last deleted.
        silent_s: seconds since rows were last deleted, or since watching started.
        usual_s: longest break between two runs of deletions so far, in seconds; 0 if rows were deleted continuously;
            ``None`` if too few breaks were seen.
        most: highest number of done messages at the time of a deletion; ``None`` if no deletion was seen.
        untouched: true if the server's counters show that no row was ever deleted.
    """

    done: float
    grown: float
    silent_s: float
    usual_s: float | None
    most: float | None
    untouched: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """A message that failed repeatedly.

    Attributes:
        failures: at least this many failures were seen.
        seconds: how long the message was watched.
        attempts: how often the message was popped in total; ``None`` if the table does not count attempts.
        error: the message's last error; ``None`` if the table has no column for errors, or no error was read.
    """

    id: str
    failures: int
    seconds: float
    attempts: int | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Crashes:
    """Consumers that died one after the other, each with a message in progress.

    Attributes:
        count: number of these consumers. Each connected after the one before popped its message.
        messages: number of different messages that they had.
        seconds: from the first of these pops to the last of these deaths.
        owner: the consumer that died last.
        message: the message of this consumer.
    """

    count: int
    messages: int
    seconds: float
    owner: str
    message: str


@dataclass(frozen=True, slots=True)
class WrongClock:
    """New messages whose push times differ from the server's clock, all by the same time.

    Attributes:
        behind_s: how many seconds the push times are behind the server's clock; negative if they are ahead.
        messages: number of such messages among the ``total`` messages read in the last minute.
        since_at: when the first such message was read, server clock, seconds since the epoch.
    """

    behind_s: float
    messages: int
    total: int
    since_at: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The same message, pushed again and again.

    Attributes:
        copies: number of equal messages among the ``total`` messages read in the last minute.
        ids: the ids of the two newest of these messages.
        share_before: how often the most frequent message came before, as a share of all messages (0 to 1).
    """

    copies: int
    total: int
    ids: tuple[int, int]
    share_before: float


@dataclass(frozen=True, slots=True)
class DoubleDelivery:
    """A message delivered twice.

    Attributes:
        first: the owner before the message was popped again. The session of this owner is still alive and runs the same
            statement.
        second: the current owner.
        seconds: seconds since the first owner popped the message.
    """

    id: str
    first: str
    second: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RingLoss:
    """The lost numbers of a ring among the slots read so far. Numbers seen in only one sweep are not included.

    Attributes:
        hole: the first number that consumers have drawn and that has no message. It has been a hole for at least
            ``hole_s`` seconds.
        drawer: the oldest open transaction that may still push that number; ``None`` if no transaction can push it.
        orphans: messages whose numbers consumers have drawn and that were not popped.
        orphan: number of the first orphan, which is ``orphan_s`` seconds old.
        swept: share of the slots that were read, 0 to 1.
        consumer: the oldest open transaction that may still pop the orphans. While the transaction is open, no other
            consumer pops the orphans.
    """

    hole: int | None = None
    hole_s: float = 0.0
    drawer: DrawerSample | None = None
    orphans: int = 0
    orphan: int | None = None
    orphan_s: float | None = None
    swept: float = 0.0
    consumer: DrawerSample | None = None


@dataclass(frozen=True, slots=True)
class Starved:
    """A priority whose oldest message stays while messages of other priorities are popped.

    Attributes:
        still_s: how long this has been observed, in seconds.
        oldest_s: age of the message in seconds.
        others: how often the first messages of other priorities moved in that time.
    """

    priority: int
    head_id: str
    still_s: float
    oldest_s: float | None
    others: int


@dataclass(frozen=True, slots=True)
class Motion:
    """Whether messages leave a queue, judged by the queue's first message and depth.

    Attributes:
        head_id: id of the first message; ``None`` if there is no id or no message.
        still_s: seconds in which the first message has not changed and the depth has not fallen; ``None`` if there is
            no first message.
        moved_s: seconds since the first message changed or the depth fell; ``None`` if neither change was seen yet.
    """

    head_id: str | None
    still_s: float | None
    moved_s: float | None


@dataclass(frozen=True, slots=True)
class FailedOver:
    """A failover: another server answers, or the same server has another role.

    ``at``: server clock, seconds since the epoch.
    """

    before: str
    now: str
    at: float


@dataclass(frozen=True, slots=True)
class Ghosts:
    """Ghosts per second (SQL Server). A ghost is a deleted row that the server has not removed yet.

    ``skipped``: ghosts skipped by scans on the whole server, including qmon's own scans. ``made``: rows and index
    entries of all watched queues that became ghosts.
    """

    skipped: float
    made: float


@dataclass(frozen=True, slots=True)
class TargetVerdicts:
    """The verdicts about the whole target, keyed by their code. All its queues share them.

    Attributes:
        holding: the verdicts that hold.
        unproved: verdicts whose evidence has not lasted long enough. Their proofs contain the remaining time.
        undecided: codes of other verdicts that are not known to be over.
        faults: the exception of each rule that failed, in one line.
    """

    holding: Mapping[str, Verdict] = field(default_factory=dict)
    unproved: Mapping[str, Verdict] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEvidence:
    """Evidence about the whole target, collected once per poll (``monitor.state.target``).

    Attributes:
        waiting: waits of sessions in the last few seconds.
        commits: transactions per second.
        rollbacks: transactions rolled back per second, including sessions that use no queue.
        failed_over: a failover in the last minutes.
        plans: plans by queue.
        ghosts: deleted rows that the server has not removed yet; ``None`` unless both figures are known.
        baselines: the usual range of each figure at each hour of the week.
        judged: the verdicts about the whole target.
    """

    waiting: Waiting | None = None
    commits: float | None = None
    rollbacks: float | None = None
    deadlocks: Deadlocks | None = None
    failed_over: FailedOver | None = None
    plans: Mapping[str, QueuePlans] = field(default_factory=dict)
    ghosts: Ghosts | None = None
    baselines: Baselines = NO_BASELINES
    judged: TargetVerdicts = field(default_factory=TargetVerdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEvidence:
    """Evidence about one queue from several polls (``monitor.state.diagnosis``, ``use`` from ``monitor.state.usage``).

    Attributes:
        producers: the producers; ``None`` if sessions or their statements are not visible.
        consumers: the consumers; ``None`` if sessions or their statements are not visible.
        repeated: the message that fails most.
        crashes: consumers that die again and again.
        twice: messages delivered twice.
        wrong_clock: new messages with push times from a wrong clock.
        duplicates: the same message, pushed again and again.
        ring_loss: the lost numbers of a ring; ``None`` if unknown.
        rise: a finding from the last hour, like ``slower``, ``silence`` and ``due_later``.
        failed_pushes: most pushes of the last seconds, if they failed.
    """

    producers: ClientsSeen | None = None
    consumers: ClientsSeen | None = None
    owners: Owners | None = None
    repeated: Repeated | None = None
    crashes: Crashes | None = None
    twice: tuple[DoubleDelivery, ...] = ()
    wrong_clock: WrongClock | None = None
    duplicates: Duplicates | None = None
    ring_loss: RingLoss | None = None
    starved: Starved | None = None
    archiving: Archiving | None = None
    motion: Motion | None = None
    use: QueueUse | None = None
    rise: Rise | None = None
    slower: Slower | None = None
    silence: Silence | None = None
    failed_pushes: FailedPushes | None = None
    due_later: DueLater | None = None


NO_TARGET_EVIDENCE = TargetEvidence()
NO_QUEUE_EVIDENCE = QueueEvidence()
