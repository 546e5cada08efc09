"""SQL that gives texts another name by a pattern: a queue named ``mails.DQ`` becomes ``mails``."""

from __future__ import annotations

import re
from collections.abc import Callable

_ANY = "*"


def renamed_case(text: str, pattern: str, name: str, literal: Callable[[str], str], length: str) -> str:
    """Return ``WHEN … THEN …`` for a text that matches ``pattern``.

    Args:
        text: an expression for the text.
        pattern: the text, or a pattern in which one ``*`` stands for any characters.
        name: the new text. A ``*`` stands for the characters that the ``*`` of the pattern matches.
        literal: returns SQL for a text.
        length: an expression for the number of characters in the text.
    """
    before, star, after = pattern.partition(_ANY)
    if not star:
        return f"WHEN {text} = {literal(pattern)} THEN {literal(name)}"
    like = literal(f"{_escape(before)}%{_escape(after)}")
    rest = f"SUBSTRING({text}, {len(before) + 1}, {length} - {len(before) + len(after)})"
    first, new_star, last = name.partition(_ANY)
    new = f"CONCAT({literal(first)}, {rest}, {literal(last)})" if new_star else literal(name)
    return f"WHEN {text} LIKE {like} ESCAPE '!' THEN {new}"


def _escape(text: str) -> str:
    """Escape the wildcards of LIKE in both engines."""
    return re.sub(r"([!%_\[])", r"!\1", text)
