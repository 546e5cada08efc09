"""Samples of the horizon: the oldest state of the database that a session may still read.

The server cannot remove rows that died after it, neither by vacuum (PostgreSQL) nor from the version store (SQL
Server).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HolderKind(StrEnum):
    """The kind of session or object that holds the horizon."""

    SESSION = "session"
    # A prepared transaction, which has no session.
    PREPARED = "prepared"
    # A replication slot.
    SLOT = "slot"
    # A standby that reports which rows its own queries still need.
    STANDBY = "standby"


@dataclass(frozen=True, slots=True)
class HorizonSample:
    """One row per holder, oldest first.

    Attributes:
        kind: a ``HolderKind``.
        session: 0 if it has none.
        name: name of a prepared transaction, slot or standby, else empty.
        xid: the id at which it holds the horizon (PostgreSQL: a transaction id; SQL Server: a transaction sequence
            number).
        age: number of transactions started since that id.
        held_s: seconds since its transaction started; ``None`` if the server does not report it.
        started_at: when the session started, seconds since the epoch.
        state_s: seconds in this state.
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
    """One row: the contents of the version store (SQL Server). PostgreSQL keeps old rows in the tables and has none.

    Attributes:
        bytes: row versions in tempdb, of all databases if ``whole_server``; ``None``: not visible.
        persistent_bytes: row versions that the database keeps itself (accelerated database recovery); ``None``: none.
    """

    bytes: int | None
    persistent_bytes: int | None
    whole_server: bool

    @property
    def total(self) -> int:
        """Bytes in both places."""
        return (self.bytes or 0) + (self.persistent_bytes or 0)
