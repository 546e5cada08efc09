"""Convert texts of databases that do not check the encoding (SQL_ASCII of PostgreSQL).

Such texts may contain any bytes.

A byte that is not part of UTF-8 is written as its value: ``caf<E9>``. If the text itself contains a sequence such as
``<E9>``, the first character of the sequence is written as ``<3C>``: ``<3C>E9>``. Different texts therefore always look
different, and each text can be converted back to its bytes.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_HANDLER: Final = "qmon-any-bytes"
_WRITTEN: Final = re.compile(rb"<(3C|[89A-F][0-9A-F])>")


def _write_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"<{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_HANDLER, _write_bytes)


def text_from_bytes(raw: bytes) -> str:
    """Return the bytes as text. A byte that is not part of UTF-8 is written like ``<E9>``."""
    return _WRITTEN.sub(rb"<3C>\1>", raw).decode("utf-8", _HANDLER)


def bytes_from_text(text: str) -> bytes:
    """Return the bytes of a text that ``text_from_bytes`` returned or a user typed.

    Python replaces a byte that it cannot decode on the command line by a lone surrogate. This surrogate becomes the
    byte again. Raises ``UnicodeEncodeError`` for other surrogates.
    """
    raw = text.encode("utf-8", "surrogateescape")
    return _WRITTEN.sub(lambda found: bytes.fromhex(found[1].decode("ascii")), raw)
