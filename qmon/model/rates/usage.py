"""Use: what a pop costs a queue's tables and indexes, from two polls' totals. Pure functions and their records.

Under a pinned horizon dead rows stay in the table and in its indexes, and every scan that looks for the head passes
them again: rows touched per pop grow with each message popped, until whoever holds the horizon lets go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qmon.model.figure import Figure
from qmon.model.samples.usage import UseSample

# A table's id, and an index's, 0 for the table itself.
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PopWork:
    """What was done to one table or index in some time. ``None``: not known. Times in seconds, the rest counts."""

    scans: int | None = None
    rows: int | None = None
    pages: int | None = None
    latch_waits: int | None = None
    lock_waits: int | None = None
    splits: int | None = None
    forwarded: int | None = None
    # What qmon itself read is known, and left out.
    ours: bool = True
    io_waits: int | None = None
    escalations_tried: int | None = None
    escalations: int | None = None
    ghosted: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether nothing that is known was done."""
        return not (
            self.scans or self.rows or self.pages or self.latch_waits or self.lock_waits or self.splits or self.ghosted
        )


@dataclass(frozen=True, slots=True)
class IndexUse:
    """One table or index now. ``role``: ``table``, ``primary``, ``unique`` or ``index``; rates are per second.

    ``growth``: bytes per second over the last minutes; ``id``: the index as the server knows it, 0 the table.
    ``forwarded``: rows of a heap read by way of where they were before they grew (SQL Server).
    ``fragmented``: share of its pages that are out of order, 0 to 1, ``fragmented_s``: seconds since that was read,
    ``unread``: why it is not (SQL Server). ``io_waits``: waits for a page to be read or written; ``escalations_tried``
    and ``escalations``: locks of rows that were to become one of the whole table, and that did; ``ghosted``: rows or
    entries deleted that stay as ghosts until the server removes them; ``sequential``: whether
    OPTIMIZE_FOR_SEQUENTIAL_KEY is on (SQL Server).
    """

    name: str
    role: str
    bytes: int | None
    growth: float | None
    ghosts: int | None
    scans: float | None
    rows: float | None
    pages: float | None
    latch_waits: float | None
    lock_waits: float | None
    splits: float | None
    id: int = 0
    forwarded: float | None = None
    fragmented: float | None = None
    fragmented_s: float | None = None
    unread: str = ""
    io_waits: float | None = None
    escalations_tried: float | None = None
    escalations: float | None = None
    sequential: bool | None = None
    ghosted: float | None = None


@dataclass(frozen=True, slots=True)
class QueueUse:
    """The tables and indexes of one queue now.

    Attributes:
        rows_per_pop: rows and index entries that scans returned, for each message popped.
        pages_per_pop: pages touched, for each message popped.
        before: rows per pop at the median of the ten minutes before the horizon's oldest holder began; ``None``:
            nobody watched then.
        hot_share: share of the updates that stayed on their page and touched no index, 0 to 1 (PostgreSQL).
        dead: dead rows that still lie in the tables.
        trend: rows per pop so far, the oldest first, a value every few seconds; ``None`` where nothing was popped.
        parts: the tables and their indexes.
        analyzed: how often the table's statistics were updated in the last 20 seconds.
        reads_per_pop: pages touched by each call of a procedure that pops (SQL Server); ``None``: not this server.
        sized_at: when the sizes were read, the first of them, server clock, seconds.
    """

    rows_per_pop: Figure
    pages_per_pop: Figure
    before: float | None
    hot_share: Figure
    dead: int | None
    trend: Sequence[float | None]
    parts: tuple[IndexUse, ...]
    analyzed: int = 0
    reads_per_pop: Figure | None = None
    sized_at: float = 0.0

    @property
    def touched(self) -> Figure:
        """What a pop touches: rows, or where the server counts none, pages read by the procedure that pops."""
        return self.rows_per_pop if self.reads_per_pop is None else self.reads_per_pop

    @property
    def ghosted(self) -> float | None:
        """Rows and index entries that become ghosts, per second (SQL Server); ``None``: not known."""
        known = [part.ghosted for part in self.parts if part.ghosted is not None]
        return sum(known) if known else None

    @property
    def touches(self) -> str:
        """What ``touched`` counts."""
        return "rows touched" if self.reads_per_pop is None else "logical reads"


def work_between(before: UseSample, now: UseSample, polls: int = 1) -> PopWork | None:
    """What was done between two samples of one table or index by others than us; ``None`` after a reset.

    ``polls``: how many polls the two are apart. Where there are some between, each is taken to have read as much as the
    first.
    """
    scans = _less(now.scans, before.scans)
    rows = _less(now.rows_read, before.rows_read)
    pages = _less(now.pages, before.pages)
    latch_waits = _less(now.latch_waits, before.latch_waits)
    lock_waits = _less(now.lock_waits, before.lock_waits)
    splits = _less(now.splits, before.splits)
    forwarded = _less(now.forwarded, before.forwarded)
    io_waits = _less(now.io_waits, before.io_waits)
    tried = _less(now.escalations_tried, before.escalations_tried)
    escalations = _less(now.escalations, before.escalations)
    ghosted = _less(now.ghosted, before.ghosted)
    counts = (scans, rows, pages, latch_waits, lock_waits, splits, forwarded, io_waits, tried, escalations, ghosted)
    if any(count is not None and count < 0 for count in counts):
        return None
    known = before.own_rows is not None and before.own_pages is not None and polls == 1
    scans = None if scans is None else max(0, scans - polls * (before.own_scans or 0))
    rows = None if rows is None else max(0, rows - polls * (before.own_rows or 0))
    pages = None if pages is None else max(0, pages - polls * (before.own_pages or 0))
    return PopWork(
        scans=scans,
        rows=rows,
        pages=pages,
        latch_waits=latch_waits,
        lock_waits=lock_waits,
        splits=splits,
        forwarded=forwarded,
        ours=known,
        io_waits=io_waits,
        escalations_tried=tried,
        escalations=escalations,
        ghosted=ghosted,
    )


def works_between(
    before: Mapping[Key, UseSample], now: Mapping[Key, UseSample], polls: int = 1
) -> dict[Key, PopWork] | None:
    """The same of all tables and indexes of a queue that both polls have; ``None`` after a reset of any of them."""
    found: dict[Key, PopWork] = {}
    for key in before.keys() & now.keys():
        work = work_between(before[key], now[key], polls)
        if work is None:
            return None
        found[key] = work
    return found


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before
