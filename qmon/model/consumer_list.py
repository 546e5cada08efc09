"""Lists the consumers of a queue: sessions, the workers of a library, and the owners of messages in progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView
from qmon.texts import Text

# If this many messages were read, there may be more.
_MOST_MESSAGES: Final = 200


class Unknown(Text):
    """Why a value of a consumer is unknown."""

    NO_SESSION = "the tables of the library do not contain the worker's session"
    OWNER_IS_NAME = "messages contain the consumer's name, which does not show its session"
    NO_HOST = "the server does not show the host, or the session uses a local socket"
    NO_HOST_COLUMN = "the table has no column for the consumer's host"
    NO_START = "the table has no column for the consumer's start"
    NO_OWNER = "no column shows which consumer holds a message"
    NOT_READ = "the messages in progress have not been read yet"
    NO_TIME = "no column shows when the message was taken"
    HOLDS_NONE = "the consumer holds no message"
    NO_RATE_YET = "qmon counts the messages of this consumer since this screen was opened; wait a few seconds"
    SESSIONS_UNSEEN = "qmon cannot see the sessions of this queue's consumers"
    NO_STATE = "the activity of a session is not visible, or the session is unknown"


@dataclass(frozen=True, slots=True)
class ListedConsumer:
    """One consumer. A value is ``None`` if it is unknown; ``unknown`` then contains the reason, keyed by field.

    Attributes:
        key: identifies the consumer in later polls.
        name: the application name of the session, the worker's name, or the owner in the messages.
        client: the session, if it is known.
        since_s: seconds since the session or the worker started.
        messages: the messages that the consumer holds, as far as they were read, the oldest first.
        holds: number of these messages.
        at_least: the consumer may hold more messages.
        oldest_s: how long the consumer has held its oldest message, in seconds.
        is_alive: false if a library's worker no longer reports, or if no such session exists.
    """

    key: str
    name: str
    client: ProgramSessionSample | None = None
    host: str | None = None
    since_s: float | None = None
    messages: tuple[MessageSample, ...] = ()
    holds: int | None = None
    at_least: bool = False
    oldest_s: float | None = None
    is_alive: bool = True
    unknown: Mapping[str, Unknown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConsumerList:
    """The consumers of a queue, the ones that hold messages first.

    ``is_complete``: false if there may be other consumers. ``why``: why consumers are missing, or an empty text.
    """

    consumers: tuple[ListedConsumer, ...]
    is_complete: bool = True
    why: str = ""


def list_consumers(queue: QueueView, sampled_at: float) -> ConsumerList:
    """Return the consumers of a queue.

    ``queue.messages`` must be the messages in progress. ``sampled_at``: server clock, seconds since the epoch.
    """
    held = _held_messages(queue)
    owners = dict(held or {})
    found: list[ListedConsumer] = []
    seen = queue.consumers_seen
    attributable = _shows_owner(queue)
    for client in seen.sessions if seen is not None else ():
        messages = owners.pop(str(client.session), None)
        if messages is None:
            messages = owners.pop(client.application, []) if client.application else []
        consumer = _session_consumer(client, sampled_at)
        known = held is not None and attributable and (bool(messages) or _owner_is_session(queue.layout))
        found.append(_with_messages(consumer, messages, queue, held is not None, known))
    workers = queue.workers or ()
    for worker in workers:
        named = ListedConsumer(
            worker.worker,
            worker.worker,
            host=worker.host or None,
            since_s=worker.started_s,
            unknown={
                "session": Unknown.NO_SESSION,
                **({} if worker.host else {"host": Unknown.NO_HOST_COLUMN}),
                **({} if worker.started_s is not None else {"since": Unknown.NO_START}),
            },
        )
        messages = owners.pop(worker.worker, [])
        found.append(_with_messages(named, messages, queue, held is not None, held is not None and attributable))
    for owner, messages in owners.items():
        named = ListedConsumer(
            owner,
            owner,
            is_alive=queue.workers is None and not any(each.id in queue.ownerless for each in messages),
            unknown={
                "session": Unknown.OWNER_IS_NAME if queue.layout.part is None else Unknown.NO_SESSION,
                "host": Unknown.NO_HOST_COLUMN,
                "since": Unknown.NO_START,
            },
        )
        found.append(_with_messages(named, messages, queue, True, True))
    found.sort(key=lambda each: (-(each.holds or 0), each.name.casefold(), each.key))
    whole = (seen is not None and seen.has_all_sessions) or (queue.workers is not None)
    why = "" if whole else queue.consumers.reason or Unknown.SESSIONS_UNSEEN
    return ConsumerList(tuple(found), whole, why)


def _session_consumer(client: ProgramSessionSample, sampled_at: float) -> ListedConsumer:
    started = client.started_at
    unknown: dict[str, Unknown] = {}
    if not client.host:
        unknown["host"] = Unknown.NO_HOST
    if started is None:
        unknown["since"] = Unknown.NO_STATE
    if not client.state:
        unknown["state"] = Unknown.NO_STATE
    return ListedConsumer(
        f"{client.session}/{started}",
        client.application or client.login or f"session {client.session}",
        client,
        client.host or None,
        None if started is None else max(0.0, sampled_at - started),
        unknown=unknown,
    )


def _with_messages(
    consumer: ListedConsumer, messages: Sequence[MessageSample], queue: QueueView, read: bool, owners_shown: bool
) -> ListedConsumer:
    """Return the consumer with the messages that it holds.

    ``read``: the messages in progress were read. ``owners_shown``: each of them shows its consumer.
    """
    unknown = dict(consumer.unknown)
    ages = [message.age_s for message in messages if message.age_s is not None]
    if not owners_shown:
        unknown["holds"] = unknown["oldest"] = Unknown.NO_OWNER if read else Unknown.NOT_READ
    elif not ages:
        unknown["oldest"] = Unknown.NO_TIME if messages else Unknown.HOLDS_NONE
    return replace(
        consumer,
        messages=tuple(sorted(messages, key=lambda message: -(message.age_s or 0.0))),
        holds=len(messages) if owners_shown else None,
        at_least=owners_shown and len(queue.messages or ()) >= _MOST_MESSAGES,
        oldest_s=max(ages, default=None) if owners_shown else None,
        unknown=unknown,
    )


def _held_messages(queue: QueueView) -> Mapping[str, list[MessageSample]] | None:
    """Return the messages in progress by owner; ``None`` if they were not read."""
    if queue.messages is None:
        return None
    out: defaultdict[str, list[MessageSample]] = defaultdict(list)
    for message in queue.messages:
        if message.state == "in_progress" and message.owner:
            # A session is written as its number, or as its number and its start: 4711/1732780000.
            number, _, _ = message.owner.partition("/")
            is_session = _owner_is_session(queue.layout) and number.isdecimal()
            out[number if is_session else message.owner].append(message)
    return out


def _owner_is_session(layout: Layout) -> bool:
    """Return whether the owner of a message is the number of a session."""
    return (layout.owner is not None and layout.owner.kind == "session") or (
        layout.owner is None and layout.part is None and pops_in_transaction(layout)
    )


def _shows_owner(queue: QueueView) -> bool:
    """Return whether the messages in progress show their consumers."""
    layout = queue.layout
    if not layout.has_figure("in_progress") or any(
        message.state == "in_progress" and not message.owner for message in queue.messages or ()
    ):
        return False
    if layout.part is not None:
        return True
    return _owner_is_session(layout) or (layout.owner is not None and layout.owner.kind == "name")


# A rate is known after this many seconds.
_MIN_SPAN_S: Final = 10.0


class ConsumerRates:
    """Counts the messages that each consumer was seen to take. Not thread-safe.

    Polls miss messages that are taken and finished between two polls, so the rates are lower bounds.
    """

    def __init__(self) -> None:
        self._began_at: float | None = None
        self._at = 0.0
        self._first: frozenset[str] = frozenset()
        self._taken: defaultdict[str, set[str]] = defaultdict(set)

    def record(self, consumer_list: ConsumerList, sampled_at: float) -> None:
        """Record the messages that the consumers hold. ``sampled_at``: server clock, seconds since the epoch."""
        held = {consumer.key: {message.id for message in consumer.messages} for consumer in consumer_list.consumers}
        if self._began_at is None:
            self._began_at, self._first = sampled_at, frozenset(id for ids in held.values() for id in ids)
        self._at = sampled_at
        for key, ids in held.items():
            self._taken[key] |= ids - self._first

    def per_minute(self, consumer: ListedConsumer) -> float | None:
        """Return a lower bound of the messages per minute that a consumer takes; ``None`` if it is not known yet."""
        if consumer.holds is None or self._began_at is None or self._at - self._began_at < _MIN_SPAN_S:
            return None
        return len(self._taken[consumer.key]) * 60.0 / (self._at - self._began_at)
