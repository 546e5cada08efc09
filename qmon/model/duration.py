"""Durations in settings, as people write them: ``5m``, ``1h30m``, ``500ms``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from qmon.errors import BadInput

MAX_S: Final = 10_000 * 86_400.0
"""No duration is longer, in seconds: servers and threads reckon with no more of them than 32 bits hold."""
_SHOWN: Final = 40
_SECONDS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[dhms])\s*")


def parse_duration(text: str) -> float:
    """Seconds of ``2s``, ``1h30m`` or ``500ms``; a number alone is seconds.

    Raises ``BadInput`` for anything else, for nothing or less, and for more than ``MAX_S``.
    """
    cleaned = text.strip().lower()
    at, seconds = 0, 0.0
    if re.fullmatch(r"\d+(\.\d+)?", cleaned):
        seconds = float(cleaned)
    else:
        while at < len(cleaned) and (part := _PART.match(cleaned, at)):
            seconds += float(part[1]) * _SECONDS[part[2]]
            at = part.end()
        if at < len(cleaned):
            seconds = 0.0
    if not seconds > 0:
        raise BadInput(f"{_short(text)} is not a duration: write 90s, 5m or 1h30m")
    if seconds > MAX_S:
        raise BadInput(f"{_short(text)} is too long: at most {MAX_S / 86_400:.0f}d")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest such text that reads back as exactly as many seconds."""
    for text in _candidates(seconds):
        if text and parse_duration(text) == seconds:
            return text
    return f"{Decimal(repr(float(seconds))):f}s"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def _candidates(seconds: float) -> tuple[str, ...]:
    whole = int(seconds)
    rest, out = whole, ""
    for unit in "dhms":
        count, rest = divmod(rest, int(_SECONDS[unit]))
        out += f"{count}{unit}" if count else ""
    return (out, f"{round(seconds * 1000)}ms" if 0.0005 < seconds < 10 else "")
