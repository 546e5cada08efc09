"""The results of a bench."""

from __future__ import annotations

from dataclasses import dataclass, field

from qmon.engines.base import EngineName
from qmon.workload.bench.bench_plan import REFERENCE, BenchPlan, Case


@dataclass(frozen=True, slots=True)
class Latency:
    """The duration of an operation inside the server, including its commit, in milliseconds."""

    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait of the load's sessions, as a share (0 to 1) of all samples. ``CPU``: sessions that run or could run."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class ServerCounts:
    """SQL Server's counters over a whole load, including the warm-up. ``None``: unknown, or reset during the load.

    Counters that end in ``_per_cycle`` are about the queue's tables, except for the last three.

    Attributes:
        allocations_per_cycle: pages allocated because a page was full, including page splits.
        page_latches_per_cycle: waits for a latch on a page in memory; ``page_latch_ms_per_cycle``: milliseconds waited.
        locks_per_cycle: waits for a lock on a row or page; ``lock_ms_per_cycle``: milliseconds waited.
        root_latches_per_cycle: waits of the whole server for the latch on the root of a tree
            (ACCESS_METHODS_HOBT_VIRTUAL_ROOT).
        page_splits_per_cycle: page splits of the whole server, including pages added at the end of an index.
        log_flush_waits_per_cycle: commits of the database that waited for the log.
        transactions_per_s: transactions that began in the database.
        lock_timeouts_per_s: lock timeouts of the whole server, including requests that did not wait.
        batches_per_s: batches received by the whole server; the load sends four per second for each session.
    """

    allocations_per_cycle: float | None
    page_latches_per_cycle: float | None
    page_latch_ms_per_cycle: float | None
    locks_per_cycle: float | None
    lock_ms_per_cycle: float | None
    root_latches_per_cycle: float | None
    page_splits_per_cycle: float | None
    log_flush_waits_per_cycle: float | None
    transactions_per_s: float | None
    lock_timeouts_per_s: float | None
    batches_per_s: float | None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one run under load.

    Attributes:
        cycles_per_s: messages pushed and popped (and completed, if the design completes messages) per second. A pop
            that finds no message is not counted.
        pushed_per_s: messages pushed per second.
        buffers_per_cycle: buffers of tables, indexes, payloads and sequences read for one cycle; on SQL Server, pages
            read by the design's procedures.
        wal_per_cycle: bytes of log that the server (SQL Server: the database) wrote for one cycle, including the log of
            other sessions.
        waits: the waits of the sessions, most frequent first.
        samples: number of session samples behind ``waits``.
        dead_rows: dead rows (PostgreSQL) or ghost rows (SQL Server) in the queue's table at the end.
        hot_share: share of the updates that stayed within their page and changed no index; ``None`` without updates.
        vacuums: number of vacuum runs during the load; ``None`` on SQL Server.
        bytes: size of the queue's tables and indexes at the end.
        deadlocks: deadlocks in the whole database during the load.
        missed: number of pushes into a full ring, plus number of pops that found no message.
        errors: number of failed operations, for example because of a deadlock; on PostgreSQL, the number of failed
            slices. For a design that does not complete messages, loops over single messages do not count the work of a
            failed slice.
        timeline: cycles per second, one figure for each slice.
        slice_s: length of a slice in seconds.
        server: further counters of SQL Server; ``None`` on PostgreSQL.
    """

    case: Case
    seconds: float
    cycles_per_s: float
    pushed_per_s: float
    push: Latency | None
    pop: Latency | None
    complete: Latency | None
    buffers_per_cycle: float | None
    wal_per_cycle: float | None
    waits: tuple[Wait, ...]
    samples: int
    dead_rows: int
    hot_share: float | None
    vacuums: int | None
    bytes: int
    deadlocks: int | None
    missed: int
    errors: int
    last_error: str = ""
    timeline: tuple[float, ...] = field(default=(), repr=False)
    slice_s: float = 0.25
    server: ServerCounts | None = None


@dataclass(frozen=True, slots=True)
class Reads:
    """Buffers (or pages) read: in total, and of tables, indexes, and separately stored payloads with their indexes.

    SQL Server does not distinguish table from index. Its ``payload`` counts the payload pages that were fetched.
    """

    total: float | None
    table: float | None
    index: float | None
    payload: float | None


@dataclass(frozen=True, slots=True)
class Dequeue:
    """Results of the bench's dequeue part for one design and batch size.

    ``first``: reads of the first batches of a new queue. ``whole``: reads of all batches.
    """

    design: str
    batch: int
    rows: int
    first: Reads
    whole: Reads
    batches: int
    mean_ms: float


@dataclass(frozen=True, slots=True)
class Conditions:
    """The server during the bench: its version, and the settings that affect the figures, keyed by name."""

    target: str
    engine: EngineName
    version: str
    settings: dict[str, str]
    # Rounds per second of the empty loop, all sessions together. This is the limit of the measurement itself.
    empty_loops_per_s: float
    # Resolution of the server's clock in microseconds; `None` if it is a microsecond or less.
    clock_step_us: float | None = None


@dataclass(frozen=True, slots=True)
class BenchResults:
    """The report of a whole bench."""

    plan: BenchPlan
    conditions: Conditions
    outcomes: tuple[CaseResult, ...]
    dequeues: tuple[Dequeue, ...]
    # Designs that pop one message at a time. They were left out of the runs with batches.
    without_batches: tuple[str, ...] = ()

    def ratio(self, outcome: CaseResult) -> float | None:
        """Return the rate divided by the rate of ``naive`` in the same part and batch; ``None`` if not measured."""
        return self._ratio_to(outcome, Case(REFERENCE, outcome.case.batch, outcome.case.held))

    def held_share(self, outcome: CaseResult) -> float | None:
        """Return the share of the design's healthy rate that remains while a transaction is held open."""
        if not outcome.case.held:
            return None
        return self._ratio_to(outcome, Case(outcome.case.design, outcome.case.batch, held=False))

    def _ratio_to(self, outcome: CaseResult, other: Case) -> float | None:
        base = next((each.cycles_per_s for each in self.outcomes if each.case == other), 0.0)
        return outcome.cycles_per_s / base if base else None
