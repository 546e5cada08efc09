"""Formats figures for display. All formats of the report use these functions."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

from qmon.model import formatting
from qmon.model.formatting import UNKNOWN, duration

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def number_text(value: float | None) -> str:
    """Format a count or a rate: three significant digits, with thousands separators."""
    if value is None:
        return UNKNOWN
    if abs(value) >= 100 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.2f}"


def short_text(value: float) -> str:
    """Format a number for an axis: at most five characters up to 10^12."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            scaled = value / (1e3 if unit == "k" else size)
            return f"{scaled:,.0f}{unit}" if scaled >= 100 else f"{scaled:.3g}{unit}"
    return number_text(value)


def duration_text(value: float | None) -> str:
    """Format a duration in seconds."""
    return UNKNOWN if value is None else duration(value)


def moment_text(at: float | None) -> str:
    """Format a moment in UTC, to the second."""
    return UNKNOWN if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def day_time_text(at: float) -> str:
    """Format a moment in UTC to the minute: ``Tue 24 Nov 14:03``."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{_DAYS[then.weekday()]} {then.day} {_MONTHS[then.month - 1]} {then:%H:%M}"


def day_text(at: float) -> str:
    """Format the day of a moment in UTC: ``Tue 24``."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{_DAYS[then.weekday()]} {then.day}"


def date_text(at: float) -> str:
    """Format a date without its year: ``24 Nov``."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{then.day} {_MONTHS[then.month - 1]}"


def good_share_text(share: float | None) -> str:
    """Format a share close to 100 %, never rounded up: ``99.2 %``, ``99.98 %``. Only the exact share 1 is ``100 %``."""
    if share is None:
        return UNKNOWN
    digits = 0 if share < 0.9 else 1 if share < 0.999 else 3
    cut = math.floor(share * 100 * 10**digits + 1e-9) / 10**digits
    return f"{cut:.{digits}f}".rstrip("0").rstrip(".") + " %" if digits else f"{cut:.0f} %"


def percent_text(share: float | None) -> str:
    """Format a share of a whole."""
    return UNKNOWN if share is None else formatting.percent(share)


def change_text(now: float | None, before: float | None) -> str:
    """Format a relative change in per cent."""
    if now is None or before is None:
        return UNKNOWN
    if before == 0:
        return "from 0" if now else "±0 %"
    points = round((now / before - 1) * 100)
    return f"{points:+,d} %" if points else "±0 %"
