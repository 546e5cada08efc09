"""Combine the results of the Service Broker probes. Used only for engines that have Service Broker."""

from __future__ import annotations

from typing import Final

from qmon.model.samples.broker_samples import (
    Broker,
    BrokerMonitorSample,
    BrokerQueueSample,
    ConversationsSample,
)
from qmon.monitor.probes.probe_statements import Results, first_record

# A value that cannot be read again is shown for at most this many seconds.
_STALE_S: Final = 60.0


class BrokerReadings:
    """The last state of Service Broker. Belongs to one collector."""

    def __init__(self) -> None:
        self._found: Broker | None = None
        self._conversations: ConversationsSample | None = None

    def record_results(self, results: Results, now_at: float) -> Broker | None:
        """Record the results of a poll and return the current values.

        After the last queue was dropped, one result without queues is returned. ``now_at``: server clock, seconds since
        the epoch.
        """
        queues: tuple[BrokerQueueSample, ...] | None = results.get(("", "broker_queues"))
        if queues is not None:
            monitors: tuple[BrokerMonitorSample, ...] | None = results.get(("", "broker_monitors"))
            there = bool(queues) or (self._found is not None and bool(self._found.queues))
            talks = first_record(results, "broker_conversations")
            self._conversations = talks if talks is not None else self._conversations
            sent = first_record(results, "broker_transmission")
            self._found = Broker(now_at, queues, monitors, sent, self._conversations) if there else None
        if self._found is not None and now_at - self._found.read_at > _STALE_S:
            self._found = None
        return self._found
