"""Untrusted text made fit for a terminal: names and payloads come from whoever pushes into the queue."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, set_cell_size

_SYMBOLS: Final = {"\n": "⏎", "\r": "⏎", "\t": "⇥", "\u2028": "⏎", "\u2029": "⏎", "\x1b": "␛"}
_DROPPED: Final = frozenset("\u200d\ufe0e\ufe0f")  # joiners and variation selectors: terminals disagree on their width


def _symbol(character: str) -> str:
    """What stands for ``character`` on a screen; itself where it is harmless."""
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    if character in _DROPPED:
        return ""
    category = unicodedata.category(character)
    if category == "Cc":
        return "␡" if character == "\x7f" else chr(0x2400 + ord(character)) if ord(character) < 0x20 else "�"
    if category in {"Cf", "Cs", "Co", "Cn"} or category in {"Zl", "Zp"}:
        return "�"  # invisible, direction-changing, lone surrogates, private or unassigned
    if category == "Zs":
        return " "
    return character


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """``text`` on one line with no character that a terminal would act on: controls get a visible symbol.

    Escape sequences, changes of writing direction, invisible and unassigned characters, and lone surrogates (which
    could not even be encoded) are replaced; letters of any script stay.
    """
    return cleaned(text)


def cleaned(text: str) -> str:
    """The same of a text that may be very long: nothing of it is remembered."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_symbol, text))


def width(text: str) -> int:
    """How many cells ``text`` takes."""
    return len(text) if text.isascii() else cell_len(text)


def shorten(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` cells, with an ellipsis where it had to be cut."""
    if width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    return set_cell_size(text, cells - 1).rstrip() + "…"


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """``text`` in exactly ``cells`` cells: cut with an ellipsis, or filled up on the left (``right``) or the right."""
    text = shorten(text, cells)
    fill = " " * (cells - width(text))
    return fill + text if right else text + fill
