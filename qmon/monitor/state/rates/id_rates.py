"""Compute the rates of a queue on a standby, where counters are unknown, from the ids of its rows."""

from __future__ import annotations

from qmon.model.figure import Figure
from qmon.model.reasons import Reason
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state.rates.counter_windows import CounterWindow
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S


class IdRates:
    """Rates from row ids: pushes from the newest id, pops from the pushes and the change in depth.

    An id whose transaction was rolled back counts as pushed and popped, so both rates are estimates. If pops delete
    rows, the newest row shows the last push only while pops start at the oldest row and some rows are left.
    """

    def __init__(self, window_s: float = RATE_WINDOW_S) -> None:
        # The newest id, and the depth if it is exact.
        self._seen = CounterWindow[tuple[int, float | None]](window_s, reset=lambda before, now: now[0] < before[0])

    def record_poll(self, samples: QueueSamples, at: float, ready: float | None) -> None:
        """Record one poll. ``ready``: the depth if it is exact."""
        known = not samples.layout.traits.deletes_on_pop or samples.layout.traits.order == "fifo"
        if samples.last_id is None or not known:
            self._seen.clear()
        else:
            self._seen.record_totals(at, (samples.last_id, ready if samples.layout.due_at is None else None))

    @property
    def push_rate(self) -> Figure | None:
        """Messages pushed per second; ``None`` if the ids do not give a rate."""
        if len(self._seen) < 2:
            return None
        return Figure(self._ids_issued / self._seen.seconds, estimated=True, reason=Reason.STANDBY_IDS)

    @property
    def pop_rate(self) -> Figure | None:
        """Messages popped per second; ``None`` if ids and depths do not give a rate."""
        if len(self._seen) < 2:
            return None
        before, now = self._seen.first[1], self._seen.last[1]
        if before is None or now is None:
            return None
        return Figure(
            max(0.0, self._ids_issued - (now - before)) / self._seen.seconds, estimated=True, reason=Reason.STANDBY_IDS
        )

    @property
    def _ids_issued(self) -> int:
        return self._seen.last[0] - self._seen.first[0]
