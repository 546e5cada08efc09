"""Drift: the net rate of a queue, how well it is known, and since when it has been what it is. Pure.

The noise around it is a variance over the long run: the sum of the autocovariances of the net rate, weighted as Newey
and West do (Econometrica 55, 1987, pages 703-708), since what moves in one second often makes up for what moved in the
one before (counters that come late, batches) or goes on in the next (bursts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import Final

# The window is divided into at most this many stretches, so that a poll costs the same at any interval.
_STRETCHES: Final = 30
# A change of the rate counts once this many seconds before and after it have been seen …
_LEAST_S: Final = 14.0
# … and once their means differ by this many standard errors. Three are not enough: of the many places where the rate
# could have changed, one often differs by that much by chance.
_CHANGED: Final = 4.0
_LAG_S: Final = 20.0
_LAGS: Final = 6


@dataclass(frozen=True, slots=True)
class NetRate:
    """``net``: messages per second; ``noise``: variance that it gathers in a second; ``seconds``: over how many."""

    net: float
    noise: float
    seconds: float

    @property
    def error(self) -> float:
        """Standard error of the net rate, in messages per second."""
        return sqrt(self.noise / self.seconds)

    def ahead(self, seconds: float) -> float:
        """Standard error of the mean net rate over the seconds to come, in messages per second."""
        return sqrt(self.noise * (1 / self.seconds + 1 / seconds))


def drift_of(ticks: Sequence[tuple[float, float]]) -> NetRate:
    """The drift since the net rate last changed.

    Args:
        ticks: seconds (above 0) and change of ready messages of each interval, oldest first; at least two.
    """
    walk = _Walk(_stretched(ticks))
    start, stop = 0, len(walk)
    while (change := walk.change(start, stop)) is not None:
        start = change
    return walk.drift(start, stop)


def _stretched(ticks: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The ticks put together to stretches of about the same length, the newest whole."""
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


class _Walk:
    """Sums from the beginning to each stretch, from which mean and noise of any part follow at once."""

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

    def drift(self, start: int, stop: int) -> NetRate:
        """The drift over these stretches."""
        seconds = self._seconds[stop] - self._seconds[start]
        return NetRate((self._net[stop] - self._net[start]) / seconds, self._noise(start, stop), seconds)

    def _noise(self, start: int, stop: int) -> float:
        count = stop - start
        seconds = self._seconds[stop] - self._seconds[start]
        if count < 3:
            return abs(self._net[stop] - self._net[start])  # as if each message came by chance
        lags = max(1, min(count - 2, _LAGS, round(min(_LAG_S, seconds / 4) * count / seconds)))
        own = max(0.0, self._covariance(start, stop, 0))
        whole = own + 2 * sum((1 - lag / (lags + 1)) * self._covariance(start, stop, lag) for lag in range(1, lags + 1))
        # Few stretches, of which the mean is taken first, show less than there is.
        return max(whole, 0.05 * own) * seconds / max(1, count - 1 - lags)

    def _covariance(self, start: int, stop: int, lag: int) -> float:
        """The autocovariance of the net rate of these stretches at a lag."""
        count = stop - start
        mean = (self._rates[stop] - self._rates[start]) / count
        products = self._products[lag][stop] - self._products[lag][start + lag]
        both = self._rates[stop] - self._rates[start + lag] + self._rates[stop - lag] - self._rates[start]
        return (products - mean * both + (count - lag) * mean * mean) / count

    def change(self, start: int, stop: int) -> int | None:
        """Where the net rate has most clearly changed, if it has."""
        best, found = _CHANGED, None
        for at in range(start + 1, stop):
            before, after = self._seconds[at] - self._seconds[start], self._seconds[stop] - self._seconds[at]
            if before < _LEAST_S or after < _LEAST_S:
                continue
            old, new = self.drift(start, at), self.drift(at, stop)
            noise = (old.noise * before + new.noise * after) / (before + after)
            differ = abs(new.net - old.net)
            error = sqrt(max(noise, 0.02) * (1 / before + 1 / after))
            if differ > best * error:
                best, found = differ / error, at
        return found


def _sums(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, initial=0.0))
