"""The net rate of a queue, the uncertainty of this rate, and the time when the rate last changed.

The noise is a long-run variance: the sum of the autocovariances of the net rate, with the weights of Newey and West
(Econometrica 55, 1987, pages 703-708). The movement of one second often compensates for the movement of the second
before (late counters, batches) or continues in the next second (bursts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import Final

# The window is divided into at most this many stretches, so that the cost per poll does not depend on the interval.
_STRETCHES: Final = 30

# A change of the rate is accepted if at least this many seconds before and after the change were watched …
_MIN_PART_S: Final = 14.0
# … and the means before and after the change differ by at least this many standard errors. Three are not enough: among
# many possible places for a change, some place often differs by three standard errors by chance.
_CHANGE_SIGMAS: Final = 4.0
_LAG_S: Final = 20.0
_LAGS: Final = 6

# The noise is at least this share of the variance of the net rate.
_LEAST_SHARE: Final = 0.05


@dataclass(frozen=True, slots=True)
class NetRate:
    """The net rate of a queue.

    ``net``: messages per second. ``noise``: variance added per second. ``seconds``: length of the measurement.
    """

    net: float
    noise: float
    seconds: float

    @property
    def error(self) -> float:
        """Standard error of the net rate, in messages per second."""
        return sqrt(self.noise / self.seconds)

    def error_ahead(self, seconds: float) -> float:
        """Return the standard error of the mean net rate over the next ``seconds``, in messages per second."""
        return sqrt(self.noise * (1 / self.seconds + 1 / seconds))


def current_net_rate(ticks: Sequence[tuple[float, float]]) -> NetRate:
    """Return the net rate since its last change.

    Args:
        ticks: length in seconds (above 0) and change of ready messages of at least two intervals, oldest first.
    """
    walk = _StretchSums(_merge_ticks(ticks))
    start, stop = 0, len(walk)
    while (change := walk.find_change(start, stop)) is not None:
        start = change
    return walk.net_rate(start, stop)


def _merge_ticks(ticks: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge the ticks, newest first, into stretches of about equal length. The incomplete oldest stretch is dropped."""
    least = sum(seconds for seconds, _ in ticks) / _STRETCHES
    out: list[tuple[float, float]] = []
    seconds = net = 0.0
    for length, moved in reversed(ticks):
        seconds, net = seconds + length, net + moved
        if seconds >= least * 0.999:
            out.append((seconds, net))
            seconds = net = 0.0
    out.reverse()
    return out


class _StretchSums:
    """Prefix sums over the stretches. They give the mean and the noise of any part in constant time."""

    def __init__(self, stretches: Sequence[tuple[float, float]]) -> None:
        self._seconds = _sums([seconds for seconds, _ in stretches])
        self._net = _sums([net for _, net in stretches])
        rates = [net / seconds for seconds, net in stretches]
        self._rates = _sums(rates)
        self._products = [
            _sums([0.0] * lag + [rates[at] * rates[at - lag] for at in range(lag, len(rates))])
            for lag in range(min(_LAGS, len(rates) - 1) + 1)
        ]

    def __len__(self) -> int:
        return len(self._seconds) - 1

    def net_rate(self, start: int, stop: int) -> NetRate:
        seconds = self._seconds[stop] - self._seconds[start]
        return NetRate((self._net[stop] - self._net[start]) / seconds, self._noise(start, stop), seconds)

    def _noise(self, start: int, stop: int) -> float:
        count = stop - start
        seconds = self._seconds[stop] - self._seconds[start]
        if count < 3:
            return abs(self._net[stop] - self._net[start])  # as if messages arrived independently
        lags = max(1, min(count - 2, _LAGS, round(min(_LAG_S, seconds / 4) * count / seconds)))
        # This runs for many places of a change, so it uses no function for the autocovariance at each lag.
        rates, own = self._rates, self._variance(start, stop)
        mean = (rates[stop] - rates[start]) / count
        whole = 0.0
        for lag in range(1, lags + 1):
            products = self._products[lag][stop] - self._products[lag][start + lag]
            both = rates[stop] - rates[start + lag] + rates[stop - lag] - rates[start]
            whole += (1 - lag / (lags + 1)) * (products - mean * both + (count - lag) * mean * mean)
        # Subtracting the mean of few stretches underestimates the variance.
        return max(own + 2 * whole / count, _LEAST_SHARE * own) * seconds / max(1, count - 1 - lags)

    def _variance(self, start: int, stop: int) -> float:
        """Return the variance of the net rate of these stretches."""
        moved, count = self._rates[stop] - self._rates[start], stop - start
        return max(0.0, (self._products[0][stop] - self._products[0][start] - moved * moved / count) / count)

    def _least_noise(self, start: int, stop: int) -> float:
        """Return a lower bound of the noise, which is quick to compute."""
        seconds, count = self._seconds[stop] - self._seconds[start], stop - start
        return _LEAST_SHARE * self._variance(start, stop) * seconds / (count - 2) if count > 2 else 0.0

    def find_change(self, start: int, stop: int) -> int | None:
        """Return where the net rate has changed most clearly, or ``None`` if the net rate has not changed."""
        best, found = _CHANGE_SIGMAS, None
        for at in range(start + 1, stop):
            before, after = self._seconds[at] - self._seconds[start], self._seconds[stop] - self._seconds[at]
            if before < _MIN_PART_S or after < _MIN_PART_S:
                continue
            differ = abs((self._net[stop] - self._net[at]) / after - (self._net[at] - self._net[start]) / before)
            error = 0.0
            for noise in (self._least_noise, self._noise):  # the lower bound already excludes most places
                both = (noise(start, at) * before + noise(at, stop) * after) / (before + after)
                error = sqrt(max(both, 0.02) * (1 / before + 1 / after))
                if differ <= best * error:
                    break
            else:
                best, found = differ / error, at
        return found


def _sums(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, initial=0.0))
