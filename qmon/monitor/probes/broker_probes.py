"""Read the queues of Service Broker every ten seconds and its conversations every minute, and store the results.

Used only for engines that have Service Broker.
"""

from __future__ import annotations

from typing import Final

from qmon.model.samples.broker_samples import (
    Broker,
    BrokerMonitorSample,
    BrokerQueueSample,
    ConversationsSample,
)
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache, first_record

_EVERY_S: Final = 10.0
_CONVERSATIONS_EVERY_S: Final = 60.0

# A value that cannot be read again is shown for at most this many seconds.
_STALE_S: Final = 60.0


class BrokerProbes:
    """Choose the Service Broker probes of a poll and store their results. Belongs to one collector.

    Monitors and the transmission queue are only read if there are queues. Most databases have no queues.
    """

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._asked_at = float("-inf")
        self._found: Broker | None = None
        self._conversations_at = float("-inf")
        self._conversations: ConversationsSample | None = None

    def statements_for_poll(self, now: float) -> list[ProbeStatement]:
        """Return the statements that are due; ``now``: our monotonic clock, seconds."""
        if now - self._asked_at < _EVERY_S or not self._statements.has_probe("broker_queues"):
            return []
        self._asked_at = now
        asked = [self._statements.statement_for("broker_queues")]
        if self._found is not None:
            asked.append(self._statements.statement_for("broker_monitors"))
            asked.append(self._statements.statement_for("broker_transmission"))
            if now - self._conversations_at >= _CONVERSATIONS_EVERY_S:
                self._conversations_at = now
                asked.append(self._statements.statement_for("broker_conversations"))
        return asked

    def record_results(self, results: Results, now_at: float) -> Broker | None:
        """Record the results of a poll and return the current values.

        After the last queue was dropped, one result without queues is returned. ``now_at``: server clock, seconds since
        the epoch.
        """
        queues: tuple[BrokerQueueSample, ...] | None = results.get(("", "broker_queues"))
        if queues is not None:
            if queues and self._found is None:
                self._asked_at = float("-inf")  # the rest is read in the next poll
            monitors: tuple[BrokerMonitorSample, ...] | None = results.get(("", "broker_monitors"))
            there = bool(queues) or (self._found is not None and bool(self._found.queues))
            talks = first_record(results, "broker_conversations")
            self._conversations = talks if talks is not None else self._conversations
            sent = first_record(results, "broker_transmission")
            self._found = Broker(now_at, queues, monitors, sent, self._conversations) if there else None
        if self._found is not None and now_at - self._found.read_at > _STALE_S:
            self._found = None
        return self._found
