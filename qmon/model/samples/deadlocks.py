"""Samples of deadlocks: sessions that wait for each other in a circle, until the server ends one of them; and of what
the server reports of sessions that wait for long.

PostgreSQL counts deadlocks and writes their statements only to its log; what is seen just before tells them here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CircleSample:
    """One row a pair of waiting sessions, of which the first waits for the second.

    ``table_id``: the table of the row or lock it waits for, ``None`` where the server does not tell.
    """

    session: int
    blocker: int
    table_id: int | None
    application: str
    statement: str


@dataclass(frozen=True, slots=True)
class Circle:
    """Sessions that were seen to wait for each other, each with what it ran."""

    members: tuple[CircleSample, ...]


@dataclass(frozen=True, slots=True)
class GraphSample:
    """One row a pair of a deadlock that the server has reported (SQL Server); ``at``: when, seconds since the epoch."""

    at: float
    session: int
    blocker: int
    table_id: int | None
    application: str
    statement: str


@dataclass(frozen=True, slots=True)
class ReportSample(GraphSample):
    """The same from a file of the server's.

    ``here``: the lock is of the watched database; of others nothing is told. ``file``, ``offset``: the file as the
    server calls it and the block of it in which the report stands.
    """

    here: bool
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One row: the file that reports are written to at present."""

    path: str


@dataclass(frozen=True, slots=True)
class BlockedReport:
    """A session that waited longer than the server's threshold, as it was reported ``at`` (seconds since the epoch).

    ``waited_s``: seconds so far; ``table_id``: table of the lock, ``None``: not named. ``blocker``: whom it waited for,
    with what that one did and ran last.
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
    """One row a report in a file of the server's; ``here``, ``file`` and ``offset`` as of ``ReportSample``."""

    here: bool
    file: str
    offset: int
