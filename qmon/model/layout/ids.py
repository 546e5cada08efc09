r"""How a message is called: the text of its id, or of the several columns that know it, joined by ``/``.

Where several columns make the id, a ``/`` or ``\`` within one of them is written ``\/`` or ``\\``. The id of a single
column is its text as it stands. In a list of ids a comma within one is written ``\,``.
"""

from __future__ import annotations

from collections.abc import Iterator


def id_parts(text: str, count: int) -> tuple[str, ...]:
    """The parts of an id that should have ``count`` of them; fewer or more where the text is no such id."""
    return (text,) if count == 1 else tuple(_split(text, "/", keep=""))


def split_ids(text: str) -> tuple[str, ...]:
    """The ids of a list, with blanks around them taken away."""
    return tuple(part.strip() for part in _split(text, ",", keep="/\\"))


def _split(text: str, separator: str, keep: str) -> Iterator[str]:
    """The parts; an escaped character is itself, but for those in ``keep``, whose escape stays for a later reader."""
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
