"""Samples of what lies under all queues and changes slowly: the log, the copies of the database.

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

    ``host``: of the one that answers the machine, else empty. ``role``: ``primary``, ``secondary``, empty: it is the
    only one. ``state``: the server's word; ``healthy``: it is as it is to be. ``synchronous``: commits wait for it.
    ``connected``: it is reached. ``suspended``: why nothing moves, in the server's words, empty: it does. ``unsent``
    and ``unredone``: bytes of log that it has not, or has and not applied yet; ``behind_s``: seconds of commits that it
    lacks. ``None``: not known.
    """

    name: str
    host: str
    local: bool
    role: str
    state: str
    healthy: bool | None
    synchronous: bool | None
    connected: bool | None
    suspended: str
    unsent: int | None
    unredone: int | None
    behind_s: float | None


@dataclass(frozen=True, slots=True)
class ServerState:
    """What was read lately of all that; ``None`` or empty where it was not, or cannot be.

    ``read_at``: by probe when, server clock, seconds since the epoch.
    """

    log: LogSample | None = None
    replication: tuple[ReplicationSample, ...] = ()
    read_at: Mapping[str, float] = field(default_factory=dict)

    @property
    def local(self) -> ReplicationSample | None:
        """The server that answers."""
        return next((each for each in self.replication if each.local), None)

    @property
    def copies(self) -> tuple[ReplicationSample, ...]:
        """The other servers that have the database."""
        return tuple(each for each in self.replication if not each.local)
