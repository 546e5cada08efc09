"""Forecast: when a queue drains, or that it never will, from the net rate with a band."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

from qmon.model.view import Forecast, Trend

_STEADY_SHARE: Final = 0.02
_SIGMAS: Final = 2.0
_FOREVER_S: Final = 30 * 86400.0
_MINUTE: Final = 60.0


def forecast(ready: float | None, nets: Sequence[tuple[float, float]], pushed: float, popped: float) -> Forecast:
    """The forecast for one queue.

    Args:
        ready: messages ready now, ``None`` where that is not known.
        nets: per interval its length in seconds and the change of ready messages in it, oldest first.
        pushed: pushes per second over those intervals.
        popped: pops per second over those intervals.

    The band is two standard errors of the net rate (its spread between intervals, weighted by time), carried over to
    the time: seconds x relative error.
    """
    seconds = sum(s for s, _ in nets)
    if ready is None or len(nets) < 2 or seconds <= 0:
        return Forecast(Trend.UNKNOWN)
    net = sum(n for _, n in nets) / seconds
    if ready == 0 and abs(net) <= max(0.5, _STEADY_SHARE * pushed):
        return Forecast(Trend.STEADY, text="empty")
    error = _standard_error(nets, net, seconds)
    if popped == 0 and pushed == 0 and ready > 0:
        return Forecast(Trend.STEADY, growth=0.0, text="not moving")
    if abs(net) <= max(_SIGMAS * error, _STEADY_SHARE * max(pushed, popped), 0.05):
        return Forecast(Trend.STEADY, growth=net, text="holds steady")
    if net > 0:
        return Forecast(Trend.GROWING, growth=net, text=f"growing {_rate(net)}/s")
    left = ready / -net
    if left > _FOREVER_S:
        return Forecast(Trend.STEADY, growth=net, text="holds steady")
    band = left * min(1.0, _SIGMAS * error / -net)
    return Forecast(Trend.DRAINING, left, band, net, f"drains in {_span(left, band)}")


def _standard_error(nets: Sequence[tuple[float, float]], mean: float, seconds: float) -> float:
    spread = sum(s * (n / s - mean) ** 2 for s, n in nets if s > 0) / seconds
    return sqrt(spread / max(1, len(nets) - 1))


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _span(seconds: float, band: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("m", _MINUTE)):
        if seconds >= 2 * size:
            wide = f" ± {band / size:.0f}" if band >= 0.5 * size else ""
            return f"{seconds / size:.0f} {unit}{wide}"
    return f"{seconds:.0f} s" + (f" ± {band:.0f}" if band >= 1 else "")
