"""A password that shows itself to nobody by accident."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

_HIDDEN: Final = "***"
_KNOWN: Final[set[str]] = set()
"""Every password that this process has met."""


class Secret:
    """A password and where it came from. Printing, formatting and comparing it tell nothing."""

    __slots__ = ("_text", "origin")

    def __init__(self, text: str, origin: str = "") -> None:
        self._text = text
        _KNOWN.add(text)
        self.origin = origin
        """Where it came from, for messages: ``the environment variable QMON_PASSWORD``."""

    def reveal(self) -> str:
        """The password itself, for the driver alone."""
        return self._text

    def __repr__(self) -> str:
        return _HIDDEN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(_HIDDEN, spec)


_ANY: Final = re.IGNORECASE | re.DOTALL
_WORDS: Final = r"\b(password|identified\s+by|secret|pwd)(\s*=\s*|\s+)"
_COVERED: Final = (
    (re.compile(r"\b(password|pwd)(\s*=\s*)''[^']+(?:''|$)", _ANY), rf"\1\2''{_HIDDEN}''"),
    (re.compile(_WORDS + r"((?:N|E|U&)?')(?!'\*\*\*'')(?:[^'\\]|''|\\.)*('|\\?$)", _ANY), rf"\1\2\3{_HIDDEN}\4"),
    (re.compile(_WORDS + r"(\$\w*\$).*?(\3|$)", _ANY), rf"\1\2\3{_HIDDEN}\4"),
    (re.compile(r"\b(password|pwd)(\s*=\s*)(?![\s'$*]|(?:N|E|U&)')[^\s'\";,)]+", _ANY), rf"\1\2{_HIDDEN}"),
    (re.compile(r"(\w://[^\s:/@']*:)[^\s@']+@"), rf"\1{_HIDDEN}@"),
)
"""Passwords within a literal, as literals, between dollars, in connection strings, and in URLs."""


def hide_passwords(statement: str) -> str:
    """An SQL statement, perhaps cut short, with the passwords in it covered, also those of connection strings."""
    for pattern, covered in _COVERED:
        statement = pattern.sub(covered, statement)
    return statement


def hide_known(text: str) -> str:
    """The text with every password covered that this process knows, also as URLs, braces and literals write it."""
    for word in sorted(_KNOWN, key=len, reverse=True):
        written = (word, quote(word, safe=""), quote(word), repr(word)[1:-1], json.dumps(word)[1:-1])
        doubled = (word.replace("}", "}}"), word.replace("'", "''"))
        for form in dict.fromkeys((*written, *doubled, " ".join(word.split()))):
            text = _without(text, form)
    return text


def scrub(text: str, secrets: Iterable[Secret | None]) -> str:
    """The text with every password in it replaced by ``***``; a short one only where it stands as a word."""
    for secret in secrets:
        if secret is not None:
            text = _without(text, secret.reveal())
    return text


def _without(text: str, word: str) -> str:
    if not word:
        return text
    return re.sub(re.escape(word) if len(word) > 3 else rf"(?<!\w){re.escape(word)}(?!\w)", _HIDDEN, text)
