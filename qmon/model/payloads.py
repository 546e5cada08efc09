"""Binary payloads, for people: as text where they are text."""

from __future__ import annotations

import codecs
from typing import Final

_PREFIXES: Final = ("\\x", "0x")
"""What hex digits follow, as PostgreSQL and SQL Server write bytes."""
_BLANKS: Final = frozenset("\t\n\r")


def readable(payload: str | None) -> str | None:
    """Bytes written as hex digits, perhaps cut short, as the text that they are in UTF-8; else as they are written."""
    if payload is None or not payload.startswith(_PREFIXES):
        return payload
    digits = payload[2 : len(payload) // 2 * 2]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(bytes.fromhex(digits))  # half a character may be cut off
    except ValueError:
        return payload
    return text if all(c.isprintable() or c in _BLANKS for c in text) else payload
