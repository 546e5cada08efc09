"""Ages, sizes and names as plans say them: short, and on one line whatever they hold."""

from __future__ import annotations

from typing import Final

_AGES: Final = ((86400.0, "d"), (3600.0, "h"), (60.0, "m"))
_SIZES: Final = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def ago(seconds: float) -> str:
    """``14 m``, ``2 h 4 m``, ``0.4 s``: seconds in at most two units."""
    for index, (size, unit) in enumerate(_AGES):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            small = (*_AGES, (1.0, "s"))[index + 1]
            more = int(rest // small[0])
            return f"{whole:.0f} {unit}" + (f" {more} {small[1]}" if more else "")
    return f"{max(seconds, 0.0):.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def bytes_of(count: int) -> str:
    """``1.2 MB``: bytes in the largest unit of 1,024 that fits."""
    for size, unit in _SIZES:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def counted(count: int, thing: str) -> str:
    """``1 session``, ``1,204 sessions``."""
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def short(text: str, length: int = 60) -> str:
    """The text on one line, printable, and cut after so many characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(line.split())
    return line if len(line) <= length else line[: length - 1] + "…"
