"""Samples of waits, the same for both engines: totals that only grow, and who waits for a latch at this moment.

SQL Server counts every wait that ends. PostgreSQL counts none, so qmon samples again and again what sessions wait
for, and adds up what it sees. Both come to the same: seconds that sessions have waited, since a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WaitSource(StrEnum):
    """How the totals came about."""

    # By the server, each wait.
    COUNTED = "counted"
    # By samples of the sessions between polls: the fewer, the rougher.
    SAMPLED = "sampled"


@dataclass(frozen=True, slots=True)
class WaitTotal:
    """One row a wait. ``waited_s``: seconds that all sessions together have spent in it.

    ``kind``: its class (``Lock``, ``LWLock``, ``IO``; on SQL Server ``wait`` or ``latch``); ``event``: its name, empty
    where sessions ran on a processor instead. ``waits``: how many have ended, ``None`` where nobody counts them;
    ``signal_s``: the part of ``waited_s`` spent waiting for a processor after the wait itself, ``None``: not known.
    """

    kind: str
    event: str
    waits: int | None
    waited_s: float
    signal_s: float | None = None


@dataclass(frozen=True, slots=True)
class WaitTotals:
    """All totals, as read once.

    ``since_at``: when counting began, seconds since the epoch on the server's clock; another value than before means
    a reset. ``watched_s``: seconds that the totals cover (counted: since then; sampled: the time that samples stand
    for). ``samples``: how many so far, ``None`` where the server counts.
    """

    source: WaitSource
    since_at: float
    watched_s: float
    waits: tuple[WaitTotal, ...]
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class LatchSample:
    """One row a session that waits for a latch on a page, and a table or index that it may belong to.

    ``index_id`` 0: the table itself; ``None``: which of the table's pages is not known. ``page``: its number in the
    file, as the server writes it, else empty. ``waiting_s``: ``None`` where the server does not say.
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
