"""Samples of the horizon: the oldest state of the database that somebody may still ask for.

No row that died after it can be removed, by vacuum (PostgreSQL) or from the version store (SQL Server).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HolderKind(StrEnum):
    """What holds the horizon."""

    SESSION = "session"
    # A prepared transaction: it has no session.
    PREPARED = "prepared"
    # A replication slot.
    SLOT = "slot"
    # A standby that reports what its own queries still need.
    STANDBY = "standby"


@dataclass(frozen=True, slots=True)
class HorizonSample:
    """One row a holder, the oldest first.

    ``kind``: a ``HolderKind``. ``session``: 0 where it has none. ``name``: of a prepared transaction, slot or standby,
    else empty. ``xid``: the id it holds at (PostgreSQL: transaction id; SQL Server: sequence number of the
    transaction). ``age``: transactions begun since. ``held_s``: seconds since its transaction began, ``None`` where
    the server does not say. ``started_at``: when the session began, seconds since the epoch; ``state_s``: seconds.
    """

    kind: str
    session: int
    name: str
    xid: str
    age: int
    held_s: float | None
    started_at: float | None
    state: str
    state_s: float | None
    login: str
    application: str
    host: str
    database: str
    statement: str


@dataclass(frozen=True, slots=True)
class VersionStoreSample:
    """One row: what the version store holds (SQL Server). PostgreSQL keeps old rows in the tables: it has none.

    ``bytes``: row versions in tempdb, of all databases where ``whole_server``; ``None``: not shown.
    ``persistent_bytes``: row versions that the database keeps itself (accelerated database recovery), ``None``: none.
    """

    bytes: int | None
    persistent_bytes: int | None
    whole_server: bool

    @property
    def total(self) -> int:
        """Bytes in both places."""
        return (self.bytes or 0) + (self.persistent_bytes or 0)
