"""Payloads by the type of their column: binary ones for people, as text where they are text; which tell their size."""

from __future__ import annotations

import codecs
from typing import Final

_PREFIXES: Final = ("\\x", "0x")
"""What hex digits follow, as PostgreSQL and SQL Server write bytes."""
_BLANKS: Final = frozenset("\t\n\r")
_BYTES: Final = frozenset({"bytea", "binary", "varbinary"})
_SIZED: Final = frozenset({"bytea", "text", "character varying", "character"})


def holds_bytes(type_name: str) -> bool:
    """Whether a column of this type, with or without a length, holds bytes."""
    return _bare(type_name) in _BYTES


def tells_size(type_name: str) -> bool:
    """Whether PostgreSQL's ``octet_length`` knows the size of a value of this type without unpacking it."""
    return _bare(type_name) in _SIZED


def _bare(type_name: str) -> str:
    return "" if type_name.endswith("[]") else type_name.partition("(")[0].strip()


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
