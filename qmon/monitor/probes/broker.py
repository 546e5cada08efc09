"""Reads the queues of Service Broker every ten seconds, its conversations every minute; what was read stands meanwhile.

Only where the engine has them.
"""

from __future__ import annotations

from typing import Final

from qmon.model.samples.broker import (
    Broker,
    BrokerMonitorSample,
    BrokerQueueSample,
    ConversationsSample,
    TransmissionSample,
)
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache, first

_EVERY_S: Final = 10.0
_CONVERSATIONS_EVERY_S: Final = 60.0
# Seconds after which what could not be read again is no longer shown.
_STALE_S: Final = 60.0


class BrokerProbes:
    """Which of these probes a poll asks, and what stands. Belongs to one collector.

    Monitors and the transmission queue are asked for only where there are queues: most databases have none.
    """

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._asked_at = float("-inf")
        self._found: Broker | None = None
        self._conversations_at = float("-inf")
        self._conversations: ConversationsSample | None = None

    def wanted(self, now: float) -> list[ProbeStatement]:
        """The statements that are due; ``now``: our monotonic clock, seconds."""
        if now - self._asked_at < _EVERY_S or not self._statements.has("broker_queues"):
            return []
        self._asked_at = now
        asked = [self._statements.of("broker_queues", BrokerQueueSample)]
        if self._found is not None:
            asked.append(self._statements.of("broker_monitors", BrokerMonitorSample))
            asked.append(self._statements.of("broker_transmission", TransmissionSample))
            if now - self._conversations_at >= _CONVERSATIONS_EVERY_S:
                self._conversations_at = now
                asked.append(self._statements.of("broker_conversations", ConversationsSample))
        return asked

    def learn(self, results: Results, now_at: float) -> Broker | None:
        """Take in a poll; returns what stands, once without a queue where the last one has gone.

        ``now_at``: the server's clock, seconds since the epoch.
        """
        queues: tuple[BrokerQueueSample, ...] | None = results.get(("", "broker_queues"))
        if queues is not None:
            if queues and self._found is None:
                self._asked_at = float("-inf")  # the rest comes with the next poll
            monitors: tuple[BrokerMonitorSample, ...] | None = results.get(("", "broker_monitors"))
            there = bool(queues) or (self._found is not None and bool(self._found.queues))
            talks = first(results, "broker_conversations")
            self._conversations = talks if talks is not None else self._conversations
            sent = first(results, "broker_transmission")
            self._found = Broker(now_at, queues, monitors, sent, self._conversations) if there else None
        if self._found is not None and now_at - self._found.read_at > _STALE_S:
            self._found = None
        return self._found
