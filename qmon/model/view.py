"""View: the current figures, derived from all snapshots so far. Screens, commands and verdicts read only views."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.figure import Figure, PastVerdict, Verdict
from qmon.model.forecast import Forecast
from qmon.model.gap_ledger import Ledger
from qmon.model.layout.layout import Layout
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.rates.flow import MovedMessages
from qmon.model.samples.deadlock_samples import BlockedReport
from qmon.model.samples.group_samples import GroupBlockerSample, WorkerSample
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.job_samples import Jobs
from qmon.model.samples.listing_samples import PageSample
from qmon.model.samples.plan_samples import QueuePlans
from qmon.model.samples.polled_samples import MessageSample, PauseSample, WaitSample
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.series import Point
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.lock_chains import LockChains

if TYPE_CHECKING:
    from qmon.model.rates.queue_use import QueueUse
    from qmon.model.service_broker import BrokerView
    from qmon.model.standby import Standby
    from qmon.model.waits.wait_rates import Waiting


_UNKNOWN: Final = Figure()


@dataclass(frozen=True, slots=True)
class QueueView:
    """The figures of one queue. Rates are messages per second over the last window.

    Attributes:
        oldest: age of the oldest ready message in seconds.
        gap: push position minus pop position of a ring. For other queues, the last issued id minus the id of the first
            message.
        fill: share of a ring's slots in use, 0 to 1.
        verdict: the worst of ``verdicts``.
        page: the page that contains ``messages``; ``None`` if ``messages`` are in progress or next to be popped.
        window_s: length of the period in which the rates were measured, in seconds.
        pauses: pauses in force.
        verdicts: all verdicts that hold and are not merely a consequence of another verdict.
        undecided: codes of other verdicts that are not known to be over.
        past: earlier verdicts, newest first, up to a limit.
        producers: connected producer sessions.
        consumers: connected consumer sessions.
        consumers_waiting: consumers that are idle, sleep or wait for a lock.
        done: done messages that are not archived yet.
        blocked: messages that wait for a condition, such as a lock or another message, before they become ready.
        blocked_oldest: age of the oldest blocked message in seconds.
        bytes: size of tables and indexes.
        growth: bytes per second.
        counting: share of the table covered by the first scan (0 to 1), while figures depend on the scan.
        moved: messages moved since the previous poll, if the counters were read without a break.
        span_s: seconds since the previous poll; ``None`` after a break.
        read_at: when the queue was last read, if this poll did not read it (server clock, seconds since the epoch).
            Ages of figures refer to this time.
        blockers: blockers of the blocked messages.
        ownerless: ids of the read messages that are in progress and whose owner is dead.
        consumers_seen: the sessions of the consumers; ``None`` if sessions or their statements are not visible, or if
            the queue belongs to a library.
        workers: the workers of a library, if they were read.
        direct: the figures without a field of their own, keyed by ``QueueFigure.field``.
    """

    layout: Layout
    ready: Figure
    in_progress: Figure
    stuck: Figure
    scheduled: Figure
    dead: Figure
    oldest: Figure
    push_rate: Figure
    pop_rate: Figure
    complete_rate: Figure
    gap: Figure
    fill: Figure
    verdict: Verdict
    forecast: Forecast
    history: Sequence[Point] = ()
    messages: tuple[MessageSample, ...] | None = None
    page: PageSample | None = None
    failures: tuple[ProbeFailure, ...] = ()
    window_s: float | None = None
    pauses: tuple[PauseSample, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    ledger: Ledger | None = None
    verdicts: tuple[Verdict, ...] = ()
    undecided: frozenset[str] = frozenset()
    past: tuple[PastVerdict, ...] = ()
    producers: Figure = _UNKNOWN
    consumers: Figure = _UNKNOWN
    consumers_waiting: Figure = _UNKNOWN
    done: Figure = _UNKNOWN
    blocked: Figure = _UNKNOWN
    blocked_oldest: Figure = _UNKNOWN
    bytes: Figure = _UNKNOWN
    growth: Figure = _UNKNOWN
    counting: float | None = None
    moved: MovedMessages | None = None
    span_s: float | None = None
    use: QueueUse | None = None
    read_at: float | None = None
    blockers: tuple[GroupBlockerSample, ...] = ()
    ownerless: frozenset[str] = frozenset()
    consumers_seen: ClientsSeen | None = None
    workers: tuple[WorkerSample, ...] | None = None
    direct: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.layout.queue

    def figure(self, name: str) -> Figure:
        """Return a figure. ``name``: ``QueueFigure.field``."""
        found: Figure | None = self.direct.get(name)
        return getattr(self, name, _UNKNOWN) if found is None else found

    def is_stuck(self, message: MessageSample) -> bool:
        """Return whether a message has been in progress for longer than the timeout, or its owner is dead."""
        late = message.age_s is not None and message.age_s > self.layout.timeout_s
        return message.state == "in_progress" and (late or message.id in self.ownerless)


@dataclass(frozen=True, slots=True)
class ServerView:
    """The figures of one target: transactions per second, waits, blocked sessions, and the cost of polling.

    Attributes:
        commits: transactions per second, without qmon's transactions.
        sessions: number of sessions, without qmon's sessions.
        budget_share: qmon's server time as a share of its budget; 1.0 is all of it.
        blocking: blocked sessions and their blockers; ``None`` if they could not be read.
        observing: probes throttled to stay within the budget.
        counters: rates of SQL Server's counters.
        version_store: the version store of SQL Server.
        cpu_ms: processor time of qmon's session since the previous poll.
        broker: the queues of Service Broker; ``None`` if there are none.
        standby: age of the rows of a standby; ``None`` for a server that accepts writes.
        state: server health, as last read.
        plans: plans of pops, as last read.
        jobs: the server's jobs that work on the queues.
        blocked: the last reports of sessions that waited for a long time.
        sessions_used: number of sessions of all databases; ``None`` if unknown.
        sessions_limit: limit of ``sessions_used``; ``None`` if unknown.
        outside: problems outside the queues, one sentence each.
        verdicts: the verdicts about the whole target, worst first. The queues have them too.
        undecided: codes of other verdicts about the whole target that are not known to be over.
    """

    commits: Figure
    rollbacks: Figure
    deadlocks: Figure
    sessions: int | None
    waits: tuple[WaitSample, ...] | None
    client_ms: float
    server_ms: float | None
    buffers: int | None
    budget_share: float | None
    in_recovery: bool = False
    blocking: LockChains | None = None
    horizon: tuple[HorizonSample, ...] | None = None
    waiting: Waiting | None = None
    observing: PollingCost | None = None
    counters: CounterRates | None = None
    version_store: VersionStoreSample | None = None
    cpu_ms: int | None = None
    broker: BrokerView | None = None
    standby: Standby | None = None
    state: ServerState | None = None
    plans: tuple[QueuePlans, ...] = ()
    jobs: Jobs | None = None
    blocked: tuple[BlockedReport, ...] = ()
    sessions_used: int | None = None
    sessions_limit: int | None = None
    outside: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    undecided: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class View:
    """All figures of a target after one poll.

    ``sampled_at`` is the time of the poll on the server clock, and ``taken_at`` the time on our monotonic clock.
    ``span_s``: seconds since the previous poll; ``None`` after a break.
    """

    target: str
    engine: str
    server_version: str
    sequence: int
    sampled_at: float
    taken_at: float
    interval_s: float
    server: ServerView
    queues: tuple[QueueView, ...] = ()
    failures: tuple[ProbeFailure, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    span_s: float | None = None

    @property
    def pauses(self) -> tuple[PauseSample, ...]:
        """The pauses in force on all watched queues."""
        return tuple(pause for each in self.queues for pause in each.pauses)

    def only_queues(self, names: Collection[str]) -> View:
        """Return the view with only the named queues, and without Service Broker."""
        kept = tuple(queue for queue in self.queues if queue.name in names)
        return replace(self, queues=kept, server=replace(self.server, broker=None))

    def since_read_s(self, queue: QueueView) -> float:
        """Return the seconds to add to the ages of a queue's figures if it was not read in this poll, else 0."""
        return 0.0 if queue.read_at is None else self.sampled_at - queue.read_at

    def queue(self, name: str) -> QueueView | None:
        """Return the queue with this name, or ``None`` if it is not watched."""
        return next((q for q in self.queues if q.name == name), None)
