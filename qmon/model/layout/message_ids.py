r"""Message ids as text: the value of the id column, or the values of several columns joined by ``/``.

If several columns form the id, a ``/`` or ``\`` in a value is written ``\/`` or ``\\``. If one column forms the id, the
id is the unchanged text of the value. In a list of ids, a comma in an id is written ``\,``.
"""

from __future__ import annotations

from collections.abc import Iterator


def split_id(text: str, count: int) -> tuple[str, ...]:
    """Return the parts of an id. The result has ``count`` parts, or another number if the id is invalid."""
    return (text,) if count == 1 else tuple(_split(text, "/", keep=""))


def split_ids(text: str) -> tuple[str, ...]:
    """Return the ids of a list, stripped of surrounding blanks."""
    return tuple(part.strip() for part in _split(text, ",", keep="/\\"))


def _split(text: str, separator: str, keep: str) -> Iterator[str]:
    """Yield the parts. Escapes are resolved, except escapes of characters in ``keep``. A later call resolves these."""
    part, escaped = "", False
    for character in text:
        if escaped:
            part += (
                character
                if character == separator or (character in "/\\" and character not in keep)
                else f"\\{character}"
            )
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == separator:
            yield part
            part = ""
        else:
            part += character
    yield part + ("\\" if escaped else "")
