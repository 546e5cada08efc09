"""Samples of Service Broker, SQL Server's own queues. There is one record per probe. The SQL explains each column."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerQueueSample:
    """One row per queue.

    Attributes:
        depth: number of messages in the queue according to the server; ``None`` if it is not visible to our role.
        receives: true if RECEIVE is on.
        enqueues: true if ENQUEUE is on.
        activates: true if the server starts ``procedure`` when messages arrive.
        max_readers: maximum number of concurrent readers that activation starts.
        poison_handling: true if five rollbacks in a row turn the queue off.
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
        empty_s: seconds since a RECEIVE found no message.
        activated_s: seconds since a procedure was started.
        waiting: number of sessions in a RECEIVE.
        tasks: number of started procedures that are running.
    """

    queue_id: int
    state: str
    empty_s: float | None
    activated_s: float | None
    waiting: int
    tasks: int


@dataclass(frozen=True, slots=True)
class TransmissionSample:
    """One row: messages that were sent but not delivered.

    Attributes:
        enabled: true if Service Broker is on in the database.
        messages: number of undelivered messages according to the server; ``None`` if it is not visible to our role.
        counted: how many of these messages were read.
        oldest_s: seconds since the oldest message read was sent.
        service: the service of the message that ``status`` describes.
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
    """One row: the number of conversations of the database. At most a fixed number of conversations is ``counted``.

    Attributes:
        talking: conversations that neither side has ended.
        left: conversations that only the other side has ended.
        leaving: conversations that only this side has ended.
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
