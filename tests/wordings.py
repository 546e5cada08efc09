"""Finds a text with some of its fields in a message, so that tests need not quote the wording."""

from __future__ import annotations

import re
from string import Formatter

from qmon.texts import Text


def pattern(text: Text, /, **fields: object) -> str:
    """Return a regular expression for ``pytest.raises(match=…)`` that finds the text with these fields.

    A field that is left out may have any value. The text may be wrapped: any white space matches a blank.

    Raises ``TypeError`` if the text has no such field.
    """
    out, rest = "", dict(fields)
    for literal, name, spec, conversion in Formatter().parse(text):
        out += _escape(literal)
        if name in fields:
            rest.pop(name, None)
            shown = f"{{{name}{f'!{conversion}' if conversion else ''}:{spec}}}"
            out += _escape(shown.format(**fields))
        elif name is not None:
            out += "(?:.|\n)*?"
    if rest:
        raise TypeError(f"{text!r} has no field {', '.join(rest)}")
    return out


def _escape(literal: str) -> str:
    return re.sub(r"(?:\\\s)+", r"\\s+", re.escape(literal))


def has(message: object, text: Text, /, **fields: object) -> bool:
    """Return whether a message contains the text with these fields. A field that is left out may have any value."""
    return re.search(pattern(text, **fields), str(message)) is not None
