"""Samples of server health: the log, replicas, temporary space, limits of a service.

There is one record per probe for both engines, as in ``qmon.model.samples.polled_samples``. A value that an engine or
version does not report is ``None`` or empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LogSample:
    """One row: the transaction log of the database (SQL Server), or the write-ahead log of the server (PostgreSQL).

    Attributes:
        total: bytes of the log files.
        used: bytes of the log files that cannot be reused yet.
        most: maximum size in bytes; ``None`` if unlimited or unknown.
        held_by: why the oldest part of the log cannot be reused, in the server's words; empty if it can be reused.
        pieces: number of virtual log files or segments.
        saved_s: seconds since the last backup or archiving of the log.
    """

    total: int | None
    used: int | None
    most: int | None
    held_by: str
    pieces: int | None
    saved_s: float | None


@dataclass(frozen=True, slots=True)
class ReplicationSample:
    """One row per server that has the database: the server that answers (``local``) and the replicas that it feeds.

    Attributes:
        host: machine or address of the server that answers, else empty.
        role: ``primary``, ``secondary``, or empty if there is only one server.
        state: state of the server or replica, in the server's words.
        timeline: the timeline of the server that answers (PostgreSQL). It increases with each promotion.
        healthy: true if replication to this server works as intended.
        synchronous: true if commits wait for this server.
        connected: true if this server is connected.
        suspended: why replication to this server is suspended, in the server's words; else empty.
        unsent: bytes of log that this server has not received; ``None`` if unknown.
        unredone: bytes of log that this server has received but not applied yet; ``None`` if unknown.
        behind_s: seconds of commits that this server lacks; ``None`` if unknown.
    """

    name: str
    host: str
    local: bool
    role: str
    state: str
    timeline: int | None
    healthy: bool | None
    synchronous: bool | None
    connected: bool | None
    suspended: str
    unsent: int | None
    unredone: int | None
    behind_s: float | None


@dataclass(frozen=True, slots=True)
class TempSpaceSample:
    """One row: the space that all sessions share for temporary tables, sorts and row versions (tempdb), in bytes.

    Attributes:
        total: size of the files.
        used: used part of ``total``.
        most: maximum size; ``None`` if unknown.
        versions: part of ``used`` for row versions.
        internal: part of ``used`` for sorts, hash joins and spools.
        objects: part of ``used`` for temporary tables.
    """

    total: int | None
    used: int | None
    most: int | None
    versions: int | None
    internal: int | None
    objects: int | None


@dataclass(frozen=True, slots=True)
class TempSessionSample:
    """One row per session that uses much temporary space, largest first. The fields are as in ``TempSpaceSample``."""

    session: int
    application: str
    host: str
    internal: int | None
    objects: int | None

    @property
    def total_bytes(self) -> int:
        """Total bytes."""
        return (self.internal or 0) + (self.objects or 0)


@dataclass(frozen=True, slots=True)
class ServiceSample:
    """One row: the purchased tier of a managed service.

    Attributes:
        objective: the provider's name of the tier; empty if it is not visible.
        pool: name of the elastic pool, if visible.
        pooled: true if the database is in an elastic pool.
        serverless: true if the database pauses after a time without connections.
    """

    objective: str
    pool: str
    pooled: bool
    serverless: bool


@dataclass(frozen=True, slots=True)
class LimitsSample:
    """One row: the used share of each limit, 0 to 1, or ``None`` if it is not visible."""

    cpu: float | None
    data_io: float | None
    log_write: float | None
    memory: float | None
    workers: float | None
    sessions: float | None
    storage: float | None


@dataclass(frozen=True, slots=True)
class SettingSample:
    """One row per setting of the server, the database or its tables.

    ``object``: the table with this value, or the first of several tables and the number of other tables; empty if the
    setting is not a table's setting. ``value``: the value in the server's words; ``None`` if unknown.
    """

    name: str
    object: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ServerState:
    """Server health, as last read. A field is ``None`` or empty if it was not read or is not available.

    ``limits``: limits of the database. ``pool_limits``: limits of the database's pool. ``read_at``: when each probe was
    read (server clock, seconds since the epoch).
    """

    log: LogSample | None = None
    replication: tuple[ReplicationSample, ...] = ()
    temp_space: TempSpaceSample | None = None
    temp_sessions: tuple[TempSessionSample, ...] = ()
    service: ServiceSample | None = None
    limits: LimitsSample | None = None
    pool_limits: LimitsSample | None = None
    settings: tuple[SettingSample, ...] = ()
    read_at: Mapping[str, float] = field(default_factory=dict)

    @property
    def local_server(self) -> ReplicationSample | None:
        """The server that answers."""
        return next((each for each in self.replication if each.local), None)

    @property
    def replicas(self) -> tuple[ReplicationSample, ...]:
        """The other servers that have the database."""
        return tuple(each for each in self.replication if not each.local)
