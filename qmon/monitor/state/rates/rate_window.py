"""Store the flow of one queue: ticks between polls, rates over a window, and the depth extrapolated from a count."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import Final

from qmon.model.rates.flow import Flow

# Seconds over which rates are measured.
RATE_WINDOW_S: Final = 10.0

# Ticks are remembered for this many seconds.
TICKS_S: Final = 180.0
_MOST_NETS: Final = 2400
_SPARE: Final = 240


@dataclass(frozen=True, slots=True)
class Tick:
    """Messages moved between two polls. ``at``: server time of the later poll; ``seconds``: time between the polls."""

    at: float
    seconds: float
    flow: Flow


@dataclass(frozen=True, slots=True)
class Rates:
    """Messages per second over ``seconds``, the time between the first and the last poll of the window."""

    pushed: float
    popped: float | None
    completed: float | None
    net: float | None
    seconds: float


class RateWindow:
    """Ticks without a gap. A gap, a restart or a counter reset starts a new window, so that no rate spans it.

    Args:
        seconds: the time over which rates are measured.
    """

    def __init__(self, seconds: float = RATE_WINDOW_S) -> None:
        self._seconds = seconds
        self._ticks: deque[Tick] = deque()
        self._times = array("d")
        self._nets = array("d")
        self._base: tuple[float, float] | None = None
        # The newest tick in which messages moved.
        self._moved_at = float("-inf")

    def start_over(self, at: float) -> None:
        """Start over with the poll at ``at`` (server clock, seconds)."""
        self._ticks.clear()
        self._times = array("d", (at,))
        self._nets = array("d", (0.0,))
        self._base = None
        self._moved_at = float("-inf")

    def record_tick(self, tick: Tick) -> None:
        """Record the messages moved since the previous poll."""
        self._ticks.append(tick)
        if tick.flow.has_movement:
            self._moved_at = tick.at
        while tick.at - self._ticks[0].at >= max(TICKS_S, self._seconds):
            self._ticks.popleft()
        self._times.append(tick.at)
        self._nets.append(self._nets[-1] + (tick.flow.net or 0.0))
        if len(self._times) >= _MOST_NETS + _SPARE:
            del self._times[:_SPARE], self._nets[:_SPARE]

    def rates_over(self, seconds: float | None = None) -> Rates | None:
        """Return rates over at most the last ``seconds`` (default: the window); ``None`` before the second poll."""
        seconds = self._seconds if seconds is None else seconds
        span = pushed = 0.0
        popped: float | None = 0.0
        completed: float | None = 0.0
        net: float | None = 0.0
        for tick in reversed(self._ticks):
            if span and span + tick.seconds > seconds * 1.05:
                break
            flow = tick.flow
            span += tick.seconds
            pushed += flow.pushed
            # A sum is unknown if one of its parts is unknown.
            popped = None if popped is None or flow.popped is None else popped + flow.popped
            completed = None if completed is None or flow.completed is None else completed + flow.completed
            net = None if net is None or flow.net is None else net + flow.net
        if span <= 0:
            return None
        popped_s, completed_s, net_s = (None if moved is None else moved / span for moved in (popped, completed, net))
        return Rates(pushed / span, popped_s, completed_s, net_s, span)

    @property
    def ticks(self) -> list[tuple[float, Flow]]:
        """The remembered ticks, oldest first: length in seconds and flow.

        If no message moved in the whole window, only the newest two ticks are returned.
        """
        still = len(self._ticks) > 1 and self._moved_at < self._ticks[0].at
        remembered = (self._ticks[-2], self._ticks[-1]) if still else self._ticks
        return [(tick.seconds, tick.flow) for tick in remembered]

    def rebase_ready(self, at: float, ready: float) -> None:
        """Use ``ready`` as the ready messages at ``at`` (server clock), unless that time is before the window."""
        if self._times and at >= self._times[0] - 1.0 and (self._base is None or at >= self._base[0]):
            self._base = (at, ready)

    def extrapolated_ready(self) -> tuple[float, float] | None:
        """Return the ready messages now, extrapolated from the newest count, and that count's age in seconds.

        Returns ``None`` if there is no count.
        """
        if self._base is None or not self._times:
            return None
        at, ready = self._base
        return max(0.0, ready + self._nets[-1] - self._net_at(at)), max(0.0, self._times[-1] - at)

    def _net_at(self, at: float) -> float:
        times, nets = self._times, self._nets
        right = bisect_right(times, at)
        if right <= 0:
            return nets[0]
        if right >= len(times):
            return nets[-1]
        span = times[right] - times[right - 1]
        share = (at - times[right - 1]) / span if span > 0 else 0.0
        return nets[right - 1] + share * (nets[right] - nets[right - 1])
