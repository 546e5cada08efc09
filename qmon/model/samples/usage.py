"""Samples of how tables, indexes and procedures are used. Totals since the server last reset them, never rates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoutineSample:
    """One row a procedure of an installed queue. ``verb``: push or pop."""

    verb: str
    procedure_id: int


@dataclass(frozen=True, slots=True)
class NamingSample:
    """One row a procedure whose text names a table."""

    table_id: int
    procedure_id: int
    schema: str
    name: str


@dataclass(frozen=True, slots=True)
class ReadsSample:
    """One row a procedure. ``executions`` and ``logical_reads`` (pages) are totals of the plans that are cached now.

    ``plans``: another number means other plans, whose totals have begun anew.
    """

    procedure_id: int
    executions: int
    logical_reads: int
    plans: int


@dataclass(frozen=True, slots=True)
class SizeSample:
    """One row a table (``index_id`` 0) or index of it, with its size in bytes."""

    table_id: int
    index_id: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ProcedureReads:
    """What a procedure of a queue has read so far. ``verb``: push, pop, or empty where its name does not say.

    The rest is as in ``ReadsSample``.
    """

    queue: str
    verb: str
    procedure_id: int
    executions: int
    logical_reads: int
    plans: int


@dataclass(frozen=True, slots=True)
class TreeSample:
    """One row an index: its number as the server counts (0 a heap, 1 the clustered index), and its pages in use."""

    index_id: int
    pages: int


@dataclass(frozen=True, slots=True)
class FragmentSample:
    """One row, about one index. ``read_at``: the server's clock, seconds since the epoch; ``pages``: leaf pages;

    ``fragmented``: the share of these that are out of order, 0 to 1, ``None`` where there are none.
    """

    read_at: float
    pages: int
    fragmented: float | None


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """What is known of one index. ``index_id``: as in ``UseSample``, 0 the table or its clustered index.

    ``unread``: why it is not read, else empty; the rest is as in ``FragmentSample``.
    """

    table_id: int
    index_id: int
    read_at: float | None = None
    fragmented: float | None = None
    unread: str = ""


@dataclass(frozen=True, slots=True)
class UseSample:
    """One row a table or index of a queue; ``None``: this server does not say.

    Attributes:
        table_id: the table, as in ``TableFacts``.
        index_id: the index; 0 is the table itself. On SQL Server the clustered index is the table: it is 0, too.
        name: the index's name; the table's own for the table.
        role: ``table``, ``primary``, ``unique`` or ``index``.
        scans: scans begun.
        rows_read: rows (of an index: entries) that scans have returned, dead ones included that no scan may skip yet.
        pages: pages touched, in memory or not.
        own_rows: of ``rows_read`` what our own session has read since its last poll and hands in after this one;
            ``None``: nobody knows.
        own_pages: the same of ``pages``.
        own_scans: the same of ``scans``.
        bytes: its size.
        latch_waits: waits for a latch on one of its pages in memory.
        latch_wait_s: seconds waited for these.
        lock_waits: waits for a lock on one of its rows or pages.
        lock_wait_s: seconds waited for these.
        splits: pages split, or allocated because one was full.
        ghosts: rows deleted that still lie there (SQL Server); of a PostgreSQL table dead rows.
        forwarded: rows of a heap read by way of where they were before they grew (SQL Server).
        io_waits: waits for one of its pages to be read or written (SQL Server).
        escalations_tried: times that the server tried to lock the whole table in place of many rows (SQL Server).
        escalations: times that it did.
        ghosted: rows or entries deleted that stay as ghosts until the server removes them (SQL Server).
        sequential: whether OPTIMIZE_FOR_SEQUENTIAL_KEY is on (SQL Server 2019 and later).
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
class TableCounterSample:
    """One row a table or index of a queue on SQL Server: what a ``UseSample`` and a ``CounterSample`` are made of.

    ``index_id``: ``None`` in the only row where there is no such table. What is counted is ``None`` where the server
    has counted nothing of it since it took it into memory.
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
    """One row a table: the statistics that its plans are made by.

    ``estimated_rows``: rows the table had when they were last updated, ``None``: never; ``rows``: rows it has now, as
    the server counts them; ``modified``: rows changed since; ``updated_at``: when, seconds since the epoch;
    ``updates``: how often so far, ``None`` where the server does not count.
    """

    table_id: int
    estimated_rows: int | None
    rows: int
    modified: int
    updated_at: float | None
    updates: int | None
