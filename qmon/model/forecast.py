"""Forecast when a queue drains, or that it never drains, from its net rate and the error band of this rate.

The depth is modelled as a random walk with drift. The drift is the net rate. The variance of the noise around the drift
grows with time. With bursts or batches, the movement of one second does not predict the movement of the next second.
The noise is therefore a long-run variance, see ``qmon.model.rates.net_rate``. The forecast has two sources of error:
the drift is estimated from a window, and the walk continues at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil
from typing import Final

from qmon.model.formatting import count_text, duration, percent, rate
from qmon.model.rates.flow import Flow
from qmon.model.rates.net_rate import NetRate, current_net_rate
from qmon.model.trend import Rise
from qmon.texts import Text


class ForecastText(Text):
    """When a queue drains, or why it does not."""

    EMPTY = "empty"
    NOT_MOVING = "not moving"
    DRAINS_IN = "drains in {time}"
    DRAINS_ABOUT = "drains in {time} ± {share}"
    DRAINS_WITHIN = "drains within {time}"
    GROWING = "growing {rate}/s"
    NEEDS_CONSUMERS = "{growing}: needs ≥ {more}"


# For a growing queue, qmon forecasts the mean net rate over the next seconds (this many) and the band of this rate.
AHEAD_S: Final = 60.0

# Half width of the band in standard errors.
SIGMAS: Final = 2.0

# Minimum band of a forecast time, in seconds. Counters of working sessions arrive up to a second late.
LAG_S: Final = 2.0
_STEADY_SHARE: Final = 0.02

# The trend is unclear if the error of the net rate exceeds this share of pushes or pops.
_UNCLEAR_SHARE: Final = 0.2
_FOREVER_S: Final = 30 * 86400.0


class Trend(StrEnum):
    """The direction in which the depth moves."""

    DRAINING = "draining"
    GROWING = "growing"
    STEADY = "steady"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a queue drains.

    ``seconds`` ± ``band_s``: time left while draining. ``growth``: messages per second while growing. ``growth_band``:
    the mean growth over the next minute is within this many messages per second of ``growth``.
    """

    trend: Trend
    seconds: float | None = None
    band_s: float | None = None
    growth: float | None = None
    text: str = ""
    growth_band: float | None = None

    def or_growth_of_last_hour(self, rise: Rise) -> Forecast:
        """Return this forecast if it shows growth, else a forecast with the growth of the last hour."""
        if self.trend is Trend.GROWING:
            return self
        growth = (rise.now - rise.before) / rise.over_s
        return Forecast(Trend.GROWING, growth=growth, text=ForecastText.GROWING.render(rate=rate(growth)))

    @property
    def without_consumer_advice(self) -> Forecast:
        """The forecast without the number of consumers needed, which does not apply during a pause."""
        if self.growth is None or self.trend is not Trend.GROWING:
            return self
        return replace(self, text=ForecastText.GROWING.render(rate=rate(self.growth)))


# The forecast of a queue whose messages are not popped.
UNMOVED: Final = Forecast(Trend.STEADY, growth=0.0, text=ForecastText.NOT_MOVING)


def forecast_drain(ready: float | None, ticks: Sequence[tuple[float, Flow]], consumers: int | None = None) -> Forecast:
    """Return the forecast for one queue.

    Only the ticks since the last change of the net rate are used. If the queue grows and its consumers have always
    found a message, the forecast contains the number of additional consumers needed: the net rate divided by the pop
    rate of one consumer.

    Args:
        ready: messages ready now; ``None`` if unknown.
        ticks: the length in seconds and the flow of each interval between two polls, oldest first.
        consumers: number of connected consumers; ``None`` if the number is unknown or some consumers are idle.
    """
    ticks = [tick for tick in ticks if tick[0] > 0]
    if ready is None or len(ticks) < 2:
        return Forecast(Trend.UNKNOWN)
    nets = [(seconds, flow.net) for seconds, flow in ticks if flow.net is not None]
    if len(nets) < len(ticks):
        return Forecast(Trend.UNKNOWN)
    if not any(flow.has_movement for _, flow in ticks):
        return _unmoved_forecast(ready)
    drift = current_net_rate(nets)
    pushed, popped = _rates(ticks, drift.seconds)
    net = drift.net
    if ready == 0 and abs(net) <= max(0.5, _STEADY_SHARE * pushed):
        return Forecast(Trend.STEADY, text=ForecastText.EMPTY)
    if popped == 0 and pushed == 0 and ready > 0:
        return _unmoved_forecast(ready)
    unsure = SIGMAS * drift.error
    if abs(net) <= max(unsure, _STEADY_SHARE * max(pushed, popped), 0.05):
        steady = unsure <= _UNCLEAR_SHARE * max(pushed, popped)
        return Forecast(Trend.STEADY, growth=net, text="stable" if steady else "unclear")
    if net > 0:
        return _growing_forecast(ready, drift, popped, consumers)
    left = ready / -net
    if left > _FOREVER_S:
        return Forecast(Trend.STEADY, growth=net, text="stable")
    band = max(LAG_S, left * min(1.0, SIGMAS * drift.error_ahead(max(left, 1.0)) / -net))
    return Forecast(Trend.DRAINING, left, band, net, _drain_text(left, band))


def _unmoved_forecast(ready: float) -> Forecast:
    if ready == 0:
        return Forecast(Trend.STEADY, text=ForecastText.EMPTY)
    return UNMOVED


def _drain_text(left: float, band: float) -> str:
    if band >= left:
        return ForecastText.DRAINS_WITHIN.render(time=duration(left + band))
    if band / left < 0.005:
        return ForecastText.DRAINS_IN.render(time=duration(left))
    return ForecastText.DRAINS_ABOUT.render(time=duration(left), share=percent(band / left))


def _growing_forecast(ready: float, drift: NetRate, popped: float, consumers: int | None) -> Forecast:
    text = ForecastText.GROWING.render(rate=rate(drift.net))
    if consumers and popped > 0 and ready > popped:
        more = ceil(drift.net / (popped / consumers))
        text = ForecastText.NEEDS_CONSUMERS.render(growing=text, more=count_text(more, "more consumer"))
    return Forecast(Trend.GROWING, growth=drift.net, text=text, growth_band=SIGMAS * drift.error_ahead(AHEAD_S))


def _rates(ticks: Sequence[tuple[float, Flow]], seconds: float) -> tuple[float, float]:
    """Return pushes and pops per second over the last ``seconds``."""
    span = pushed = popped = 0.0
    for length, flow in reversed(ticks):
        if span >= seconds - 0.001:
            break
        span += length
        pushed += flow.pushed
        popped += flow.popped or 0.0
    return pushed / span, popped / span
