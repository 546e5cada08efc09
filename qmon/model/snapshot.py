"""Snapshot: all samples and failures of one poll of one target. All other figures are derived from snapshots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.model.cost_budget import PollingCost
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout
from qmon.model.samples.broker_samples import Broker
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.counter_samples import ServerCounters
from qmon.model.samples.deadlock_samples import BlockedReport, Circle
from qmon.model.samples.group_samples import BlockedMessages, StepTotals, WorkerSample
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.job_samples import Jobs
from qmon.model.samples.listing_samples import PageSample
from qmon.model.samples.message_samples import NO_DIAGNOSTICS, MessageDiagnostics
from qmon.model.samples.plan_samples import QueuePlans
from qmon.model.samples.polled_samples import (
    BlockingSample,
    CounterSample,
    DepthSample,
    HeadSample,
    HeldSample,
    KeptValue,
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
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.samples.usage_samples import Fragmentation, ProcedureReads, StatisticsSample, UseSample
from qmon.model.samples.wait_samples import LatchSample, WaitTotals

# Probe name of the failure that is recorded if our role cannot see all other sessions completely.
SESSIONS_PROBE: Final = "sessions"


@dataclass(frozen=True, slots=True)
class ProbeFailure:
    """A probe that returned nothing in this poll.

    Attributes:
        reason: why the probe failed, without the grant.
        queue: empty for a probe of the whole target.
        grant: the statement that gives a missing permission, else empty.
        gone: true if no probe can read the queue. If ``queue`` is empty, the registry of queue names cannot be read.
    """

    probe: str
    reason: str
    queue: str = ""
    grant: str = ""
    gone: bool = False

    @property
    def text(self) -> str:
        """The reason, followed by the grant that fixes it."""
        return f"{self.reason}; {self.grant}" if self.grant else self.reason


@dataclass(frozen=True, slots=True)
class QueueSamples:
    """The samples of one queue in one poll.

    A field is ``None`` or empty if its probe does not apply, was not due or failed.
    Fields ending in ``_at`` are seconds since the epoch on the server clock, or ``None`` if read in this poll.

    Attributes:
        last_id: last id issued.
        head_limit: maximum number of ready rows that the head probe counts. For a ring, the maximum number of slots
            that the probe reads after a position.
        held: rows locked by transactions; ``None`` if the server does not show which rows transactions hold.
        held_at: when ``held`` was read.
        held_counted: true if the head and the count of ready rows include the rows in ``held``.
        locked: like ``held``, but also read for a queue with states while its first message does not change.
        longest_first: true if the progress probe has read the longest-running rows.
        in_progress_ids: ids of messages in progress, if the table has no start time.
        scheduled_at: when ``scheduled`` was read.
        dead_at: when ``dead`` was read.
        blocked_at: when ``blocked`` was read.
        sized_at: when the sizes in ``uses`` were read.
        done: done messages of a group's queue.
        totals: messages moved in a group's queue.
        workers: number of workers of a group's queue, if known.
        worker_list: the workers of a group's queue, if they were read.
        depth: number of ready rows according to the server.
        count: the newest count of the whole table, even if it is old.
        counting: share of the table already counted (0 to 1), while the first count runs and figures need it.
        page: the page that contains ``messages``; ``None`` if ``messages`` are in progress or next to be popped.
        unknown: figure → why this layout cannot have the figure.
        left_out: probes that were due but skipped to stay within the budget.
        partial: why our role may see only some of the rows, else empty.
        elsewhere: why this server does not have the queue's counters, sequences and sessions (the server is a standby),
            else empty.
        unread: true if the queue was not read in this poll, because queues take turns.
        strange: messages in states that qmon does not know.
        strange_at: when the table was searched for unknown states, if not in this poll; server clock, seconds.
        strange_every_s: seconds between two such searches, if they depend on their cost.
        values: the figures that a probe reads directly, as last read.
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
    worker_list: tuple[WorkerSample, ...] | None = None
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
    strange_at: float | None = None
    strange_every_s: float = 0.0
    values: Mapping[str, KeptValue] = field(default_factory=dict)

    def depends_on_strange(self, figure: str) -> bool:
        """Return whether a figure is unknown because of messages in unknown states."""
        if self.strange is None or figure not in self.unknown:
            return False
        return self.strange.hides is None or figure in self.strange.hides

    @property
    def waiting_count(self) -> int | None:
        """The number of ready, scheduled and blocked messages of a group's queue, if all were counted in this poll."""
        counted_now = self.head is not None and self.scheduled_at is None and self.blocked_at is None
        if self.layout.part is None or self.head is None or not counted_now:
            return None
        return self.head.counted + (self.scheduled or 0) + (self.blocked.counted if self.blocked is not None else 0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One poll of one target.

    Attributes:
        sequence: number of the poll, counted by its poller from 1.
        sampled_at: server clock at the start of the poll, seconds since the epoch.
        taken_at: our monotonic clock at the end of the poll, seconds.
        client_ms: duration of the whole poll on our clock.
        server_ms: time from the first to the last statement of the poll on the server clock.
        buffers: pages that our session touched since the previous poll; ``None`` if the server does not report it.
        blocking: blocked sessions and their blockers.
        pauses: pauses in force; empty if the database records none.
        operated: recent changes by qmon's operations; ``None`` if the database records no changes, or they were not
            read.
        observing: cost of polling, and throttled probes.
        server_counters: counters of SQL Server.
        version_store: the version store of SQL Server.
        cpu_ms: processor time of our session since the previous poll; ``None`` if the server does not report it.
        procedures: reads of the queues' procedures; ``None`` if they were not read in this poll.
        fragments: fragmentation of the queues' indexes, as last read.
        plans: plans of pops, if read since the previous poll.
        jobs: the server's jobs that work on the queues.
        blocked: last reports of sessions that waited for a long time, newest first.
        server_state: server health, as last read.
        first: true if this is the first poll over its connection.
        every_s: seconds between readings of a queue that no screen shows; 0 if every poll reads all queues.
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
    pauses: tuple[PauseSample, ...] = ()
    operated: tuple[OperatedSample, ...] | None = None
    failures: tuple[ProbeFailure, ...] = ()
    waits_total: WaitTotals | None = None
    latches: tuple[LatchSample, ...] | None = None
    uses: tuple[UseSample, ...] | None = None
    statistics: tuple[StatisticsSample, ...] | None = None
    horizon: tuple[HorizonSample, ...] | None = None
    circles: tuple[Circle, ...] = ()
    clients: tuple[ProgramSessionSample, ...] | None = None
    observing: PollingCost | None = None
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

    def only_queues(self, names: Collection[str]) -> Snapshot:
        """Return the poll with only the named queues and their failed probes, and without Service Broker."""
        return replace(
            self,
            queues=tuple(samples for samples in self.queues if samples.layout.queue in names),
            failures=tuple(failure for failure in self.failures if not failure.queue or failure.queue in names),
            broker=None,
        )
