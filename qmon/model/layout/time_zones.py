"""The meaning of times without a time zone: UTC, the server's local time, a named zone, a number, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

TIME_TYPES: Final = frozenset(
    {
        "timestamp with time zone",
        "timestamp without time zone",
        "datetime",
        "datetime2",
        "datetimeoffset",
        "smalldatetime",
    }
)
ZONELESS_TYPES: Final = TIME_TYPES - {"timestamp with time zone", "datetimeoffset"}

# Types of times stored as numbers.
NUMBER_TYPES: Final = frozenset({"bigint", "integer", "int", "numeric", "decimal"})

_DAY_S: Final = 86400

# Days from the year 1 to 1970, and to the year 10000.
_DAYS_TO_1970: Final = 719_162
_DAYS_TO_10000: Final = 3_652_059
_DAYS_BACK: Final = 500
_DAYS_AHEAD: Final = 500

# Clocks change at full quarters of an hour.
_CHANGE_STEP_S: Final = 900

# Sorted pairs: a time (seconds since the epoch), and the minutes by which a clock is ahead of UTC from this time on.
# The first pair also applies to all earlier times.
ClockChanges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """The unit of times that are stored as numbers.

    ``per_s``: units per second. ``zero_days``: days from zero to 1970. ``words``: a description.
    """

    per_s: int
    zero_days: int
    words: str

    @property
    def min_number(self) -> int:
        """The number of the first moment of the year 1, the first year that both servers can store."""
        return (self.zero_days - _DAYS_TO_1970) * _DAY_S * self.per_s

    @property
    def max_number(self) -> int:
        """The number of the last moment of the year 9999."""
        return (self.zero_days - _DAYS_TO_1970 + _DAYS_TO_10000) * _DAY_S * self.per_s - 1


@dataclass(frozen=True, slots=True)
class Zone:
    """The meaning of times.

    Attributes:
        name: ``utc``, ``local`` (time of the server), ``unknown``, a key of ``NUMBER_ZONES``, or an IANA time zone.
        changes: the clock changes within more than a year before and after now, if known.
        count: unit of times stored as whole numbers, in UTC.
    """

    name: str
    changes: ClockChanges = ()
    count: TimeUnit | None = None

    @property
    def types(self) -> frozenset[str]:
        """The types that a column of times in this zone may have."""
        return TIME_TYPES if self.count is None else NUMBER_TYPES

    @property
    def description(self) -> str:
        """A description of the times in a column of this zone."""
        return "a time" if self.count is None else self.count.words


UTC_ZONE: Final = Zone("utc")
LOCAL_ZONE: Final = Zone("local")
UNKNOWN_ZONE: Final = Zone("unknown")
UNIX: Final = Zone("unix", count=TimeUnit(1, 0, "seconds since 1970"))
UNIX_MS: Final = Zone("unix_ms", count=TimeUnit(1000, 0, "milliseconds since 1970"))
TICKS: Final = Zone("ticks", count=TimeUnit(10_000_000, _DAYS_TO_1970, ".NET ticks of 100 ns since the year 1"))
NUMBER_ZONES: Final = {zone.name: zone for zone in (UNIX, UNIX_MS, TICKS)}


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """A column of times with their meaning. Times with a zone are ``utc``, because the server converts them."""

    name: str
    zone: Zone = UTC_ZONE


def load_zone(name: str, now: float) -> Zone | None:
    """Return the IANA time zone with its changes around ``now`` (seconds since the epoch).

    Returns ``None`` if there is no such zone.
    """
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return Zone(name, _clock_changes(zone, now))


def _clock_changes(zone: ZoneInfo, now: float) -> ClockChanges:
    start = (int(now) // _DAY_S - _DAYS_BACK) * _DAY_S
    out = [(start, _offset_minutes(zone, start))]
    for day in range(start, start + (_DAYS_BACK + _DAYS_AHEAD) * _DAY_S, _DAY_S):
        before, after = out[-1][1], _offset_minutes(zone, day + _DAY_S)
        if before == after:
            continue
        low, high = day, day + _DAY_S
        while high - low > _CHANGE_STEP_S:
            middle = (low + high) // 2 // _CHANGE_STEP_S * _CHANGE_STEP_S
            low, high = (middle, high) if _offset_minutes(zone, middle) == before else (low, middle)
        out.append((high, after))
    return tuple(out)


def _offset_minutes(zone: ZoneInfo, at: int) -> int:
    offset = datetime.fromtimestamp(at, UTC).astimezone(zone).utcoffset() or timedelta()
    return int(offset.total_seconds()) // 60
