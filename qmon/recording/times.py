"""Parses and formats times, and resolves time zones."""

from __future__ import annotations

import os
import re
import sys
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from qmon.errors import BadInput
from qmon.model.formatting import parse_duration
from qmon.texts import Text


class TimeText(Text):
    """Texts about times that a user types."""

    EXAMPLES = "write 14:03, 14:03:20, 2026-11-21 14:03, or -10m"
    NOT_A_TIME = "{text!r} is not a time: {examples}"


_ZONE_FOLDER: Final = "zoneinfo/"
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")


def parse_moment(text: str, zone: str, near_at: float) -> float:
    """Convert a time of day, a date with a time, or ``+5m``/``-5m`` from ``near_at`` to seconds since the epoch.

    A time of day is on the day of ``near_at``, or on the day before if it would be more than a minute after
    ``near_at``. Times are in ``zone`` unless they have an offset. Raises ``BadInput``.
    """
    cleaned = text.strip()
    if cleaned[:1] in ("+", "-"):
        return near_at + (1 if cleaned[0] == "+" else -1) * parse_duration(cleaned[1:])
    where = zone_info(zone)
    clock = _CLOCK.fullmatch(cleaned)
    try:
        if clock is None:
            found = datetime.fromisoformat(cleaned)
            return (found if found.tzinfo is not None else found.replace(tzinfo=where)).timestamp()
        near = datetime.fromtimestamp(near_at, where)
        seconds = float(clock[3] or 0)
        found = near.replace(hour=int(clock[1]), minute=int(clock[2]), second=int(seconds), microsecond=0)
    except (ValueError, OverflowError):
        raise BadInput(TimeText.NOT_A_TIME.render(text=text, examples=TimeText.EXAMPLES)) from None
    if found > near + timedelta(minutes=1):
        found -= timedelta(days=1)
    return found.timestamp() + seconds % 1


def local_time(at: float, zone: str) -> str:
    """Return a time in a time zone: ``2026-11-21 14:03:20 CET``."""
    return datetime.fromtimestamp(at, zone_info(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


@lru_cache(maxsize=64)
def zone_info(name: str) -> ZoneInfo:
    """Return the time zone, or UTC if it does not exist on this machine."""
    return ZoneInfo(name if is_zone(name) else "UTC")


def local_zone(localtime: Path = Path("/etc/localtime"), timezone_file: Path = Path("/etc/timezone")) -> str:
    """Return the local time zone's IANA name (``Europe/Berlin``), or ``UTC`` if it cannot be found."""
    candidates = [os.environ.get("TZ", "").removeprefix(":")]
    if sys.platform == "win32":
        from tzlocal import get_localzone_name

        candidates.append(get_localzone_name())
    if localtime.is_symlink():
        candidates.append(str(localtime.readlink()).rpartition(_ZONE_FOLDER)[2])
    if timezone_file.is_file():
        candidates.append(timezone_file.read_text("utf-8", errors="replace").strip())
    return next((name for name in candidates if is_zone(name)), "UTC")


def is_zone(name: str) -> bool:
    """Return true if the time zone exists."""
    if not name or name not in available_timezones():
        return False
    return ZoneInfo(name).key == name
