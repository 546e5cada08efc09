"""The results of a bench."""

from __future__ import annotations

from dataclasses import dataclass, field

from qmon.engines.base import EngineName
from qmon.workload.bench.cases import REFERENCE, BenchPlan, Case


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that an operation took inside the server, with its commit."""

    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait of the load's sessions, as a share (0 to 1) of all samples; CPU: ran, or could have run."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class ServerCounts:
    """What SQL Server has counted over a whole load, warm-up included. ``None``: it did not tell, or began anew.

    What ends in ``_per_cycle`` is of the queue's tables, but for the last three of them.

    Attributes:
        allocations_per_cycle: pages allocated because one was full, page splits included.
        page_latches_per_cycle: waits for a latch on a page in memory, and the milliseconds waited.
        locks_per_cycle: waits for a lock on a row or page, and the milliseconds waited.
        root_latches_per_cycle: waits for the latch on the root of a tree (ACCESS_METHODS_HOBT_VIRTUAL_ROOT), of the
            whole server.
        page_splits_per_cycle: of the whole server; pages added at the end of an index are among them.
        log_flush_waits_per_cycle: commits of the database that waited for the log.
        transactions_per_s: transactions that began in the database.
        lock_timeouts_per_s: locks of the whole server not to be had in time, those that did not wait included.
        batches_per_s: batches that the whole server received; the load sends four a second for each session.
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
    """One run under load.

    Attributes:
        cycles_per_s: messages pushed and popped (and completed, where the design completes) per second; only pops that
            returned a message count.
        pushed_per_s: messages pushed per second.
        buffers_per_cycle: buffers of tables, indexes, payloads and sequences touched for one cycle; on SQL Server pages
            that the design's procedures have read.
        wal_per_cycle: bytes of log that the server (SQL Server: the database) wrote for one cycle; whoever else writes
            is in it.
        waits: most frequent first.
        samples: samples of sessions that ``waits`` is made of.
        dead_rows: at the end: dead rows of PostgreSQL, ghosts of SQL Server in the queue's table.
        hot_share: of the updates, those within their page that touched no index; ``None`` without updates.
        vacuums: how often a table was vacuumed meanwhile; ``None`` on SQL Server.
        bytes: size at the end.
        deadlocks: in the whole database meanwhile.
        missed: pushes into a full ring and pops that found nothing.
        errors: operations that failed, as by a deadlock. On PostgreSQL slices that ended so; of loops over single
            messages without complete, what such a slice had done is not counted.
        timeline: cycles per second, one figure for each slice.
        slice_s: seconds that each of them stands for.
        server: what SQL Server counts besides; ``None`` on PostgreSQL.
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
    """Buffers, or pages, touched: in all; of tables, indexes, and payloads stored apart (with their indexes).

    SQL Server does not tell table from index; its ``payload`` are the pages of payloads that were fetched.
    """

    total: float | None
    table: float | None
    index: float | None
    payload: float | None


@dataclass(frozen=True, slots=True)
class Dequeue:
    """The dequeue part for one design and batch: ``first`` batches of a fresh queue, and all until it is empty."""

    design: str
    batch: int
    rows: int
    first: Reads
    whole: Reads
    batches: int
    mean_ms: float


@dataclass(frozen=True, slots=True)
class Conditions:
    """The server as it was: its version, and the settings that the figures depend on, by name."""

    target: str
    engine: EngineName
    version: str
    settings: dict[str, str]
    # Rounds per second of the driving loop with nothing in it, all sessions together: the driver's own limit.
    empty_loops_per_s: float
    # Microseconds that the server's clock moves on at a time, so that shorter times are not told apart; `None`: a
    # microsecond at most.
    clock_step_us: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A whole bench."""

    plan: BenchPlan
    conditions: Conditions
    outcomes: tuple[CaseResult, ...]
    dequeues: tuple[Dequeue, ...]
    # Designs that take one message at a time, and were left out of the runs with batches.
    without_batches: tuple[str, ...] = ()

    def ratio(self, outcome: CaseResult) -> float | None:
        """How much faster than ``naive`` in the same part with the same batch; ``None`` where that was not measured."""
        return self._over(outcome, Case(REFERENCE, outcome.case.batch, outcome.case.held))

    def kept(self, outcome: CaseResult) -> float | None:
        """The share of the design's healthy rate that is left while a transaction is held open."""
        if not outcome.case.held:
            return None
        return self._over(outcome, Case(outcome.case.design, outcome.case.batch, held=False))

    def _over(self, outcome: CaseResult, other: Case) -> float | None:
        base = next((each.cycles_per_s for each in self.outcomes if each.case == other), 0.0)
        return outcome.cycles_per_s / base if base else None
