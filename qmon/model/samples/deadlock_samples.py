"""Samples of deadlocks, and of the server's reports about sessions that waited for a long time.

In a deadlock, sessions wait for each other in a circle until the server ends one of the sessions. PostgreSQL counts
deadlocks, but writes the statements of a deadlock only to the server log. On PostgreSQL, qmon therefore reports the
waiting sessions that it saw just before the deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CircleSample:
    """One row per pair of waiting sessions: ``session`` waits for ``blocker``.

    ``table_id``: the table of the row or lock that the session waits for; ``None`` if the server does not report the
    table.
    """

    session: int
    blocker: int
    table_id: int | None
    application: str
    statement: str


@dataclass(frozen=True, slots=True)
class Circle:
    """Sessions that qmon saw waiting for each other, each with its statement."""

    members: tuple[CircleSample, ...]


@dataclass(frozen=True, slots=True)
class GraphSample:
    """One row per pair of waiting sessions in a deadlock that the server reported (SQL Server).

    ``at``: time of the report, seconds since the epoch.
    """

    at: float
    session: int
    blocker: int
    table_id: int | None
    application: str
    statement: str


@dataclass(frozen=True, slots=True)
class ReportSample(GraphSample):
    """A deadlock pair read from a file of the server.

    Attributes:
        here: true if the lock is in the watched database. For a lock in another database, ``table_id``, ``application``
            and ``statement`` are empty.
        file: the server's name of the file.
        offset: the position in the file of the block that contains the report.
    """

    here: bool
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One row: the file to which the server currently writes reports."""

    path: str


@dataclass(frozen=True, slots=True)
class BlockedReport:
    """A session that waited for longer than the server's threshold, reported at ``at`` (seconds since the epoch).

    Attributes:
        waited_s: seconds that the session had waited.
        table_id: table of the lock; ``None`` if the report does not name a table.
        blocker: the session that this session waited for. The ``blocker_…`` fields contain the blocker's application,
            state and last statement.
    """

    at: float
    waited_s: float
    table_id: int | None
    session: int
    application: str
    statement: str
    blocker: int
    blocker_application: str
    blocker_state: str
    blocker_statement: str


@dataclass(frozen=True, slots=True)
class BlockedSample(BlockedReport):
    """One row per report in a file of the server. ``here``, ``file`` and ``offset`` are as in ``ReportSample``."""

    here: bool
    file: str
    offset: int
