"""Values to words: counts, rates, ages. Pure, and the same everywhere on the screens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.model.figure import Figure

UNKNOWN: Final = "–"
_UNITS: Final = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "m"))
_FINER: Final = {"d": (3_600.0, "h"), "h": (60.0, "m"), "m": (1.0, "s")}


def count(value: float) -> str:
    """A number of messages: ``12,431``; from a million on ``5.004 M``, ``51.23 M``, ``512.3 M``."""
    whole = round(value)
    if abs(whole) < 1_000_000:
        return f"{whole:,}"
    for size, unit in ((1e6, "M"), (1e9, "G")):
        scaled = value / size
        if abs(scaled) < 999.95 or unit == "G":
            return f"{scaled:,.{max(0, 4 - len(str(int(abs(scaled)))))}f} {unit}"
    raise AssertionError("the last unit takes everything")


def rate(value: float) -> str:
    """Messages per second: ``4.0``, ``18.3``, ``91,204``."""
    if value == 0:
        return "0"
    if abs(value) < 0.05:
        return "<0.1" if value > 0 else ">-0.1"
    return f"{value:.1f}" if abs(value) < 99.95 else count(value)


def aligned_rate(value: float) -> str:
    """As ``rate``, with room behind whole numbers, so that right-aligned columns line up on the decimal."""
    text = rate(value)
    return text if "." in text else f"{text}  "


def age(seconds: float) -> str:
    """An age in one unit: ``0.4 s``, ``14 s``, ``14 m``, ``2 h``, ``3 d``."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    raise AssertionError("every age of a minute or more has a unit")


def long_age(seconds: float) -> str:
    """An age in two units where that helps: ``0.4 s``, ``4 m 05 s``, ``2 h 04 m``, ``3 d 11 h``."""
    for size, unit in _UNITS:
        if seconds >= max(size, 99.5):
            finer, finer_unit = _FINER[unit]
            return f"{int(seconds // size)} {unit} {int(seconds % size // finer):02d} {finer_unit}"
    return age(seconds)


def ticking(seconds: float) -> str:
    """An age for a panel's title, in whole seconds, so that it seldom changes."""
    return long_age(seconds) if seconds >= 99.5 else f"{max(0.0, seconds):.0f} s"


def milliseconds(value: float) -> str:
    """A time in milliseconds: ``1.8 ms``, ``42 ms``, ``3.1 s``."""
    if value < 9.95:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 999.5 else f"{value / 1000:.1f} s"


def percent(share: float) -> str:
    """A share as a percentage: ``3 %``, ``0.4 %``."""
    return f"{share * 100:.1f} %" if 0 < share < 0.00995 else f"{share * 100:.0f} %"


def figure(value: Figure, write: Callable[[float], str] = count) -> str:
    """A figure with its sign: ``~`` estimated, ``≥`` at least, ``–`` unknown."""
    if value.value is None:
        return UNKNOWN
    sign = "≥" if value.at_least else "~" if value.estimated else ""
    return sign + write(value.value)


def interval(seconds: float) -> str:
    """A poll interval: ``1 s``, ``0.5 s``."""
    return f"{seconds:g} s"
