"""The time zone of this machine, by its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

_PLACES: Final = "zoneinfo/"


def local_zone(localtime: Path = Path("/etc/localtime"), named: Path = Path("/etc/timezone")) -> str:
    """The IANA name (``Europe/Berlin``) that ``TZ``, ``/etc/timezone`` or ``/etc/localtime`` give; else ``UTC``."""
    candidates = [os.environ.get("TZ", "").removeprefix(":")]
    if localtime.is_symlink():
        candidates.append(str(localtime.readlink()).rpartition(_PLACES)[2])
    if named.is_file():
        candidates.append(named.read_text(errors="replace").strip())
    return next((name for name in candidates if is_zone(name)), "UTC")


def is_zone(name: str) -> bool:
    """Whether there is a time zone of that name."""
    if not name or name not in available_timezones():
        return False
    return ZoneInfo(name).key == name
