"""Samples of deadlocks in the making: sessions that wait for each other in a circle, until the server ends one of them.

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
