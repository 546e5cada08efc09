"""Use: the cost of a pop on a queue's tables and indexes, computed from the totals of two polls.

While a session holds back the horizon, dead rows stay in the table and its indexes. Every search for the first message
then reads the dead rows again. The rows touched per pop grow with each popped message until the horizon advances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

from qmon.model.figure import Figure
from qmon.model.samples.usage_samples import UseSample

# Table id and index id; index 0 is the table itself.
IndexKey = tuple[int, int]


class PopWork(NamedTuple):
    """Work done on one table or index between two samples.

    All fields are counts. A field is ``None`` if it is unknown.
    """

    scans: int | None = None
    rows: int | None = None
    pages: int | None = None
    # True if qmon's own reads are known and are not included.
    ours: bool = True
    latch_waits: int | None = None
    lock_waits: int | None = None
    splits: int | None = None
    forwarded: int | None = None
    io_waits: int | None = None
    escalations_tried: int | None = None
    escalations: int | None = None
    ghosted: int | None = None

    @property
    def is_empty(self) -> bool:
        """True if no known work was done."""
        return not (
            self.scans or self.rows or self.pages or self.latch_waits or self.lock_waits or self.splits or self.ghosted
        )


@dataclass(frozen=True, slots=True)
class IndexUse:
    """The current use of one table or index. Rates are per second.

    Attributes:
        role: ``table``, ``primary``, ``unique`` or ``index``.
        growth: bytes per second over the last minutes.
        id: id of the index on the server; 0 for the table.
        forwarded: rows of a heap read through a forwarding pointer (SQL Server).
        fragmented: share of the index's pages that are out of order, 0 to 1.
        fragmented_s: seconds since ``fragmented`` was read.
        unread: why ``fragmented`` was not read (SQL Server).
        io_waits: waits for a page to be read or written.
        escalations_tried: attempts to escalate row locks to a table lock.
        escalations: successful escalations.
        sequential: true if OPTIMIZE_FOR_SEQUENTIAL_KEY is on (SQL Server).
        ghosted: deleted rows or entries that stay as ghosts until the server removes them.
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
    """The current use of one queue's tables and indexes.

    Attributes:
        rows_per_pop: rows and index entries that scans return per popped message.
        pages_per_pop: pages touched per popped message.
        before: median of rows per pop over the ten minutes before the oldest holder of the horizon started; ``None`` if
            the queue was not watched at that time.
        hot_share: share of updates that stayed on their page and touched no index, 0 to 1 (PostgreSQL).
        dead: number of dead rows that are still in the tables.
        trend: rows per pop, one value every few seconds, oldest first; a value is ``None`` if no message was popped.
        parts: the tables and their indexes.
        analyzed: how often the table's statistics were updated in the last 20 seconds.
        reads_per_pop: pages touched by each call of a procedure that pops (SQL Server); ``None`` on other servers.
        sized_at: when the first of the sizes was read, server clock, seconds since the epoch.
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
    def touched_per_pop(self) -> Figure:
        """The rows that a pop touches or, if the server does not count rows, the pages that the procedure reads."""
        return self.rows_per_pop if self.reads_per_pop is None else self.reads_per_pop

    @property
    def ghosts_per_s(self) -> float | None:
        """The number of rows and index entries that become ghosts per second (SQL Server), or ``None`` if unknown."""
        known = [part.ghosted for part in self.parts if part.ghosted is not None]
        return sum(known) if known else None

    @property
    def touched_unit(self) -> str:
        """The unit of ``touched_per_pop``."""
        return "rows touched" if self.reads_per_pop is None else "logical reads"


# The counters of a table or index: the fields of `PopWork`, which `IndexUse` has as rates per second.
COUNTED: Final = tuple(name for name in PopWork._fields if name != "ours")
_read_totals: Final = attrgetter(*("rows_read" if name == "rows" else name for name in COUNTED))


def work_between(before: UseSample, now: UseSample, polls: int = 1) -> PopWork | None:
    """Return the work of other sessions on one table or index between two samples, or ``None`` after a reset.

    ``polls``: number of polls from the first sample to the second. qmon is assumed to read as much in each poll as in
    the first poll.
    """
    counts = [
        None if later is None or earlier is None else later - earlier
        for later, earlier in zip(_read_totals(now), _read_totals(before), strict=True)
    ]
    if min([count for count in counts if count is not None], default=0) < 0:
        return None
    scans, rows, pages, *others = counts
    known = before.own_rows is not None and before.own_pages is not None and polls == 1
    scans = None if scans is None else max(0, scans - polls * (before.own_scans or 0))
    rows = None if rows is None else max(0, rows - polls * (before.own_rows or 0))
    pages = None if pages is None else max(0, pages - polls * (before.own_pages or 0))
    return PopWork(scans, rows, pages, known, *others)


def all_work_between(
    before: Mapping[IndexKey, UseSample], now: Mapping[IndexKey, UseSample], polls: int = 1
) -> dict[IndexKey, PopWork] | None:
    """Return the work on all tables and indexes that both polls contain, or ``None`` if any total was reset."""
    found: dict[IndexKey, PopWork] = {}
    for key in before.keys() & now.keys():
        work = work_between(before[key], now[key], polls)
        if work is None:
            return None
        found[key] = work
    return found
