"""Samples of what lies under all queues: the log, the copies of the database, temporary space, limits of a service.

One record a probe, as in ``qmon.model.samples.polled``. Both engines fill them: what an engine or a version does not
tell is ``None``, or an empty text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LogSample:
    """One row: the transaction log of the database (SQL Server), or the write-ahead log of the server (PostgreSQL).

    ``total``: bytes of its files; ``used``: bytes of these that cannot be used again yet; ``most``: bytes that it may
    come to, ``None`` where nothing limits it or that is not known. ``held_by``: what keeps its oldest part, in the
    server's words, empty: nothing. ``pieces``: virtual log files, or segments. ``saved_s``: seconds since it was last
    backed up or archived.
    """

    total: int | None
    used: int | None
    most: int | None
    held_by: str
    pieces: int | None
    saved_s: float | None


@dataclass(frozen=True, slots=True)
class ReplicationSample:
    """One row a server that has the database: the one that answers (``local``), and the copies that it feeds.

    ``host``: of the one that answers the machine or address, else empty. ``role``: ``primary``, ``secondary``, empty:
    it is the only one. ``state``: the server's word. ``timeline``: of a PostgreSQL that answers, one more with each
    promotion. ``healthy``: it is as it is to be. ``synchronous``: commits wait for it. ``connected``: it is reached.
    ``suspended``: why nothing moves, in the server's words, empty: it does. ``unsent`` and ``unredone``: bytes of log
    that it has not, or has and not applied yet; ``behind_s``: seconds of commits that it lacks. ``None``: not known.
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

    ``total``: of its files, ``used`` of these; ``most``: that they may come to, ``None``: not known. ``versions``,
    ``internal`` (sorts, hash joins, spools) and ``objects`` (temporary tables) are parts of ``used``.
    """

    total: int | None
    used: int | None
    most: int | None
    versions: int | None
    internal: int | None
    objects: int | None


@dataclass(frozen=True, slots=True)
class TempSessionSample:
    """One row a session that holds much of that space: bytes, as in ``TempSpaceSample``; who holds most comes first."""

    session: int
    application: str
    host: str
    internal: int | None
    objects: int | None

    @property
    def held(self) -> int:
        """Bytes in all."""
        return (self.internal or 0) + (self.objects or 0)


@dataclass(frozen=True, slots=True)
class ServiceSample:
    """One row: what was bought of a managed service. ``objective``: its name there, empty: not shown.

    ``pooled``: with others in an elastic pool, ``pool`` its name where that is shown. ``serverless``: it pauses when
    nobody is connected for long enough.
    """

    objective: str
    pool: str
    pooled: bool
    serverless: bool


@dataclass(frozen=True, slots=True)
class LimitsSample:
    """One row: how much is used of what may be, each 0 to 1; ``None``: not shown."""

    cpu: float | None
    data_io: float | None
    log_write: float | None
    memory: float | None
    workers: float | None
    sessions: float | None
    storage: float | None


@dataclass(frozen=True, slots=True)
class SettingSample:
    """One row a setting of the server, the database or its tables.

    ``object``: of a table its name, or the first of several alike and how many more there are; else empty. ``value``:
    in the server's words, ``None``: not known.
    """

    name: str
    object: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ServerState:
    """What was read lately of all that; ``None`` or empty where it was not, or cannot be.

    ``limits``: of the database, ``pool_limits``: of the pool that it is in. ``read_at``: by probe when, server clock,
    seconds since the epoch.
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
    def local(self) -> ReplicationSample | None:
        """The server that answers."""
        return next((each for each in self.replication if each.local), None)

    @property
    def copies(self) -> tuple[ReplicationSample, ...]:
        """The other servers that have the database."""
        return tuple(each for each in self.replication if not each.local)
