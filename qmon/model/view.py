"""View: what the figures are now, derived from the snapshots so far. Screens, commands and verdicts read only this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final

from qmon.model.budget import Observing, Throttled
from qmon.model.duration import lasting
from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause
from qmon.model.rates.counters import CounterRates
from qmon.model.rates.flow import Flow
from qmon.model.rates.ledger import Ledger
from qmon.model.samples.horizon import HorizonSample, VersionStoreSample
from qmon.model.samples.polled import BlockedSample, MessageSample, WaitSample
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.blocking import Forest

if TYPE_CHECKING:
    from qmon.model.broker import BrokerView
    from qmon.model.rates.usage import QueueUse
    from qmon.model.standby import Standby
    from qmon.model.waits.waiting import Waiting


NOT_READ: Final = "not read in this poll"
_LATE: Final = 1.5
"""What is counted apart from the polls may be so many times as old as its cadence: a count takes time, and has a line
before it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. ``value`` ``None``: unknown (``reason``); ``estimated`` shows as ``~``, ``at_least`` as ``≥``.

    ``age_s``: how much older than the poll the figure is, in seconds (an exact count taken earlier), else 0.
    ``every_s``: how often it is counted where that is apart from the polls, in seconds, else 0. ``old``: older than
    that, or than three polls: shown, and no evidence of anything. ``partial``: our role may see only a part of the
    rows, so that its 0 says nothing.
    """

    value: float | None = None
    estimated: bool = False
    at_least: bool = False
    reason: str = ""
    age_s: float = 0.0
    every_s: float = 0.0
    old: bool = False
    partial: bool = False

    @classmethod
    def unknown(cls, reason: str) -> Figure:
        """A figure that is not known, with the reason."""
        return cls(None, reason=reason)

    def of_a_part(self, reason: str) -> Figure:
        """The same where our role sees a part of the rows only: at least so many. ``reason``: why, one line."""
        return self if self.value is None else replace(self, at_least=True, partial=True, reason=reason)

    def aged(self, limit_s: float) -> Figure:
        """The same, ``old`` where it is older than ``limit_s`` seconds and than its own cadence allows."""
        return replace(self, old=True) if self.age_s > limit_s + _LATE * self.every_s else self

    @property
    def evidence(self) -> Figure:
        """The figure as verdicts and limits may use it: not known where it is old."""
        if not self.old:
            return self
        return Figure.unknown(f"last read {lasting(self.age_s)} ago" + (f": {self.reason}" if self.reason else ""))


class Severity(IntEnum):
    """How much a verdict needs a hand; greater is worse."""

    FINE = 0
    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a queue. ``proof`` is one line made of readings; ``key`` the key that answers it, or empty.

    ``since_at``: when its sign was first seen, seconds since the epoch on the server's clock.
    """

    code: str
    proof: str
    severity: Severity = Severity.FINE
    since_at: float | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """A verdict that was said of a queue and is said no longer. Both moments are seconds since the epoch, server clock.

    ``proof``: the first that was said; ``since_at``: when it was first said.
    """

    code: str
    proof: str
    severity: Severity
    since_at: float
    until_at: float


class Trend(StrEnum):
    """Where the depth goes."""

    DRAINING = "draining"
    GROWING = "growing"
    STEADY = "steady"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Forecast:
    """When it drains: ``seconds`` ± ``band_s`` while draining, ``growth`` in messages/s while growing.

    ``growth_band``: the mean of the minute to come lies within so many messages/s of ``growth``.
    """

    trend: Trend
    seconds: float | None = None
    band_s: float | None = None
    growth: float | None = None
    text: str = ""
    growth_band: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of a queue's history, for plots. Rates in messages per second over the interval that ends here."""

    at: float
    ready: float | None
    push_rate: float | None
    pop_rate: float | None
    complete_rate: float | None
    in_progress: float | None
    oldest_s: float | None


@dataclass(frozen=True, slots=True)
class QueueView:
    """The figures of one queue. Rates are messages per second over the last window; ``oldest`` is in seconds.

    ``gap``: push position minus pop position (ring), else last issued id minus head id (``gap_kind`` ``id span``).
    ``fill``: share of a ring's slots in use, 0 to 1. ``window_s``: seconds that the rates were measured over.
    ``pauses``: those in force. ``verdict`` is the worst of ``verdicts``, all that hold and do not merely follow from
    another; ``past``: those said before, the newest first, a bounded number. ``pushers`` and ``poppers`` are sessions
    that are connected; ``poppers_waiting`` run nothing, or wait for a lock or for time to pass.
    ``done``: messages done and not archived; ``bytes`` of tables and indexes, ``growth`` in bytes per second.
    ``counting``: how much of the table the first scan has seen, 0 to 1, where figures are still to come from it.
    ``flow``: what moved since the poll before, where its counters were read without a break; ``span_s``: seconds since
    that poll, ``None`` where something came between.
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
    failures: tuple[ProbeFailure, ...] = ()
    gap_kind: str = ""
    window_s: float | None = None
    pauses: tuple[Pause, ...] = ()
    shed: tuple[Throttled, ...] = ()
    ledger: Ledger | None = None
    verdicts: tuple[Verdict, ...] = ()
    past: tuple[PastVerdict, ...] = ()
    pushers: Figure = Figure()
    poppers: Figure = Figure()
    poppers_waiting: Figure = Figure()
    done: Figure = Figure()
    bytes: Figure = Figure()
    growth: Figure = Figure()
    counting: float | None = None
    flow: Flow | None = None
    span_s: float | None = None
    use: QueueUse | None = None

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.layout.queue

    def is_stuck(self, message: MessageSample) -> bool:
        """Whether a message is in progress for longer than the queue's timeout."""
        return message.state == "in_progress" and message.age_s is not None and message.age_s > self.layout.timeout_s


@dataclass(frozen=True, slots=True)
class TargetView:
    """The figures of one target: transactions per second, live waits, blocked sessions, and what qmon costs.

    ``blocking``: who waits for whom; ``blocked``: the same as pairs. ``None``: could not be read.
    ``budget_share``: qmon's server time as a share of its budget, 1.0 is all of it. ``observing``: what is read less
    often to stay within it. ``commits``: without qmon's own, and ``sessions``, too. ``counters``, ``version_store``: as
    SQL Server has them. ``cpu_ms``: what qmon's own session was on a processor since the poll before.
    ``broker``: the queues of Service Broker, ``None`` where there are none. ``standby``: how old its rows are, ``None``
    for a server that can be written.
    """

    commits: Figure
    rollbacks: Figure
    deadlocks: Figure
    sessions: int
    waits: tuple[WaitSample, ...] | None
    blocked: tuple[BlockedSample, ...] | None
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


@dataclass(frozen=True, slots=True)
class View:
    """All figures of a target after one poll. ``sampled_at`` is the server's clock, ``taken_at`` our monotonic one."""

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

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force, of every queue that is watched."""
        return tuple(pause for each in self.queues for pause in each.pauses)

    def queue(self, name: str) -> QueueView | None:
        """The queue of that name, if it is there."""
        return next((q for q in self.queues if q.name == name), None)
