"""Covers what must not be seen: passwords, values in messages of servers, and what the configuration says.

``***`` stands for a password, ``•••`` for anything else. The one place for it, but for the payloads that a recording
leaves out (``qmon.recording.format.redaction``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final
from urllib.parse import quote

from qmon.errors import BadInput

HIDDEN: Final = "***"
COVER: Final = "•••"

# ------------------------------------------------------------------------------------------------------- passwords

_KNOWN: Final[set[str]] = set()
"""Every password that this process has met."""
_ANY: Final = re.IGNORECASE | re.DOTALL
_WORDS: Final = r"\b(password|identified\s+by|secret|pwd|pass)(\s*=\s*|\s+)"
_KEYWORD: Final = r"\b(password|pwd|pass)(\s*=\s*)"
_PASSWORDS: Final = (
    (re.compile(_KEYWORD + r"''[^']+(?:''|$)", _ANY), rf"\1\2''{HIDDEN}''"),
    (re.compile(_WORDS + r"((?:N|E|U&)?')(?!'\*\*\*'')(?:[^'\\]|''|\\.)*('|\\?$)", _ANY), rf"\1\2\3{HIDDEN}\4"),
    (re.compile(_WORDS + r"(\$\w*\$).*?(\3|$)", _ANY), rf"\1\2\3{HIDDEN}\4"),
    (
        re.compile(_KEYWORD + r"(?:\{(?:[^}]|\}\})*(?:\}|$)|\"[^\"]*(?:\"|$))", _ANY),
        rf"\1\2{HIDDEN}",
    ),
    (
        re.compile(_KEYWORD + r"(?![\s'\"{]|\$\d|\$\w*\$|\*\*\*|(?:N|E|U&)')[^\s'\";]+", _ANY),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"(://[^/:@\s]*:)[^@\s]*(?=@)"), rf"\1{HIDDEN}"),
)
"""Passwords within a literal, as literals, between dollars, in connection strings with and without braces, in URLs."""


def remember(password: str) -> None:
    """Let ``hide_secrets`` cover this password from now on."""
    _KNOWN.add(password)


def hide_passwords(text: str) -> str:
    """A statement, a URL or a message, perhaps cut short, with what looks like a password covered."""
    for pattern, covered in _PASSWORDS:
        text = pattern.sub(covered, text)
    return text


def hide_secrets(text: str) -> str:
    """The text with every password covered that this process knows, as URLs, braces and literals write it, too.

    Besides, whatever looks like one.
    """
    for word in sorted(_KNOWN, key=len, reverse=True):
        written = (word, quote(word, safe=""), quote(word), repr(word)[1:-1], json.dumps(word)[1:-1])
        doubled = (word.replace("}", "}}"), word.replace("'", "''"))
        for form in dict.fromkeys((*written, *doubled, " ".join(word.split()))):
            text = hide_word(text, form)
    return hide_passwords(text)


def hide_word(text: str, word: str) -> str:
    """The text with a password covered; a short one only where it stands as a word."""
    if not word:
        return text
    return re.sub(re.escape(word) if len(word) > 3 else rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)


# -------------------------------------------------------------------------------- values in messages of servers

_NAMES: Final = (
    "relation|table|view|column|schema|database|role|user|login|principal|function|procedure|type|index|constraint"
    "|sequence|trigger|object|objekt|server|parameter|extension|publication|slot|driver"
)
"""A quoted word after one of these is a name, not a value."""
_PARTS: Final = re.compile(
    r"\b(DETAIL|DÉTAIL|DETALLE|DETALHES?|DETTAGLI|ПОДРОБНОСТИ|CONTEXT|CONTEXTE|CONTEXTO|CONTESTO|KONTEXT|КОНТЕКСТ"
    r"|STATEMENT|QUERY)\s?:.*"
)
"""Parts of PostgreSQL's errors that repeat rows and statements."""
_BRACKETED: Final = re.compile(r"(\b(?:contains|value is|=)\s*\().*\)")
_STRUCTURED: Final = re.compile(r"\{.*[}\]]|\{.*|<[A-Za-z?!/].*>")
"""Values that are JSON or XML."""
_QUOTES: Final = (('"', '"'), ("'", "'"), ("»", "«"), ("„", "“"), ("“", "”"), ("«", "»"), ("‘", "’"))
_CLOSING: Final = dict(_QUOTES)


def without_values(text: str) -> str:
    """One line of an error with the values in it covered: quoted, in brackets, as JSON or XML, or as details.

    From where one begins to its last possible end, since nobody escapes the quotes within: more is covered than need
    be. What is quoted after a word such as ``table`` is a name and stays.
    """
    text = _PARTS.sub(rf"\1: {COVER}", text)
    text = _BRACKETED.sub(rf"\1{COVER})", text)
    text = _STRUCTURED.sub(COVER, text)
    for opening, closing in _QUOTES:
        if opening in text:
            text = _quoted(opening, closing).sub(_covered, text)
    return text


def _covered(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else f"{found[1]}{COVER}{_CLOSING[found[1][-1]]}"


@cache
def _quoted(opening: str, closing: str) -> re.Pattern[str]:
    """A name in these quotes, or, with the group, what begins with a value in them and goes on to the last one."""
    return re.compile(
        rf"(?:\b(?:{_NAMES})\s+(?:name\s+)?{opening}[^{closing}]*{closing})"
        rf"|(?<!\w)((?:[NEBXbrufxe]|U&|rb|br)?{opening})(?:.*{closing}(?!\w)|.*)",
        re.IGNORECASE,
    )


# ------------------------------------------------------------------------------------------------- as configured


def redactor(patterns: Sequence[str]) -> Callable[[str], str]:
    """Covers whatever one of the patterns finds; where a pattern has groups, what the groups hold and no more.

    Raises ``BadInput`` for what is no regular expression.
    """
    compiled = [_compiled(pattern) for pattern in patterns]

    def redact(text: str) -> str:
        for pattern in compiled:
            text = pattern.sub(_groups_covered, text)
        return text

    return redact


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        raise BadInput(f"{pattern!r} is no regular expression: {problem}") from None


def _groups_covered(found: re.Match[str]) -> str:
    """The match with its groups covered; without groups nothing of it is left."""
    if not found.group():
        return ""
    out, at = "", found.start()
    for number in range(1, len(found.groups()) + 1):
        start, end = found.span(number)
        if start >= at and start >= 0:
            out += found.string[at:start] + COVER
            at = end
    return out + found.string[at : found.end()] if out else COVER
