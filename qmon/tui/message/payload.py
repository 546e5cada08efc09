"""Formats a payload as lines: JSON and XML indented, text unchanged, bytes as a hex dump.

Nothing is decoded or expanded. Only blanks between tokens change, so that numbers, duplicate keys, escapes and entities
are shown exactly as they were sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final
from xml.parsers import expat

from qmon.tui.sanitize import clean_uncached

_INDENT: Final = "  "
_MAX_DEPTH: Final = 40
_MAX_LINES: Final = 100_000
_BYTES_PER_ROW: Final = 16
_JSON: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)
# A part that is never closed matches up to the end of the text. Otherwise, the time would grow with the square of the
# length.
_XML: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<(?:[^\"'<>]|\"[^\"]*\"|'[^']*')*>|[^<]+|<",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ShownPayload:
    """A formatted payload. ``kind``: JSON, XML, text or bytes. ``lines`` are safe for a terminal."""

    kind: str
    lines: tuple[str, ...]


def payload_text(value: str | bytes, *, cut: bool = False) -> ShownPayload:
    """Return the payload as lines.

    ``cut``: the end of the payload is missing. A cut payload that looks like JSON or XML is formatted as JSON or XML,
    even though it cannot be parsed.
    """
    if isinstance(value, bytes):
        return ShownPayload("bytes", tuple(_hex_dump(value)))
    for kind, begins, whole, indented in (("JSON", "{[", _is_json, _indent_json), ("XML", "<", _is_xml, _indent_xml)):
        if value.lstrip()[:1] in tuple(begins) and (cut or whole(value)):
            lines = tuple(islice(indented(value), _MAX_LINES + 1))
            if len(lines) <= _MAX_LINES:
                return ShownPayload(kind, tuple(map(clean_uncached, lines)))
    return ShownPayload("text", tuple(clean_uncached(line.expandtabs(4)) for line in re.split(r"\r\n|\n|\r", value)))


def _hex_dump(raw: bytes) -> Iterator[str]:
    for at in range(0, len(raw), _BYTES_PER_ROW):
        row = raw[at : at + _BYTES_PER_ROW]
        plain = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"{at:08x}  {row.hex(' '):<{3 * _BYTES_PER_ROW - 1}}  {plain}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def _indent_json(text: str) -> Iterator[str]:
    """Yield indented lines. An empty list or object stays on one line."""
    line, depth, opened = "", 0, False
    for piece in _JSON.findall(text):
        if opened and piece not in ("]", "}"):
            yield line
            line = _indentation(depth)
        if piece in ("]", "}"):
            depth -= 1
            if not opened:
                yield line
                line = _indentation(depth)
        opened = piece in ("[", "{")
        depth += opened
        line += f"{piece} " if piece == ":" else piece
        if piece == ",":
            yield line
            line = _indentation(depth)
    yield line


def _is_xml(text: str) -> bool:
    """Return True for well-formed XML without a document type, which could declare entities."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _reject_doctype
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError):
        return False
    return True


def _reject_doctype(*_: object) -> None:
    raise ValueError("a document type")


def _indent_xml(text: str) -> Iterator[str]:
    """Yield indented lines. An element that contains only text stays on one line."""
    depth, opened = 0, ""
    for piece in _XML.findall(text):
        if not piece.strip():
            continue
        tag = piece.startswith("<") and piece[1:2] not in ("!", "?")
        if piece.startswith("</"):
            depth -= 1
            yield opened + piece if opened else _indentation(depth) + piece
            opened = ""
        elif opened and not piece.startswith("<"):
            opened += piece.strip()
        else:
            if opened:
                yield opened
            opened = _indentation(depth) + piece.strip()
            if tag and not piece.endswith("/>"):
                depth += 1
            else:
                yield opened
                opened = ""
    if opened:
        yield opened


def _indentation(depth: int) -> str:
    return _INDENT * min(max(0, depth), _MAX_DEPTH)
