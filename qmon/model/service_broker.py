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
_TURN_ON: Final = "run ALTER QUEUE … WITH STATUS = ON"
CANNOT_TELL: Final = "cannot tell"

# The name under which the queue of undelivered messages is listed.
TRANSMISSION: Final = "sys.transmission_queue"

# The name under which the conversations are listed.
CONVERSATIONS: Final = "sys.conversation_endpoints"

# Maximum number of conversations read. If there are more, programs do not end their conversations.
MOST_CONVERSATIONS: Final = 5_000
_MANY_LEFT: Final = 1_000
_OFF: Final = "Service Broker is off"
_ENABLE: Final = "run ALTER DATABASE CURRENT SET ENABLE_BROKER"


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
            return (Verdict(CANNOT_TELL, "the queue monitors that activate it could not be read", Severity.NOTICE),)
        return ()


def queue_state(queue: BrokerQueue, *, monitored: bool) -> str:
    """Return the state of a queue in one or two words."""
    sample, monitor = queue.sample, queue.monitor
    if not (sample.receives and sample.enqueues):
        return "off" if not (sample.receives or sample.enqueues) else "half off"
    if monitor is not None and monitor.state != DROPPED:
        return {NOTIFIED: "notified", "RECEIVES_OCCURRING": "receiving", "INACTIVE": "idle"}.get(
            monitor.state, monitor.state.lower()
        )
    if not sample.activates:
        return "no activation"
    return "no monitor" if monitored else "not seen"


def queue_finding(
    sample: BrokerQueueSample, monitor: BrokerMonitorSample | None, *, monitored: bool, enabled: bool
) -> Finding | None:
    """Return the problem of one queue, if any. ``enabled``: true if Service Broker is on in the database."""
    depth = f"; {sample.depth:,} messages are queued" if sample.depth else ""
    if not (sample.receives and sample.enqueues):
        off = [word for word, on in (("receive", sample.receives), ("enqueue", sample.enqueues)) if not on]
        why = " (poison message handling turns receive off after five rollbacks in a row)"
        cause = why if sample.poison_handling and not sample.receives else ""
        are = "are" if len(off) > 1 else "is"
        return Finding(DISABLED, Severity.CRITICAL, 0.0, f"{' and '.join(off)} {are} off{cause}{depth}; {_TURN_ON}")
    if not sample.activates:
        return None
    if not enabled:
        text = f"activation is on, but Service Broker is off in this database{depth}; {_ENABLE}"
        return Finding(NOT_ACTIVATED, Severity.WARNING, 0.0, text, _OFF)
    if not monitored:
        return None
    if monitor is None or monitor.state == DROPPED:
        text = f"activation is on, but the server has no monitor for it, so {sample.procedure} is not started{depth}"
        return Finding(NOT_ACTIVATED, Severity.WARNING, _SETTLING_S, text)
    if monitor.state != NOTIFIED or not sample.depth or monitor.tasks or (monitor.activated_s or 0.0) < _STARTING_S:
        return None
    since = duration(monitor.activated_s or 0.0)
    text = f"{sample.procedure} was started {since} ago but does not receive{depth}; see the server's error log"
    return Finding(NOT_ACTIVATED, Severity.WARNING, _SETTLING_S, text)


def conversations_finding(sample: ConversationsSample) -> Finding | None:
    """Return the problem with the conversations, if any.

    Conversations that are never ended stay forever and slow down SEND and RECEIVE.
    """
    more = sample.counted >= MOST_CONVERSATIONS
    if sample.left < _MANY_LEFT and not more:
        return None
    count = f"{'at least ' if more else ''}{sample.counted:,} conversations"
    parts = (
        (sample.left, "ended only by the other side"),
        (sample.leaving, "only by this side"),
        (sample.talking, "by neither side"),
    )
    told = ", ".join(f"{number:,} {what}" for number, what in parts if number)
    return Finding(LEAK, Severity.WARNING, 0.0, f"{count}: {told}; run END CONVERSATION on both sides")


def sending_finding(sample: TransmissionSample, growth: float | None) -> Finding | None:
    """Return the problem with undelivered messages, if any. ``growth``: messages per second, as in ``BrokerView``."""
    waiting = sample.counted if sample.messages is None else sample.messages
    if not waiting:
        return None
    count = f"{'at least ' if sample.messages is None else ''}{waiting:,} message{'' if waiting == 1 else 's'}"
    grows = f"; {growth:,.1f} more per second" if growth is not None and growth >= 0.05 else ""
    old = f"; one waits for {duration(sample.oldest_s)}" if sample.oldest_s is not None else ""
    text, more = f"{count} not delivered", f"{grows}{old}"
    if not sample.enabled:
        cause = f"Service Broker is off in this database; {_ENABLE}"
        return Finding(NOT_SENT, Severity.CRITICAL, 0.0, f"{text}: {cause}{more}", _OFF)
    if sample.status:
        whom = f" ({sample.service})" if sample.service else ""
        return Finding(NOT_SENT, Severity.WARNING, 0.0, f"{text}: {sample.status}{whom}{more}")
    return Finding(NOT_SENT, Severity.NOTICE, _SETTLING_S, f"{text}{more}") if grows else None
