"""Reads the server's counters before and after a run, and the waits of sessions in between."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Bound, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.model.layout.layout import Layout
from qmon.model.samples.counter_samples import ServerCounters
from qmon.workload.bench.bench_results import Reads, ServerCounts, Wait
from qmon.workload.bench.bench_site import BenchSite
from qmon.workload.bench.loops import GATE, routine_or_type

_GONE_WITHIN_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class _PostgresReadings:
    """A row of ``readings.sql`` on PostgreSQL."""

    wal: int
    heap: int
    idx: int
    toast: int
    missed: int
    dead: int
    updated: int
    hot: int
    vacuums: int
    bytes: int
    deadlocks: int


@dataclass(frozen=True, slots=True)
class SqlServerReadings:
    """A row of ``readings.sql`` on SQL Server. Totals begin when the server starts or loads the table into memory."""

    wal: int | None
    reads: int
    payload: int
    dead: int
    bytes: int
    allocations: int
    page_latches: int
    page_latch_ms: int
    root_latches: int
    locks: int
    lock_ms: int


@dataclass(frozen=True, slots=True)
class BenchCounters:
    """The server's counters at one time.

    All counters are totals, except ``dead`` (rows) and ``bytes``, which are current values.

    Attributes:
        at_s: time on our monotonic clock, in seconds.
        wal: bytes of log written.
        reads: buffers (SQL Server: pages) read.
        updated: updated rows; ``None`` if the server does not count them.
        hot: rows updated within their page; ``None`` if the server does not count them.
        vacuums: vacuum runs; ``None`` if the server does not count them.
        tables: SQL Server's counters of the queue's tables; ``None`` on other servers.
        server: SQL Server's counters of the whole server; ``None`` on other servers.
    """

    at_s: float
    wal: int | None
    reads: Reads
    dead: int
    bytes: int
    deadlocks: int | None
    updated: int | None = None
    hot: int | None = None
    vacuums: int | None = None
    tables: SqlServerReadings | None = None
    server: ServerCounters | None = None


def read_counters(site: BenchSite, layout: Layout, batch: int) -> BenchCounters:
    """Read the counters. ``batch``: messages per call, which selects the routines that the load calls."""
    many = "" if batch == 1 else "_batch"
    known = {verb: routine_or_type(layout, f"{verb}{many}") for verb in ("push", "pop", "complete")}
    known["table"] = layout.table.parts
    known["data"] = None if layout.data_table is None else layout.data_table.parts
    values: dict[str, Value] = {"schema": site.schema, "gate": GATE}
    statement = site.statement_with("readings", known)
    rows = site.connection.fetch(Bound(statement, {name: values[name] for name in statement.parameters}))
    at_s = time.monotonic()
    if site.engine.name == "postgres":
        (own,) = to_records(_PostgresReadings, rows)
        reads = Reads(own.heap + own.idx + own.toast, own.heap, own.idx, own.toast)
        return BenchCounters(
            at_s, own.wal, reads, own.dead, own.bytes, own.deadlocks, own.updated, own.hot, own.vacuums
        )
    (found,) = to_records(SqlServerReadings, rows)
    probe = queries.load_query(site.engine.name, "probe/server_counters", site.connection.version)
    (server,) = to_records(ServerCounters, site.connection.fetch(Bound(queries.render(probe, {}, site.engine))))
    reads = Reads(found.reads, None, None, found.payload)
    return BenchCounters(at_s, found.wal, reads, found.dead, found.bytes, server.deadlocks, tables=found, server=server)


def growth(before: float | None, after: float | None) -> float | None:
    """Return the growth of a total between two readings; ``None`` if it is unknown or the total was reset."""
    return None if before is None or after is None or after < before else after - before


def server_counts_between(before: BenchCounters, after: BenchCounters, cycles: int) -> ServerCounts | None:
    """Return SQL Server's counts between two readings; ``None`` on another server, or if there was no cycle."""
    if not cycles or before.tables is None or after.tables is None or before.server is None or after.server is None:
        return None

    seconds = after.at_s - before.at_s

    def cycle(name: str, first: object = before.tables, last: object = after.tables) -> float | None:
        found = growth(getattr(first, name), getattr(last, name))
        return None if found is None else found / cycles

    def second(name: str) -> float | None:
        found = growth(getattr(before.server, name), getattr(after.server, name))
        return None if found is None else found / seconds

    return ServerCounts(
        allocations_per_cycle=cycle("allocations"),
        page_latches_per_cycle=cycle("page_latches"),
        page_latch_ms_per_cycle=cycle("page_latch_ms"),
        locks_per_cycle=cycle("locks"),
        lock_ms_per_cycle=cycle("lock_ms"),
        root_latches_per_cycle=cycle("root_latches"),
        page_splits_per_cycle=cycle("page_splits", before.server, after.server),
        log_flush_waits_per_cycle=cycle("log_flush_waits", before.server, after.server),
        transactions_per_s=second("transactions"),
        lock_timeouts_per_s=second("lock_timeouts"),
        batches_per_s=second("batches"),
    )


def wait_until_sessions_end(site: BenchSite) -> None:
    """Wait until no producer or consumer session is left. Every session has then reported its counts."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while time.monotonic() < deadline:
        if site.fetch_rows("sessions", {"prefix": site.load_prefix}) == ((0,),):
            return
        threading.Event().wait(0.02)


class BenchWaitSampler:
    """Sample the waits of the load's sessions on the bench's own connection."""

    def __init__(self, site: BenchSite) -> None:
        self._site = site
        self._seen: Counter[str] = Counter()

    def take_sample(self) -> None:
        """Take one sample."""
        for kind, event, sessions in self._site.fetch_rows("waits", {"prefix": self._site.load_prefix}):
            self._seen[f"{kind}:{event}" if event else str(kind)] += int(str(sessions))

    @property
    def sample_count(self) -> int:
        """Number of session samples so far."""
        return self._seen.total()

    def top_waits(self, number: int = 5) -> tuple[Wait, ...]:
        """Return the most frequent waits, with their share."""
        total = max(1, self.sample_count)
        return tuple(Wait(name, count / total) for name, count in self._seen.most_common(number))
