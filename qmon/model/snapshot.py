"""Snapshot: all samples of one poll of one target, with failures. Everything else is derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from qmon.model.budget import Observing
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout
from qmon.model.samples.broker import Broker
from qmon.model.samples.clients import ClientSample
from qmon.model.samples.counters import ServerCounters
from qmon.model.samples.deadlocks import BlockedReport, Circle
from qmon.model.samples.groups import BlockedMessages, StepTotals
from qmon.model.samples.horizon import HorizonSample, VersionStoreSample
from qmon.model.samples.jobs import Jobs
from qmon.model.samples.listing import PageSample
from qmon.model.samples.messages import NO_DIAGNOSTICS, MessageDiagnostics
from qmon.model.samples.plans import QueuePlans
from qmon.model.samples.polled import (
    BlockingSample,
    CostSample,
    CounterSample,
    DepthSample,
    HeadSample,
    HeldSample,
    MessageSample,
    OperatedSample,
    PauseSample,
    ProgressSample,
    RingSample,
    ServerSample,
    StrangeStates,
    WaitSample,
    WriterSample,
)
from qmon.model.samples.server_state import ServerState
from qmon.model.samples.usage import Fragmentation, ProcedureReads, StatisticsSample, UseSample
from qmon.model.samples.waits import LatchSample, WaitTotals

# The name of the failure for sessions of others that are not visible, or are only partly visible.
SESSIONS_PROBE: Final = "sessions"


@dataclass(frozen=True, slots=True)
class ProbeFailure:
    """A probe that gave nothing this time. ``queue`` is empty for a probe of the whole target.

    ``grant``: the statement that would help where a permission is missing, else empty. ``gone``: not this reading
    alone, the queue itself cannot be seen (without a queue: the registry that names them).
    """

    probe: str
    reason: str
    queue: str = ""
    grant: str = ""
    gone: bool = False

    @property
    def words(self) -> str:
        """The reason, and what would help."""
        return f"{self.reason}; {self.grant}" if self.grant and self.grant not in self.reason else self.reason


@dataclass(frozen=True, slots=True)
class QueueSamples:
    """The samples of one queue in one poll; ``None`` or empty where the probe does not apply, is not due, or failed.

    ``last_id``: last id issued. ``head_limit``: how many ready rows the head probe could have counted, or how many
    numbers behind a position of a ring were read. ``held``: ``None`` where nothing tells which rows
    transactions hold; ``held_counted``: these rows are among those that the head and the count see; ``locked``:
    the same, also of a queue with a state while its head does not move. ``longest_first``: the progress probe saw
    the longest-running rows. ``in_progress_ids``: ids in progress of a table without a start time. ``depth``: the
    ready rows as the server counts them. ``count``: the newest count of the whole table, however old; while there is
    none and one is needed, ``counting`` is how much of the table has been seen, 0 to 1. ``unknown`` maps a figure to
    the reason why this layout cannot have it. ``left_out``: probes that were due and not read in this poll, to stay
    within the budget. ``partial``: why our role may see only a part of the rows, else empty.
    ``held_at``, ``scheduled_at``, ``dead_at``, ``blocked_at``: when these were read, and ``sized_at``: when the sizes
    in ``uses`` were, server clock, seconds; ``None``: in this poll.
    ``unread``: of many queues it was not this one's turn. Of a queue of a group: ``done`` messages, ``totals`` of what
    moved, and its ``workers`` if they are known.
    ``page``: of which page ``messages`` are, ``None``: those in progress, or at the head.
    ``strange``: messages in states that qmon does not know.
    ``elsewhere``: why the counters, sequences and sessions of the queue are not here (a standby), else empty.
    """

    layout: Layout
    counters: CounterSample | None = None
    data_counters: CounterSample | None = None
    last_id: int | None = None
    head: HeadSample | None = None
    head_limit: int = 0
    held: tuple[HeldSample, ...] | None = ()
    held_at: float | None = None
    held_counted: bool = True
    locked: tuple[HeldSample, ...] = ()
    progress: ProgressSample | None = None
    longest_first: bool = False
    in_progress_ids: tuple[str, ...] | None = None
    scheduled: int | None = None
    scheduled_at: float | None = None
    dead: int | None = None
    dead_at: float | None = None
    blocked: BlockedMessages | None = None
    blocked_at: float | None = None
    sized_at: float | None = None
    done: int | None = None
    totals: StepTotals | None = None
    workers: int | None = None
    ring: RingSample | None = None
    depth: DepthSample | None = None
    count: TableCount | None = None
    counting: float | None = None
    messages: tuple[MessageSample, ...] | None = None
    page: PageSample | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    diagnostics: MessageDiagnostics = NO_DIAGNOSTICS
    left_out: tuple[str, ...] = ()
    partial: str = ""
    elsewhere: str = ""
    unread: bool = False
    strange: StrangeStates | None = None

    @property
    def waiting(self) -> int | None:
        """The ready, scheduled and blocked messages of a group's queue, if all were counted in this poll."""
        counted_now = self.head is not None and self.scheduled_at is None and self.blocked_at is None
        if self.layout.part is None or self.head is None or not counted_now:
            return None
        return self.head.counted + (self.scheduled or 0) + (self.blocked.counted if self.blocked is not None else 0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One poll of one target.

    ``sequence`` counts the polls of one poller from 1. ``sampled_at`` is the server's clock (seconds since the epoch)
    as the poll began, ``taken_at`` our monotonic clock (seconds) as it ended. ``client_ms``: wall time of the whole
    poll here; ``server_ms``: time from its first to its last statement on the server's clock; ``buffers``: pages that
    our own session touched since the poll before, ``None`` where the server does not say.
    ``blocking``: who waits for whom.
    ``pauses``: those in force; none where the database records none. ``operated``: what operations of qmon have changed
    lately, ``None``: the database records none, or they were not read. ``observing``: what watching costs, and what is
    read less often for that. ``server_counters``, ``version_store``: as SQL Server has them. ``cpu_ms``: milliseconds
    that our own session was on a processor since the poll before; ``None`` where the server does not say.
    ``procedures``: what those of the queues have read; ``None`` where it was not asked in this poll. ``fragments``: how
    far their indexes are fragmented, as last read; ``plans``: by which plans they are popped, where that was read since
    the poll before; ``jobs``: which jobs of the server work on them; ``blocked``: the
    last reports of sessions that waited for long, the newest first. ``first``: the first poll over its connection.
    ``every_s``: seconds between readings of a queue that nobody looks at; 0: it is read in each poll.
    ``server_state``: what lies under all queues, as last read.
    """

    target: str
    engine: str
    server_version: str
    sequence: int
    sampled_at: float
    taken_at: float
    client_ms: float
    server_ms: float | None
    buffers: int | None
    interval_s: float
    server: ServerSample
    queues: tuple[QueueSamples, ...] = ()
    waits: tuple[WaitSample, ...] | None = None
    blocking: tuple[BlockingSample, ...] | None = None
    writers: tuple[WriterSample, ...] | None = None
    cost: CostSample | None = None
    pauses: tuple[PauseSample, ...] = ()
    operated: tuple[OperatedSample, ...] | None = None
    failures: tuple[ProbeFailure, ...] = ()
    waits_total: WaitTotals | None = None
    latches: tuple[LatchSample, ...] | None = None
    uses: tuple[UseSample, ...] | None = None
    statistics: tuple[StatisticsSample, ...] | None = None
    horizon: tuple[HorizonSample, ...] | None = None
    circles: tuple[Circle, ...] = ()
    clients: tuple[ClientSample, ...] | None = None
    observing: Observing | None = None
    server_counters: ServerCounters | None = None
    version_store: VersionStoreSample | None = None
    cpu_ms: int | None = None
    procedures: tuple[ProcedureReads, ...] | None = None
    fragments: tuple[Fragmentation, ...] = ()
    plans: tuple[QueuePlans, ...] = ()
    jobs: Jobs | None = None
    blocked: tuple[BlockedReport, ...] = ()
    broker: Broker | None = None
    server_state: ServerState | None = None
    first: bool = False
    every_s: float = 0.0
