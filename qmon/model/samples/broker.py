"""Samples of Service Broker, SQL Server's own queues: one record a probe; see there for each column."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerQueueSample:
    """One row a queue. ``depth``: messages in it as the server counts them, ``None``: not for us.

    ``receives`` and ``enqueues``: messages may go and come; ``activates``: the server starts ``procedure`` when some
    come, ``max_readers`` of it at once at most. ``poison_handling``: five rollbacks in a row turn the queue off.
    """

    queue_id: int
    queue_schema: str
    queue: str
    depth: int | None
    receives: bool
    enqueues: bool
    activates: bool
    procedure: str
    max_readers: int
    poison_handling: bool


@dataclass(frozen=True, slots=True)
class BrokerMonitorSample:
    """One row a monitor of a queue. ``state``: INACTIVE, NOTIFIED, RECEIVES_OCCURRING.

    ``empty_s`` and ``activated_s``: seconds since a RECEIVE found nothing, and since a procedure was started.
    ``waiting``: sessions in a RECEIVE; ``tasks``: started procedures that run.
    """

    queue_id: int
    state: str
    empty_s: float | None
    activated_s: float | None
    waiting: int
    tasks: int


@dataclass(frozen=True, slots=True)
class TransmissionSample:
    """One row: messages that were sent and not delivered. ``enabled``: Service Broker is on in the database.

    ``messages``: as the server counts them, ``None``: not for us. Of ``counted`` of them, ``oldest_s``: seconds since
    the oldest was sent; ``status``: why one for ``service`` could not be delivered, empty where none was tried.
    """

    enabled: bool
    messages: int | None
    counted: int
    oldest_s: float | None
    service: str
    status: str


@dataclass(frozen=True, slots=True)
class ConversationsSample:
    """One row: the conversations of the database, of which up to a limit were ``counted``.

    ``talking``: neither side has ended it; ``left``: the other side has, and this one has not; ``leaving``: this side
    has, and the other has not.
    """

    counted: int
    talking: int
    left: int
    leaving: int


@dataclass(frozen=True, slots=True)
class Broker:
    """What was read of Service Broker at ``read_at`` (server clock, seconds since the epoch).

    ``monitors``, ``transmission`` and ``conversations``: ``None`` where they have not been read or could not be.
    """

    read_at: float
    queues: tuple[BrokerQueueSample, ...]
    monitors: tuple[BrokerMonitorSample, ...] | None = None
    transmission: TransmissionSample | None = None
    conversations: ConversationsSample | None = None
