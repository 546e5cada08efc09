"""Samples of waits, the same for both engines: totals that only grow, and sessions that wait for a latch now.

SQL Server counts every finished wait. PostgreSQL counts none. There qmon repeatedly samples what sessions wait for, and
adds up the samples. Both results are seconds that sessions have waited since a certain time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WaitSource(StrEnum):
    """The origin of the totals."""

    # Every wait is counted by the server.
    COUNTED = "counted"
    # Sessions are sampled between polls. Fewer samples mean lower precision.
    SAMPLED = "sampled"


@dataclass(frozen=True, slots=True)
class WaitTotal:
    """One row per wait.

    Attributes:
        kind: class of the wait (``Lock``, ``LWLock``, ``IO``; on SQL Server ``wait`` or ``latch``).
        event: the name of the wait; empty if sessions were running on a processor instead.
        waits: number of finished waits; ``None`` if they are not counted.
        waited_s: seconds that all sessions together have spent in it.
        signal_s: part of ``waited_s`` spent waiting for a processor after the wait itself; ``None``: unknown.
    """

    kind: str
    event: str
    waits: int | None
    waited_s: float
    signal_s: float | None = None


@dataclass(frozen=True, slots=True)
class WaitTotals:
    """All totals from one reading.

    Attributes:
        since_at: start of counting, seconds since the epoch, server clock. A different value means a reset.
        watched_s: seconds that the totals cover. Counted totals: since that start. Sampled totals: the time that the
            samples represent.
        samples: number of samples so far; ``None`` if the server counts.
    """

    source: WaitSource
    since_at: float
    watched_s: float
    waits: tuple[WaitTotal, ...]
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class LatchSample:
    """One row per session that waits for a latch on a page, and per table or index that the page may belong to.

    Attributes:
        index_id: 0 for the table itself; ``None``: unknown which index.
        page: its number in the file as the server writes it, else empty.
        waiting_s: ``None`` if the server does not report it.
    """

    session: int
    event: str
    waiting_s: float | None
    table_id: int | None
    index_id: int | None
    page: str
    application: str
    statement: str


@dataclass(frozen=True, slots=True)
class PageOwnerSample:
    """One row: the table and index that a page belongs to (SQL Server). ``page`` and ``index_id``: see ``LatchSample``.

    ``table_id`` and ``index_id`` are ``None`` if the page belongs to none.
    """

    page: str
    table_id: int | None
    index_id: int | None
