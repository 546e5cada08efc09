"""A password that shows itself to nobody by accident."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_HIDDEN: Final = "***"


class Secret:
    """A password and where it came from. Printing, formatting and comparing it tell nothing."""

    __slots__ = ("_text", "origin")

    def __init__(self, text: str, origin: str = "") -> None:
        self._text = text
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


def scrub(text: str, secrets: Iterable[Secret | None]) -> str:
    """The text with every password in it replaced by ``***``; a short one only where it stands as a word."""
    for secret in secrets:
        if secret is not None and (word := secret.reveal()):
            pattern = re.escape(word) if len(word) > 3 else rf"(?<!\w){re.escape(word)}(?!\w)"
            text = re.sub(pattern, _HIDDEN, text)
    return text
