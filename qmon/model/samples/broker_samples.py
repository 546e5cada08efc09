"""Samples of Service Broker, SQL Server's own queues. One record per probe; the SQL explains each column."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerQueueSample:
    """One row per queue.

    Attributes:
        depth: messages in the queue as the server counts them; ``None``: not visible to our role.
        receives: RECEIVE is on.
        enqueues: ENQUEUE is on.
        activates: the server starts ``procedure`` when messages arrive.
        max_readers: maximum number of concurrent readers that activation starts.
        poison_handling: five rollbacks in a row turn the queue off.
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
    """One row per queue monitor. ``state``: INACTIVE, NOTIFIED or RECEIVES_OCCURRING.

    Attributes:
        empty_s: seconds since a RECEIVE found nothing.
        activated_s: seconds since a procedure was started.
        waiting: sessions in a RECEIVE.
        tasks: started procedures that are running.
    """

    queue_id: int
    state: str
    empty_s: float | None
    activated_s: float | None
    waiting: int
    tasks: int


@dataclass(frozen=True, slots=True)
class TransmissionSample:
    """One row: messages that were sent and not delivered.

    Attributes:
        enabled: Service Broker is on in the database.
        messages: number of undelivered messages as the server counts them; ``None``: not visible to our role.
        counted: how many of these messages were read.
        oldest_s: seconds since the oldest message read was sent.
        service: the service of the message that ``status`` is about.
        status: why that message could not be delivered; empty if delivery was not tried.
    """

    enabled: bool
    messages: int | None
    counted: int
    oldest_s: float | None
    service: str
    status: str


@dataclass(frozen=True, slots=True)
class ConversationsSample:
    """One row: the conversations of the database. At most a fixed number is ``counted``.

    Attributes:
        talking: neither side has ended it.
        left: only the other side has ended it.
        leaving: only this side has ended it.
    """

    counted: int
    talking: int
    left: int
    leaving: int


@dataclass(frozen=True, slots=True)
class Broker:
    """Data of Service Broker, read at ``read_at`` (server clock, seconds since the epoch).

    ``monitors``, ``transmission`` and ``conversations`` are ``None`` if they were not read.
    """

    read_at: float
    queues: tuple[BrokerQueueSample, ...]
    monitors: tuple[BrokerMonitorSample, ...] | None = None
    transmission: TransmissionSample | None = None
    conversations: ConversationsSample | None = None
