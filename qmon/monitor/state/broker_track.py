"""Track the queues of Service Broker: how long findings have lasted, and whether undelivered messages increase."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Figure, Verdict
from qmon.model.reasons import Reason
from qmon.model.samples.broker_samples import Broker, TransmissionSample
from qmon.model.service_broker import (
    BrokerQueue,
    BrokerView,
    Finding,
    conversations_finding,
    queue_finding,
    sending_finding,
)
from qmon.model.snapshot import Snapshot
from qmon.monitor.state.rates.counter_windows import CounterWindow

_GROWTH_S: Final = 60.0


class BrokerTrack:
    """The Service Broker queues of one target. Not thread-safe."""

    def __init__(self) -> None:
        self._since: dict[tuple[int, str], float] = {}
        self._undelivered = CounterWindow[int](_GROWTH_S)
        self._read_at: float | None = None

    def record_poll(self, snapshot: Snapshot) -> BrokerView | None:
        """Record one poll and return the view; ``None`` without Service Broker queues, or before their first reading.

        After each connect, the first polls do not read these queues. Earlier findings continue if the queues are read
        within a minute.
        """
        found = snapshot.broker
        if found is None:
            if self._read_at is not None and snapshot.sampled_at - self._read_at > _GROWTH_S:
                self._since, self._read_at = {}, None
                self._undelivered.clear()
            return None
        if self._read_at is not None and found.read_at < self._read_at:
            self._undelivered.clear()
        sent = found.transmission
        if found.read_at != self._read_at and sent is not None and sent.messages is not None:
            self._undelivered.record_totals(found.read_at, sent.messages)
        self._read_at = found.read_at
        before, self._since = self._since, {}
        growth = self._growth_per_s()
        sending = None if found.transmission is None else sending_finding(found.transmission, growth)
        talks = found.conversations
        leak = None if talks is None else conversations_finding(talks)
        return BrokerView(
            queues=self._broker_queues(found, before, snapshot.sampled_at),
            sending=_sending_figure(found.transmission),
            growth=growth,
            transmission=found.transmission,
            verdict=self._lasting_verdict(0, sending, before, snapshot.sampled_at),
            conversations=talks,
            leak=self._lasting_verdict(-1, leak, before, snapshot.sampled_at),
            monitored=found.monitors is not None,
            age_s=max(0.0, snapshot.sampled_at - found.read_at),
        )

    def _broker_queues(
        self, broker: Broker, before: dict[tuple[int, str], float], at: float
    ) -> tuple[BrokerQueue, ...]:
        monitors = {each.queue_id: each for each in broker.monitors or ()}
        enabled = broker.transmission is None or broker.transmission.enabled
        out = []
        for sample in broker.queues:
            monitor = monitors.get(sample.queue_id)
            finding = queue_finding(sample, monitor, monitored=broker.monitors is not None, enabled=enabled)
            depth = Figure.unknown(Reason.TABLE_UNSEEN)
            if sample.depth is not None:
                depth = Figure(float(sample.depth), estimated=sample.depth > 0)
            out.append(BrokerQueue(sample, monitor, depth, self._lasting_verdict(sample.queue_id, finding, before, at)))
        return tuple(
            sorted(out, key=lambda queue: (-_severity_rank(queue.verdict), -(queue.depth.value or 0.0), queue.name))
        )

    def _lasting_verdict(
        self, queue_id: int, finding: Finding | None, before: dict[tuple[int, str], float], at: float
    ) -> Verdict | None:
        """Return the verdict once its finding has lasted long enough."""
        if finding is None:
            return None
        key = queue_id, finding.code
        since = self._since[key] = before.get(key, at)
        if at - since < finding.hold_s:
            return None
        return Verdict(finding.code, finding.proof, finding.severity, since, cause=finding.cause)

    def _growth_per_s(self) -> float | None:
        """Return the growth of the undelivered messages over the last minute, in messages per second."""
        if len(self._undelivered) < 2:
            return None
        return (self._undelivered.last - self._undelivered.first) / self._undelivered.seconds


def _sending_figure(transmissions: TransmissionSample | None) -> Figure:
    if transmissions is None:
        return Figure.unknown(Reason.NOT_READ_YET)
    if transmissions.messages is None:
        return (
            Figure(float(transmissions.counted), at_least=True)
            if transmissions.counted
            else Figure.unknown(Reason.TABLE_UNSEEN)
        )
    return Figure(float(transmissions.messages), estimated=transmissions.messages > 0)


def _severity_rank(verdict: Verdict | None) -> int:
    return -1 if verdict is None else verdict.severity
