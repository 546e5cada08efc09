"""View: what the figures are now, derived from the snapshots so far. Screens, commands and verdicts read only this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qmon.model.budget import Observing, Throttled
from qmon.model.figure import Figure, PastVerdict, Verdict
from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause
from qmon.model.rates.counters import CounterRates
from qmon.model.rates.flow import Flow
from qmon.model.rates.forecast import Forecast
from qmon.model.rates.ledger import Ledger
from qmon.model.rates.series import Point
from qmon.model.samples.deadlocks import BlockedReport
from qmon.model.samples.groups import GroupBlockerSample
from qmon.model.samples.horizon import HorizonSample, VersionStoreSample
from qmon.model.samples.jobs import Jobs
from qmon.model.samples.listing import PageSample
from qmon.model.samples.plans import QueuePlans
from qmon.model.samples.polled import MessageSample, WaitSample
from qmon.model.samples.server_state import ServerState
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.blocking import Forest

if TYPE_CHECKING:
    from qmon.model.broker import BrokerView
    from qmon.model.rates.usage import QueueUse
    from qmon.model.standby import Standby
    from qmon.model.waits.waiting import Waiting


_UNKNOWN: Final = Figure()


@dataclass(frozen=True, slots=True)
class QueueView:
    """The figures of one queue. Rates are messages per second over the last window; ``oldest`` is in seconds.

    ``gap``: push position minus pop position (ring), else last issued id minus head id (``gap_kind`` ``id span``).
    ``fill``: share of a ring's slots in use, 0 to 1. ``window_s``: seconds that the rates were measured over.
    ``ownerless``: messages in progress whose owner is dead, as far as they were read.
    ``pauses``: those in force. ``verdict`` is the worst of ``verdicts``, all that hold and do not merely follow from
    another; ``undecided``: codes of others that are not known to be over; ``past``: those raised before, the newest
    first, a bounded number. ``pushers`` and ``poppers`` are sessions
    that are connected; ``poppers_waiting`` run nothing, or wait for a lock or for time to pass.
    ``done``: messages done and not archived; ``bytes`` of tables and indexes, ``growth`` in bytes per second.
    ``counting``: how much of the table the first scan has seen, 0 to 1, where figures are still to come from it.
    ``flow``: what moved since the poll before, where its counters were read without a break; ``span_s``: seconds since
    that poll, ``None`` where something came between. ``read_at``: where it was not this queue's turn, of many, when it
    was read (server clock, seconds since the epoch): ages of figures are as of then. ``blocked``: messages that cannot
    run until something else happens; ``blocked_oldest``: age of the oldest of them, seconds; ``blockers``: their
    blockers. ``page``: of which page ``messages`` are, ``None``: those in
    progress, or at the head.
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
    gap_kind: str = ""
    window_s: float | None = None
    pauses: tuple[Pause, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    ledger: Ledger | None = None
    verdicts: tuple[Verdict, ...] = ()
    undecided: frozenset[str] = frozenset()
    past: tuple[PastVerdict, ...] = ()
    pushers: Figure = _UNKNOWN
    poppers: Figure = _UNKNOWN
    poppers_waiting: Figure = _UNKNOWN
    done: Figure = _UNKNOWN
    blocked: Figure = _UNKNOWN
    blocked_oldest: Figure = _UNKNOWN
    bytes: Figure = _UNKNOWN
    growth: Figure = _UNKNOWN
    counting: float | None = None
    flow: Flow | None = None
    span_s: float | None = None
    use: QueueUse | None = None
    read_at: float | None = None
    blockers: tuple[GroupBlockerSample, ...] = ()
    ownerless: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.layout.queue

    def is_stuck(self, message: MessageSample) -> bool:
        """Whether a message is in progress for longer than the queue's timeout, or its owner is dead."""
        late = message.age_s is not None and message.age_s > self.layout.timeout_s
        return message.state == "in_progress" and (late or message.id in self.ownerless)


@dataclass(frozen=True, slots=True)
class TargetView:
    """The figures of one target: transactions per second, live waits, blocked sessions, and what qmon costs.

    ``blocking``: who waits for whom. ``None``: could not be read.
    ``budget_share``: qmon's server time as a share of its budget, 1.0 is all of it. ``observing``: what is read less
    often to stay within it. ``commits`` and ``sessions``: without qmon's own. ``counters``, ``version_store``: as
    SQL Server has them. ``cpu_ms``: what qmon's own session was on a processor since the poll before.
    ``broker``: the queues of Service Broker, ``None`` where there are none. ``standby``: how old its rows are, ``None``
    for a server that can be written. ``state``: what lies under all queues, and
    ``plans``: by which plans they are popped, both as last read. ``jobs``: those of the server that work on them.
    ``blocked``: the last reports of sessions that waited for long. ``sessions_used`` of ``sessions_limit``: in all
    databases, ``None`` if not known. ``outside``: what is wrong outside of the queues, a sentence each.
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
    blocking: Forest | None = None
    horizon: tuple[HorizonSample, ...] | None = None
    waiting: Waiting | None = None
    observing: Observing | None = None
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


@dataclass(frozen=True, slots=True)
class View:
    """All figures of a target after one poll. ``sampled_at`` is the server's clock, ``taken_at`` our monotonic one.

    ``span_s``: seconds since the poll before, ``None`` where something came between.
    """

    target: str
    engine: str
    server_version: str
    sequence: int
    sampled_at: float
    taken_at: float
    interval_s: float
    server: TargetView
    queues: tuple[QueueView, ...] = ()
    failures: tuple[ProbeFailure, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    span_s: float | None = None

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force, of every queue that is watched."""
        return tuple(pause for each in self.queues for pause in each.pauses)

    def since_read_s(self, queue: QueueView) -> float:
        """Seconds to add to the ages of a queue's figures where it was not its turn in this poll, else 0."""
        return 0.0 if queue.read_at is None else self.sampled_at - queue.read_at

    def queue(self, name: str) -> QueueView | None:
        """The queue of that name, if it is there."""
        return next((q for q in self.queues if q.name == name), None)
