"""The state of Service Broker's queues and their problems.

Service Broker can stop in three ways: a queue is off, the server does not start a queue's activation procedure, or sent
messages are not delivered (documentation of ``sys.service_queues``, ``sys.dm_broker_queue_monitors`` and
``sys.transmission_queue``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.formatting import duration
from qmon.model.samples.broker_samples import (
    BrokerMonitorSample,
    BrokerQueueSample,
    ConversationsSample,
    TransmissionSample,
)
from qmon.texts import Text


class BrokerText(Text):
    """Findings about Service Broker."""

    TURN_ON = "run ALTER QUEUE … WITH STATUS = ON"
    BROKER_IS_OFF = "Service Broker is off"
    ENABLE = "run ALTER DATABASE CURRENT SET ENABLE_BROKER"
    MONITORS_UNREAD = "the queue monitors that activate it could not be read"
    HALF_OFF = "half off"
    NO_ACTIVATION = "no activation"
    NO_MONITOR = "no monitor"
    NOT_SEEN = "not seen"
    QUEUED = "; {depth:,} messages are queued"
    POISON = " (poison message handling turns receive off after five rollbacks in a row)"
    OFF = "{what} {are} off{cause}{depth}; {command}"
    ACTIVATION_WITHOUT_BROKER = "activation is on, but Service Broker is off in this database{depth}; {command}"
    ACTIVATION_WITHOUT_MONITOR = (
        "activation is on, but the server has no monitor for it, so {procedure} is not started{depth}"
    )
    DOES_NOT_RECEIVE = "{procedure} was started {age} ago but does not receive{depth}; see the server's error log"
    AT_LEAST = "at least "
    CONVERSATIONS = "{more}{count:,} conversations"
    ENDED_BY_OTHER = "ended only by the other side"
    ENDED_BY_THIS = "only by this side"
    ENDED_BY_NEITHER = "by neither side"
    END_CONVERSATIONS = "{conversations}: {sides}; run END CONVERSATION on both sides"
    MESSAGES = "{more}{count:,} message{plural}"
    GROWTH = "; {rate:,.1f} more per second"
    WAITS = "; one waits for {age}"
    NOT_DELIVERED = "{messages} not delivered"
    BROKER_OFF_HERE = "Service Broker is off in this database; {command}"


DISABLED: Final = "queue disabled"
NOT_ACTIVATED: Final = "not activated"
NOT_SENT: Final = "not sent"
LEAK: Final = "conversations leak"
DROPPED: Final = "DROPPED"
NOTIFIED: Final = "NOTIFIED"

# Maximum seconds from the start of a procedure to its first RECEIVE.
_STARTING_S: Final = 10.0

# Monitors appear and disappear shortly after a queue is changed, so two samples must agree.
_SETTLING_S: Final = 15.0
_TURN_ON: Final = BrokerText.TURN_ON
CANNOT_TELL: Final = "cannot tell"

# The name under which the queue of undelivered messages is listed.
TRANSMISSION: Final = "sys.transmission_queue"

# The name under which the conversations are listed.
CONVERSATIONS: Final = "sys.conversation_endpoints"

# Maximum number of conversations read. If there are more, programs do not end their conversations.
MOST_CONVERSATIONS: Final = 5_000
_MANY_LEFT: Final = 1_000
_OFF: Final = BrokerText.BROKER_IS_OFF
_ENABLE: Final = BrokerText.ENABLE


@dataclass(frozen=True, slots=True)
class Finding:
    """A possible problem. It becomes a verdict after it has lasted ``hold_s`` seconds. ``cause``: see ``Verdict``."""

    code: str
    severity: Severity
    hold_s: float
    proof: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class BrokerQueue:
    """One queue of Service Broker.

    ``depth``: messages in the queue. ``monitor`` is ``None`` if the queue has no monitor or monitors are not visible.
    """

    sample: BrokerQueueSample
    monitor: BrokerMonitorSample | None
    depth: Figure
    verdict: Verdict | None = None

    @property
    def name(self) -> str:
        """Schema and name, joined by a dot."""
        return f"{self.sample.queue_schema}.{self.sample.queue}"


@dataclass(frozen=True, slots=True)
class BrokerView:
    """The queues of Service Broker.

    Attributes:
        queues: the queues, worst first.
        sending: number of undelivered messages.
        growth: change of ``sending`` in messages per second.
        transmission: the sample from which ``sending`` was computed.
        verdict: the problem with undelivered messages, if any.
        monitored: true if queue monitors could be read.
        age_s: seconds since the samples were read.
        conversations: the sample of the conversations.
        leak: the problem with the conversations, if any.
    """

    queues: tuple[BrokerQueue, ...]
    sending: Figure
    growth: float | None
    transmission: TransmissionSample | None
    verdict: Verdict | None
    monitored: bool
    age_s: float
    conversations: ConversationsSample | None = None
    leak: Verdict | None = None

    @property
    def verdicts(self) -> Mapping[str, tuple[Verdict, ...]]:
        """The problem of each queue, of the transmission queue and of the conversations, keyed by name.

        A tuple is empty if there is no problem, and contains ``cannot tell`` if the data is incomplete.
        """
        found = {queue.name: self._queue_verdicts(queue) for queue in self.queues}
        sent = self.transmission
        if self.verdict is not None:
            found[TRANSMISSION] = (self.verdict,)
        elif sent is None or (sent.messages is None and not sent.counted):
            found[TRANSMISSION] = (Verdict(CANNOT_TELL, self.sending.reason, Severity.NOTICE),)
        else:
            found[TRANSMISSION] = ()
        found[CONVERSATIONS] = (self.leak,) if self.leak is not None else ()
        return found

    @property
    def database_verdicts(self) -> tuple[tuple[str, Verdict], ...]:
        """The verdicts on undelivered messages and on conversations, with the names under which they are listed."""
        both = ((TRANSMISSION, self.verdict), (CONVERSATIONS, self.leak))
        return tuple((name, verdict) for name, verdict in both if verdict is not None)

    def _queue_verdicts(self, queue: BrokerQueue) -> tuple[Verdict, ...]:
        if queue.verdict is not None:
            return (queue.verdict,)
        if queue.sample.activates and not self.monitored:
            return (Verdict(CANNOT_TELL, BrokerText.MONITORS_UNREAD, Severity.NOTICE),)
        return ()


def queue_state(queue: BrokerQueue, *, monitored: bool) -> str:
    """Return the state of a queue in one or two words."""
    sample, monitor = queue.sample, queue.monitor
    if not (sample.receives and sample.enqueues):
        return "off" if not (sample.receives or sample.enqueues) else BrokerText.HALF_OFF
    if monitor is not None and monitor.state != DROPPED:
        return {NOTIFIED: "notified", "RECEIVES_OCCURRING": "receiving", "INACTIVE": "idle"}.get(
            monitor.state, monitor.state.lower()
        )
    if not sample.activates:
        return BrokerText.NO_ACTIVATION
    return BrokerText.NO_MONITOR if monitored else BrokerText.NOT_SEEN


def queue_finding(
    sample: BrokerQueueSample, monitor: BrokerMonitorSample | None, *, monitored: bool, enabled: bool
) -> Finding | None:
    """Return the problem of one queue, if any. ``enabled``: true if Service Broker is on in the database."""
    depth = BrokerText.QUEUED.render(depth=sample.depth) if sample.depth else ""
    if not (sample.receives and sample.enqueues):
        off = [word for word, on in (("receive", sample.receives), ("enqueue", sample.enqueues)) if not on]
        why = BrokerText.POISON
        cause = why if sample.poison_handling and not sample.receives else ""
        are = "are" if len(off) > 1 else "is"
        return Finding(
            DISABLED,
            Severity.CRITICAL,
            0.0,
            BrokerText.OFF.render(what=" and ".join(off), are=are, cause=cause, depth=depth, command=_TURN_ON),
        )
    if not sample.activates:
        return None
    if not enabled:
        text = BrokerText.ACTIVATION_WITHOUT_BROKER.render(depth=depth, command=_ENABLE)
        return Finding(NOT_ACTIVATED, Severity.WARNING, 0.0, text, _OFF)
    if not monitored:
        return None
    if monitor is None or monitor.state == DROPPED:
        text = BrokerText.ACTIVATION_WITHOUT_MONITOR.render(procedure=sample.procedure, depth=depth)
        return Finding(NOT_ACTIVATED, Severity.WARNING, _SETTLING_S, text)
    if monitor.state != NOTIFIED or not sample.depth or monitor.tasks or (monitor.activated_s or 0.0) < _STARTING_S:
        return None
    since = duration(monitor.activated_s or 0.0)
    text = BrokerText.DOES_NOT_RECEIVE.render(procedure=sample.procedure, age=since, depth=depth)
    return Finding(NOT_ACTIVATED, Severity.WARNING, _SETTLING_S, text)


def conversations_finding(sample: ConversationsSample) -> Finding | None:
    """Return the problem with the conversations, if any.

    Conversations that are never ended stay forever and slow down SEND and RECEIVE.
    """
    more = sample.counted >= MOST_CONVERSATIONS
    if sample.left < _MANY_LEFT and not more:
        return None
    count = BrokerText.CONVERSATIONS.render(more=BrokerText.AT_LEAST if more else "", count=sample.counted)
    parts = (
        (sample.left, BrokerText.ENDED_BY_OTHER),
        (sample.leaving, BrokerText.ENDED_BY_THIS),
        (sample.talking, BrokerText.ENDED_BY_NEITHER),
    )
    told = ", ".join(f"{number:,} {what}" for number, what in parts if number)
    return Finding(LEAK, Severity.WARNING, 0.0, BrokerText.END_CONVERSATIONS.render(conversations=count, sides=told))


def sending_finding(sample: TransmissionSample, growth: float | None) -> Finding | None:
    """Return the problem with undelivered messages, if any. ``growth``: messages per second, as in ``BrokerView``."""
    waiting = sample.counted if sample.messages is None else sample.messages
    if not waiting:
        return None
    count = BrokerText.MESSAGES.render(
        more=BrokerText.AT_LEAST if sample.messages is None else "", count=waiting, plural="" if waiting == 1 else "s"
    )
    grows = BrokerText.GROWTH.render(rate=growth) if growth is not None and growth >= 0.05 else ""
    old = BrokerText.WAITS.render(age=duration(sample.oldest_s)) if sample.oldest_s is not None else ""
    text, more = BrokerText.NOT_DELIVERED.render(messages=count), f"{grows}{old}"
    if not sample.enabled:
        cause = BrokerText.BROKER_OFF_HERE.render(command=_ENABLE)
        return Finding(NOT_SENT, Severity.CRITICAL, 0.0, f"{text}: {cause}{more}", _OFF)
    if sample.status:
        whom = f" ({sample.service})" if sample.service else ""
        return Finding(NOT_SENT, Severity.WARNING, 0.0, f"{text}: {sample.status}{whom}{more}")
    return Finding(NOT_SENT, Severity.NOTICE, _SETTLING_S, f"{text}{more}") if grows else None
