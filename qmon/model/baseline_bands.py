"""Baselines: the usual range of a figure for each hour of the week, and the figures outside their range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from qmon.model.formatting import number
from qmon.model.queue_figures import BANDED_FIGURES
from qmon.model.series import Point
from qmon.texts import Text


class UsualText(Text):
    """A figure next to its usual value."""

    MEDIAN = "usual {hour}: {median}"
    MULTIPLE = "{times}× the usual {hour}"
    TIMES = "{times}×"
    UNUSUALLY_MUCH = "unusually much"
    UNUSUALLY_LITTLE = "unusually little"


# An hour of the week has a baseline only if it was watched in at least this many weeks.
MIN_WEEKS: Final = 4
HOURS: Final = 168

_SIGMAS: Final = 3.0

# Ratio of standard deviation to MAD for a normal distribution (Rousseeuw and Croux, 1993, "Alternatives to the Median
# Absolute Deviation").
_SIGMA_OF_MAD: Final = 1.4826
_MIN_REACH_SHARE: Final = 0.25

# A queue drains every day if its usual depth falls to at most this share within this many hours.
_DRAINED_SHARE: Final = 0.1
_DAY_HOURS: Final = 24
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of one figure at one hour of the week.

    ``median`` and ``mad`` (median absolute deviation) are taken over ``weeks`` hourly means.
    """

    median: float
    mad: float
    weeks: int


@dataclass(frozen=True, slots=True)
class Band:
    """The usual range of a figure, from ``low`` to ``high``. ``hour`` is text such as ``Tue 14:00``."""

    low: float
    high: float
    median: float
    weeks: int
    hour: str


@dataclass(frozen=True, slots=True)
class UsualBacklog:
    """A backlog that is usual at this hour of the week and is usually gone ``drained`` (text such as ``Tue 02:00``)."""

    band: Band
    drained: str


@dataclass(frozen=True, slots=True)
class Baselines:
    """The baselines of many queues.

    Attributes:
        hours: baselines, keyed by target, queue, figure and hour of the week. Hour 0 is Monday 00:00, 167 is Sunday
            23:00.
        zone: time zone of the hours for targets that ``zones`` does not list.
        zones: time zone of the hours by target.
    """

    hours: Mapping[str, Mapping[str, Mapping[str, Mapping[int, Baseline]]]] = field(default_factory=dict)
    zone: str = "UTC"
    zones: Mapping[str, str] = field(default_factory=dict)

    def band_at(self, target: str, queue: str, figure: str, at: float) -> Band | None:
        """Return the band at ``at`` (seconds since the epoch), or ``None`` if too few weeks of this hour were watched.

        The band extends three standard deviations, estimated from the MAD, to both sides of the median. With few weeks
        the MAD may be 0. The band therefore extends at least a quarter of the median. It also extends at least ten
        messages, one message per second or five seconds, depending on the figure's unit.
        """
        then = datetime.fromtimestamp(at, ZoneInfo(self.zones.get(target, self.zone)))
        hour = then.weekday() * 24 + then.hour
        usual = self.hours.get(target, {}).get(queue, {}).get(figure, {}).get(hour)
        if usual is None or usual.weeks < MIN_WEEKS:
            return None
        middle = usual.median
        least = BANDED_FIGURES[figure].band_reach if figure in BANDED_FIGURES else 0.0
        reach = max(_SIGMAS * _SIGMA_OF_MAD * usual.mad, _MIN_REACH_SHARE * abs(middle), least)
        return Band(max(0.0, middle - reach), middle + reach, middle, usual.weeks, _hour_text(hour))

    def usual_backlog(self, target: str, queue: str, ready: float, at: float) -> UsualBacklog | None:
        """Return the usual backlog, if the queue usually drains within a day and no more messages than usual are ready.

        ``at``: seconds since the epoch. A backlog that never goes away is not usual, however long it has lasted.
        """
        band = self.band_at(target, queue, "ready", at)
        # Within an hour, the depth may change from that of the hour before to that of the hour after.
        near = (self.band_at(target, queue, "ready", at + hours * 3600.0) for hours in (-1, 0, 1))
        if band is None or ready > max(each.high for each in near if each is not None):
            return None
        for hours in range(1, _DAY_HOURS + 1):
            later = self.band_at(target, queue, "ready", at + hours * 3600.0)
            if later is not None and later.median <= _DRAINED_SHARE * band.median:
                return UsualBacklog(band, later.hour)
        return None


NO_BASELINES: Final = Baselines()


def _hour_text(hour: int) -> str:
    """Return the text of an hour of the week, such as ``Tue 14:00``."""
    return f"{_DAYS[hour // 24]} {hour % 24:02d}:00"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A figure outside its band. ``value`` is the mean of the figure over the last minutes."""

    figure: str
    value: float
    band: Band

    @property
    def is_above(self) -> bool:
        """True if the figure is higher than usual, false if it is lower."""
        return self.value > self.band.high

    @property
    def ratio(self) -> float | None:
        """The figure as a multiple of the median.

        ``None`` if the multiple has no meaning: the median is 0, or the multiple is below 0.05 or at least 1,000.
        """
        times = self.value / self.band.median if self.band.median > 0 else None
        return times if times is not None and 0.05 <= times < 1000 else None

    @property
    def text(self) -> str:
        """``3.1× the usual Tue 14:00``, or ``usual Tue 14:00: 0`` if there is no ratio."""
        times, hour = self.ratio, self.band.hour
        if times is None:
            return UsualText.MEDIAN.render(hour=hour, median=number(self.band.median))
        return UsualText.MULTIPLE.render(times=number(times), hour=hour)

    @property
    def short_text(self) -> str:
        """``3.1×``, or ``unusually much`` or ``unusually little`` if there is no ratio."""
        times = self.ratio
        if times is not None:
            return UsualText.TIMES.render(times=number(times))
        return UsualText.UNUSUALLY_MUCH if self.is_above else UsualText.UNUSUALLY_LITTLE


MEAN_WINDOW_S: Final = 300.0
MIN_KNOWN_S: Final = 60.0


def recent_mean(history: Sequence[Point], figure: str) -> float | None:
    """Return the time-weighted mean of a figure over the last five minutes.

    The result is ``None`` if less than one minute is known. Baselines are made of hourly means, so a single poll of a
    bursty queue must not be compared with a baseline.
    """
    total = seconds = 0.0
    for place in range(len(history) - 1, 0, -1):
        point, before = history[place], history[place - 1]
        if history[-1].at - point.at >= MEAN_WINDOW_S:
            break
        value: float | None = getattr(point, figure)
        if value is not None:
            total += value * (point.at - before.at)
            seconds += point.at - before.at
    return total / seconds if seconds >= MIN_KNOWN_S else None


def find_anomalies(baselines: Baselines, target: str, queue: str, history: Sequence[Point]) -> tuple[Anomaly, ...]:
    """Return the figures that are outside their band both now and over the last minutes, farthest first."""
    if not history or queue not in baselines.hours.get(target, {}):
        return ()
    newest, found = history[-1], []
    for figure in BANDED_FIGURES:
        band, now = baselines.band_at(target, queue, figure, newest.at), getattr(newest, figure)
        if band is None or now is None or band.low <= now <= band.high:
            continue
        value = recent_mean(history, figure)
        if value is not None and (value > band.high) == (now > band.high) and not band.low <= value <= band.high:
            found.append(Anomaly(figure, value, band))
    return tuple(sorted(found, key=_distance, reverse=True))


def _distance(anomaly: Anomaly) -> float:
    """Return the distance of a figure from its median, as a multiple of the half width of its band."""
    reach = anomaly.band.high - anomaly.band.median
    return abs(anomaly.value - anomaly.band.median) / reach if reach > 0 else 0.0
