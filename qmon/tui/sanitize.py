"""Makes untrusted text safe for a terminal. Any producer of a queue can write names and payloads."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, set_cell_size

_SYMBOLS: Final = {"\n": "⏎", "\r": "⏎", "\t": "⇥", "\u2028": "⏎", "\u2029": "⏎", "\x1b": "␛"}
_DROPPED: Final = frozenset("\u200d\ufe0e\ufe0f")  # joiners and variation selectors: terminals disagree on their width

# Characters that may be left over at the end of a text that was cut between two words.
_SEPARATORS: Final = " ,;:·("


def _visible_character(character: str) -> str:
    """Return the visible replacement of ``character``, or the character itself if it is harmless."""
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    if character in _DROPPED:
        return ""
    category = unicodedata.category(character)
    if category == "Cc":
        return "␡" if character == "\x7f" else chr(0x2400 + ord(character)) if ord(character) < 0x20 else "�"
    if category in {"Cf", "Cs", "Co", "Cn"} or category in {"Zl", "Zp"}:
        return "�"  # invisible characters, changes of direction, lone surrogates, private or unassigned characters
    if category == "Zs":
        return " "
    return character


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """Return ``text`` on one line, without characters that a terminal would interpret as commands.

    Control characters get a visible symbol. Escape sequences, changes of writing direction, invisible and unassigned
    characters, and lone surrogates (which cannot be encoded) are replaced. Letters of all scripts are kept. Results are
    cached.
    """
    return clean_uncached(text)


def clean_uncached(text: str) -> str:
    """Clean a text that may be very long. Does the same as ``clean`` without caching."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def text_width(text: str) -> int:
    """Return the width of ``text`` in cells."""
    return len(text) if text.isascii() else cell_len(text)


def shorten(text: str, cells: int) -> str:
    """Return ``text`` in at most ``cells`` cells, with an ellipsis if it was cut."""
    if text_width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    return set_cell_size(text, cells - 1).rstrip() + "…"


def shorten_words(text: str, cells: int) -> str:
    """Return ``text`` in at most ``cells`` cells, cut between two words. A single long word is cut by ``shorten``."""
    if text_width(text) <= cells:
        return text
    end = left = 0
    for word in text.split(" "):
        left += text_width(word) + 1
        if left > cells:
            break
        end += len(word) + 1
    kept = text[:end].rstrip(_SEPARATORS)
    return f"{kept}…" if kept else shorten(text, cells)


def shorten_middle(text: str, cells: int) -> str:
    """Return a name in at most ``cells`` cells. The middle is cut, because the ends tell similar names apart."""
    if text_width(text) <= cells:
        return text
    head = set_cell_size(text, max(0, (cells - 1) // 2)).rstrip()
    room, start = cells - 1 - text_width(head), len(text)
    while start > 0 and text_width(text[start - 1 :]) <= room:
        start -= 1
    return f"{head}…{text[start:].lstrip()}" if cells > 0 else ""


def pad(text: str, cells: int, *, right: bool = False, shorten: Callable[[str, int], str] = shorten) -> str:
    """Return ``text`` in exactly ``cells`` cells, cut or padded.

    ``right``: align the text to the right. ``shorten``: cuts the text.
    """
    text = shorten(text, cells)
    fill = " " * (cells - text_width(text))
    return fill + text if right else text + fill
