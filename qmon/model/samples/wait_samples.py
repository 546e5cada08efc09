"""Samples of waits for both engines: totals that only grow, and sessions that currently wait for a latch.

SQL Server counts every finished wait. PostgreSQL does not count waits, so qmon repeatedly samples the waits of sessions
and adds up the samples. Both methods return the seconds that sessions have waited since a certain time.
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
        waits: number of finished waits; ``None`` if waits are not counted.
        waited_s: seconds that all sessions together have spent in this wait.
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
        watched_s: seconds that the totals cover. For counted totals, the seconds since ``since_at``. For sampled
            totals, the time that the samples represent.
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
        index_id: the index; 0 for the table itself; ``None`` if the index is unknown.
        page: number of the page in the file, in the server's notation; empty if unknown.
        waiting_s: seconds of waiting; ``None`` if the server does not report this time.
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
    """One row: the table and index that a page belongs to (SQL Server). The fields are as in ``LatchSample``.

    ``table_id`` and ``index_id`` are ``None`` if the page belongs to no table.
    """

    page: str
    table_id: int | None
    index_id: int | None
