"""Samples of the use of tables, indexes and procedures. Counts are totals since their last reset, never rates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoutineSample:
    """One row per procedure of an installed queue. ``verb``: push or pop."""

    verb: str
    procedure_id: int


@dataclass(frozen=True, slots=True)
class NamingSample:
    """One row per procedure whose text names a table."""

    table_id: int
    procedure_id: int
    schema: str
    name: str


@dataclass(frozen=True, slots=True)
class ReadsSample:
    """One row per procedure. ``executions`` and ``logical_reads`` (pages) are totals of the currently cached plans.

    ``plans``: a number that identifies the plans. A different number means other plans, whose totals started from 0.
    """

    procedure_id: int
    executions: int
    logical_reads: int
    plans: int


@dataclass(frozen=True, slots=True)
class SizeSample:
    """One row per table (``index_id`` 0) or index, with its size in bytes."""

    table_id: int
    index_id: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ProcedureReads:
    """Reads of a queue's procedure so far. ``verb``: push, pop, or empty if it is unknown.

    Other fields are as in ``ReadsSample``.
    """

    queue: str
    verb: str
    procedure_id: int
    executions: int
    logical_reads: int
    plans: int


@dataclass(frozen=True, slots=True)
class TreeSample:
    """One row per index: its id on the server (0 is a heap, 1 is the clustered index) and its used pages."""

    index_id: int
    pages: int


@dataclass(frozen=True, slots=True)
class FragmentSample:
    """One row about one index.

    ``read_at``: server clock, seconds since the epoch. ``pages``: number of leaf pages. ``fragmented``: share of leaf
    pages that are out of order, 0 to 1, or ``None`` if there are no leaf pages.
    """

    read_at: float
    pages: int
    fragmented: float | None


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """Fragmentation of one index. ``index_id`` is as in ``UseSample``: 0 for the table or its clustered index.

    ``unread``: why the fragmentation was not read, else empty. Other fields are as in ``FragmentSample``.
    """

    table_id: int
    index_id: int
    read_at: float | None = None
    fragmented: float | None = None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class UseSample:
    """One row per table or index of a queue. A field is ``None`` if the server does not report it.

    Attributes:
        table_id: the table, as in ``TableFacts``.
        index_id: the index; 0 is the table itself. On SQL Server, the clustered index is the table itself.
        name: the name of the index or table.
        role: ``table``, ``primary``, ``unique`` or ``index``.
        scans: scans started.
        rows_read: rows (for an index: entries) returned by scans, including dead rows that scans cannot skip yet.
        pages: pages touched, in memory or not.
        own_rows: rows that our session has read since its last poll and that ``rows_read`` will contain after this
            poll; ``None`` if unknown.
        own_pages: like ``own_rows``, but for ``pages``.
        own_scans: like ``own_rows``, but for ``scans``.
        bytes: size.
        latch_waits: waits for a latch on a page of the table or index in memory.
        latch_wait_s: seconds of latch waits.
        lock_waits: waits for a lock on a row or page of the table or index.
        lock_wait_s: seconds of lock waits.
        splits: pages that were split, or allocated because another page was full.
        ghosts: deleted rows that are not removed yet (SQL Server), or dead rows of a table (PostgreSQL).
        forwarded: rows of a heap read through a forwarding pointer because the rows grew (SQL Server).
        io_waits: waits for a page of the table or index to be read or written (SQL Server).
        escalations_tried: attempts of the server to lock the whole table instead of many rows (SQL Server).
        escalations: successful attempts.
        ghosted: deleted rows or entries that stay as ghosts until the server removes them (SQL Server).
        sequential: true if OPTIMIZE_FOR_SEQUENTIAL_KEY is on (SQL Server 2019 and later).
    """

    table_id: int
    index_id: int
    name: str
    role: str
    scans: int | None
    rows_read: int | None
    pages: int | None
    own_rows: int | None
    own_pages: int | None
    bytes: int | None
    latch_waits: int | None = None
    latch_wait_s: float | None = None
    lock_waits: int | None = None
    lock_wait_s: float | None = None
    splits: int | None = None
    ghosts: int | None = None
    own_scans: int | None = None
    forwarded: int | None = None
    io_waits: int | None = None
    escalations_tried: int | None = None
    escalations: int | None = None
    sequential: bool | None = None
    ghosted: int | None = None


@dataclass(frozen=True, slots=True)
class OwnUse:
    """One row per table or index: the reads of our own session.

    The server's totals do not include these scans, rows and pages yet.
    """

    table_id: int
    index_id: int
    scans: int
    rows_read: int
    pages: int


@dataclass(frozen=True, slots=True)
class TableCounterSample:
    """One row per table or index of a queue (SQL Server). A ``UseSample`` and a ``CounterSample`` are made from it.

    If the table does not exist, there is one row, and its ``index_id`` is ``None``. Counts are ``None`` if the server
    has counted nothing since it loaded the table's metadata.
    """

    table_id: int
    index_id: int | None
    name: str | None
    role: str
    scans: int | None
    bytes: int | None
    latch_waits: int | None
    latch_wait_s: float | None
    lock_waits: int | None
    lock_wait_s: float | None
    splits: int | None
    forwarded: int | None
    io_waits: int | None
    ghosted: int | None
    escalations_tried: int | None
    escalations: int | None
    sequential: bool | None
    inserted: int | None
    updated: int | None
    deleted: int | None
    live: int | None
    files: int | None
    partitions: int | None
    altered: int | None
    called: str | None
    readable: bool


@dataclass(frozen=True, slots=True)
class StatisticsSample:
    """One row per table: the statistics on which plans are based.

    Attributes:
        estimated_rows: rows of the table when the statistics were last updated; ``None`` if they were never updated.
        rows: current number of rows according to the server.
        modified: rows changed since the last update of the statistics.
        updated_at: time of the last update of the statistics, seconds since the epoch.
        updates: number of updates of the statistics so far; ``None`` if the server does not count updates.
    """

    table_id: int
    estimated_rows: int | None
    rows: int
    modified: int
    updated_at: float | None
    updates: int | None
