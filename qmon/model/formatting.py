"""Format values for people: durations, times, bytes, numbers, rates, payloads, sparklines.

The module also parses and formats durations of settings: ``5m``, ``1h30m``, ``500ms``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from qmon.errors import BadInput
from qmon.texts import Text


class DurationText(Text):
    """Errors of durations."""

    NO_UNIT = "{text!r} has no unit: write {number}s, {number}m or {number}h"
    NOT_A_DURATION = "{text!r} is not a duration: write 90s, 5m or 1h30m"
    DURATION_TOO_LONG = "{text!r} is too long: at most {days:.0f}d"


# Shown in place of a value that is unknown.
UNKNOWN: Final = "–"

# A spreadsheet reads text that starts with one of these characters as a formula.
_FORMULA: Final = ("=", "+", "-", "@")
BLOCKS: Final = " ▁▂▃▄▅▆▇█"

_UNITS: Final = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s"))

_YEAR_S: Final = 365.25 * 86_400

# Prefixes of hex digits in bytes written by PostgreSQL and SQL Server.
_HEX: Final = ("\\x", "0x")
_BLANKS: Final = frozenset("\t\n\r")
_BYTES: Final = frozenset({"bytea", "binary", "varbinary", "image"})

# An ODBC driver may send a savepoint before each statement.
_SAVEPOINT: Final = re.compile(r"^SAVEPOINT \w+ ?; ?", re.IGNORECASE)
_MAX_STATEMENT_LENGTH: Final = 70
_SIZED: Final = frozenset({"bytea", "text", "character varying", "character"})


def duration(seconds: float) -> str:
    """Return a measured time as text. A time of one minute or more has two units.

    Examples: ``3.2 s``, ``42 s``, ``5 m 10 s``, ``1 h 02 m``, ``3 d 04 h``. If a clock is slightly behind, the result
    is ``0.0 s``. If the time is a minute or more in the future, the result is negative: ``-1 h 02 m``.
    ``format_duration`` writes durations of settings.
    """
    if seconds <= -60:
        return f"-{duration(-seconds)}"
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    whole = max(60, int(seconds))
    for size, unit, finer, finer_unit in _UNITS:
        if whole >= size:
            return f"{whole // size:,} {unit} {whole % size // finer:02d} {finer_unit}"
    raise AssertionError("a minute or more has a unit")


def compact_duration(seconds: float) -> str:
    """Return a duration in at most six characters, for cells: ``0.4s``, ``42s``, ``1m27s``, ``23h59m``, ``3d04h``.

    A negative duration may have one more. From 100 days on, only the days are written: ``364d``.
    """
    return short_duration(seconds) if abs(seconds) >= 8_640_000 else duration(seconds).replace(" ", "")


def short_duration(seconds: float) -> str:
    """Return a duration in its largest unit, for narrow columns: ``12s``, ``8m``, ``3h``, ``2d``.

    From 1,000 days on, the unit is a year.
    """
    if seconds <= -60:
        return f"-{short_duration(-seconds)}"
    if seconds >= 1_000 * 86_400:
        return f"{seconds // _YEAR_S:.0f}y"
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f}{unit}"
    return f"{seconds:.0f}s"


def whole_seconds(seconds: float) -> str:
    """Return a duration without tenths of a second, for titles that should change rarely."""
    return duration(seconds) if seconds >= 59.5 else f"{max(0.0, seconds):.0f} s"


def milliseconds(value: float) -> str:
    """Return milliseconds as text: ``1.8 ms``, ``42 ms``. A second or more is written like ``duration`` writes it."""
    if value < 9.95:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 999.5 else duration(value / 1000)


def date_and_time(at: float) -> str:
    """Return seconds since the epoch as ``2026-11-21 07:15:00 UTC``."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def time_of_day(at: float) -> str:
    """Return a time of today as ``07:15:00 UTC``."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S} UTC"


def count(value: float) -> str:
    """Return a number of things: ``12,431``.

    A million or more is shortened to four digits: ``5.004 M``, ``51.23 M``, ``512.3 M``.
    """
    whole = round(value)
    if abs(whole) < 1_000_000:
        return f"{whole:,}"
    scaled, unit = (value / 1e6, "M") if abs(value) < 999.95e6 else (value / 1e9, "G")
    return f"{scaled:,.{max(0, 4 - len(str(int(abs(scaled)))))}f} {unit}"


def short_count(value: float) -> str:
    """Return a number of things in at most four characters: ``0``, ``999``, ``1.2k``, ``40k``, ``5.0M``, ``512M``."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if abs(scaled) < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def count_text(number: int, thing: str) -> str:
    """Return a number with its noun: ``1 session``, ``1,204 sessions``."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def number(value: float) -> str:
    """Return a value with at least two significant digits: ``0.25``, ``3.1``, ``31``, ``3,100``.

    Whole values are written without decimals.
    """
    if value == round(value) or abs(value) >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2f}"


def rate(value: float) -> str:
    """Return a rate without its unit: ``0``, ``<0.1``, ``4.0``, ``18.3``, ``91,204``."""
    if value == 0:
        return "0"
    if abs(value) < 0.05:
        return "<0.1" if value > 0 else ">-0.1"
    return f"{value:.1f}" if abs(value) < 99.95 else count(value)


def short_rate(value: float) -> str:
    """Return a rate in at most five characters, without its unit: ``0``, ``<0.1``, ``4.0``, ``18``, ``91k``."""
    return rate(value) if abs(value) < 9.95 else short_count(value)


def percent(share: float) -> str:
    """Return a share as a percentage: ``3 %``, ``0.4 %``."""
    return f"{share * 100:.1f} %" if 0 < share < 0.00995 else f"{share * 100:.0f} %"


def size(count_of_bytes: float) -> str:
    """Return bytes in the largest fitting unit (steps of 1,024): ``812 B``, ``8.0 kB``, ``1.2 MB``, ``48 GB``."""
    value, unit = count_of_bytes, "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if abs(value) < 999.5:
            break
        value, unit = value / 1024, bigger
    return f"{value:.1f} {unit}" if unit != "B" and abs(value) < 9.95 else f"{value:,.0f} {unit}"


def one_line(text: str, length: int = 60) -> str:
    """Return the text on one line, without unprintable characters, truncated to ``length`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def short_statement(statement: str) -> str:
    """Return the beginning of a statement on one line, without the savepoint of an ODBC driver."""
    return one_line(_SAVEPOINT.sub("", " ".join(statement.split())), _MAX_STATEMENT_LENGTH)


def holds_bytes(type_name: str) -> bool:
    """Return whether a column of this type holds bytes. The type may include a length."""
    return _base_type(type_name) in _BYTES


def has_cheap_size(type_name: str) -> bool:
    """Return whether ``octet_length`` of PostgreSQL gets the size of a value of this type without detoasting it."""
    return _base_type(type_name) in _SIZED


def _base_type(type_name: str) -> str:
    return "" if type_name.endswith("[]") else type_name.partition("(")[0].strip()


def decode_hex(written: str | None) -> str | None:
    """Decode bytes that a server wrote as hex digits, which may be truncated.

    Return the UTF-8 text of the bytes, or hex digits such as ``0x1b5b`` if the bytes are not text. Input that is not
    hex digits is returned unchanged.
    """
    if written is None or not written.startswith(_HEX):
        return written
    digits = written[2 : len(written) // 2 * 2]
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        return written
    text = utf8_text(raw)
    return f"0x{raw.hex()}" if text is None else text


def utf8_text(raw: bytes) -> str | None:
    """Decode bytes that may end inside a character. Return ``None`` if they are not printable UTF-8 text."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw)  # the last character may be incomplete
    except ValueError:
        return None
    return text if all(c.isprintable() or c in _BLANKS for c in text) else None


# Longest duration in seconds: servers and threads use at most 32 bits for durations.
MAX_S: Final = 10_000 * 86_400.0
_SHOWN: Final = 40
_SECONDS: Final = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[dhms])\s*")


def parse_duration(text: str) -> float:
    """Parse a duration such as ``2s``, ``1h30m`` or ``500ms`` into seconds.

    Raises ``BadInput`` for any other text, including 0, a number without a unit, and more than ``MAX_S`` seconds.
    """
    cleaned = text.strip().lower()
    at, seconds = 0, 0.0
    if re.fullmatch(r"\d*[1-9]\d*(\.\d+)?", cleaned):
        number = cleaned if len(cleaned) < _SHOWN // 2 else "5"
        raise BadInput(DurationText.NO_UNIT.render(text=_shorten(text), number=number))
    while at < len(cleaned) and (part := _PART.match(cleaned, at)):
        seconds += float(part[1]) * _SECONDS[part[2]]
        at = part.end()
    if at < len(cleaned):
        seconds = 0.0
    if not seconds > 0:
        raise BadInput(DurationText.NOT_A_DURATION.render(text=_shorten(text)))
    if seconds > MAX_S:
        raise BadInput(DurationText.DURATION_TOO_LONG.render(text=_shorten(text), days=MAX_S / 86_400))
    return seconds


def format_duration(seconds: float) -> str:
    """Return the shortest text that ``parse_duration`` reads as exactly this many seconds."""
    for text in _duration_candidates(seconds):
        if text and parse_duration(text) == seconds:
            return text
    return f"{Decimal(repr(float(seconds))):f}s"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _duration_candidates(seconds: float) -> tuple[str, ...]:
    whole = int(seconds)
    rest, out = whole, ""
    for unit in "dhms":
        count, rest = divmod(rest, int(_SECONDS[unit]))
        out += f"{count}{unit}" if count else ""
    return (out, f"{round(seconds * 1000)}ms" if 0.0005 < seconds < 10 else "")


def scale_heights(values: Sequence[float | None], top: float, eighths: int) -> list[int]:
    """Scale each value to a height from 0 to ``eighths``. A value above 0 gets at least 1. An unknown value gets -1."""
    out = []
    for value in values:
        if value is None:
            out.append(-1)
        elif value <= 0 or top <= 0:
            out.append(0)
        else:
            out.append(min(eighths, max(1, round(value / top * eighths))))
    return out


def sparkline(values: Sequence[float | None], top: float) -> str:
    """Return one line of blocks scaled to ``top``. Zero is the lowest block. An unknown value is a blank."""
    return "".join(" " if h < 0 else BLOCKS[max(1, h)] for h in scale_heights(values, top, 8))


def spreadsheet_safe(text: str) -> str:
    """Return a CSV field. Text that a spreadsheet would read as a formula gets a leading apostrophe."""
    return f"'{text}" if text.startswith(_FORMULA) else text
