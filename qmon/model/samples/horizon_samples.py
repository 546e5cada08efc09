"""Samples of the horizon: the oldest state of the database that a session may still read.

The server cannot remove rows that died after the horizon, neither by vacuum (PostgreSQL) nor from the version store
(SQL Server).
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
    # A standby that reports which rows its queries still need.
    STANDBY = "standby"


@dataclass(frozen=True, slots=True)
class HorizonSample:
    """One row per holder, oldest first.

    Attributes:
        kind: a ``HolderKind``.
        session: the holder's session id; 0 if the holder has no session.
        name: name of a prepared transaction, slot or standby, else empty.
        xid: the id at which the holder holds the horizon (PostgreSQL: a transaction id; SQL Server: a transaction
            sequence number).
        age: number of transactions started since that id.
        held_s: seconds since the holder's transaction started; ``None`` if the server does not report this time.
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
    """One row: the contents of the version store (SQL Server). PostgreSQL keeps old rows in the tables instead.

    Attributes:
        bytes: bytes of row versions in tempdb, of all databases if ``whole_server``; ``None`` if not visible.
        persistent_bytes: bytes of row versions in the database itself (accelerated database recovery); ``None`` if the
            database keeps no row versions.
    """

    bytes: int | None
    persistent_bytes: int | None
    whole_server: bool

    @property
    def total(self) -> int:
        """Bytes of row versions in tempdb and in the database."""
        return (self.bytes or 0) + (self.persistent_bytes or 0)
