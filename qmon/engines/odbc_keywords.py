"""Convert ODBC connection strings to keywords and keywords to connection strings."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.texts import Text


class KeywordText(Text):
    """Errors of connection strings."""

    NOT_KEYWORDS = "the connection string is not KEYWORD=value;KEYWORD=value, with special characters in {{braces}}"
    CREDENTIALS_IN_PQOPT = "a password inside pqopt is not accepted; give it as PWD"
    BAD_PQOPT = "pqopt must be like name=value name='value with spaces'"


_PAIR: Final = re.compile(r"\s*([^=;{}]+?)\s*=\s*(?:(\{(?:[^}]|\}\})*\})\s*|((?!\{)[^;]*))(?:;|$)")
_PASSWORDS: Final = ("pwd", "password")
_CONNINFO: Final = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^'\\\s]|\\.)*))\s*", re.DOTALL)


def parse_connection_string(text: str) -> dict[str, str]:
    """Return the keywords of ``Driver={…};Server=…``, as written.

    If a keyword is repeated, the first value counts, as in ODBC. Raises ``BadInput``. The message of the error never
    contains a value.
    """
    out: dict[str, str] = {}
    at = 0
    while at < len(text) and text[at:].strip(" ;"):
        while text[at : at + 1] in (";", " "):
            at += 1
        found = _PAIR.match(text, at)
        if found is None:
            raise BadInput(KeywordText.NOT_KEYWORDS.render())
        value = found[2][1:-1].replace("}}", "}") if found[2] is not None else found[3].strip()
        if lookup_keyword(out, found[1]) is None:
            out[found[1]] = value
        at = found.end()
    return out


def format_connection_string(keywords: Mapping[str, str]) -> str:
    """Return a connection string with these keywords. Values are in braces if needed."""
    return ";".join(f"{name}={_brace_value(name, value)}" for name, value in keywords.items()) + ";"


def format_for_manager(keywords: Mapping[str, str]) -> str:
    """Return the connection string in a form with which the driver manager finds the driver.

    unixODBC on Linux converts a library's path to bytes as ISO 8859-1 in every locale. Each byte of the path is
    therefore written as one character.
    """
    known = dict(keywords)
    for name, value in keywords.items():
        if name.lower() == "driver" and value.startswith("/") and sys.platform == "linux":
            known[name] = os.fsencode(value).decode("latin-1")
    return format_connection_string(known)


def respell_keywords(keywords: Mapping[str, str], number: int) -> dict[str, str]:
    """Return the same keywords, with letters in upper or lower case as set by the bits of ``number``.

    Keywords ignore case. If ``Pooling`` is on in odbcinst.ini, unixODBC gives a closed session to the next connection
    with the same text, even if the program has turned pooling off. A different spelling prevents this.
    """
    out: dict[str, str] = {}
    for name, value in keywords.items():
        spelled = ""
        for letter in name:
            spelled += letter.swapcase() if letter.isalpha() and number & 1 else letter
            number >>= letter.isalpha()
        out[spelled] = value
    return out


def _brace_value(name: str, value: str) -> str:
    # psqlODBC decodes + and % in a bare password, and treats the braces of UID and Database as part of the name.
    if name.lower() in (*_PASSWORDS, "pqopt") or re.search(r"[;{}]|^\s|\s$", value):
        return "{" + value.replace("}", "}}") + "}"
    return value


def lookup_keyword(keywords: Mapping[str, str], *names: str) -> str | None:
    """Return the value of the first of these keywords that is set, or ``None``. The case of keywords is ignored."""
    lowered = {name.lower(): value for name, value in keywords.items()}
    return next((lowered[name.lower()] for name in names if name.lower() in lowered), None)


def without_keywords(keywords: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the keywords without those in ``names``. The case of keywords is ignored."""
    dropped = {name.lower() for name in names}
    return {name: value for name, value in keywords.items() if name.lower() not in dropped}


def split_password(keywords: Mapping[str, str], origin: str) -> tuple[dict[str, str], Secret | None]:
    """Return the keywords without the password, and the password.

    Raises ``BadInput`` if a password is in a place from which it could leak.
    """
    if "password" in parse_conninfo(lookup_keyword(keywords, "pqopt") or ""):
        raise BadInput(KeywordText.CREDENTIALS_IN_PQOPT)
    password = lookup_keyword(keywords, *_PASSWORDS)
    return without_keywords(keywords, _PASSWORDS), Secret(password, origin) if password else None


def format_conninfo(settings: Mapping[str, str]) -> str:
    """Format settings for libpq: ``name='value' …``."""
    quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in settings.items()}
    return " ".join(f"{name}='{value}'" for name, value in quoted.items())


def parse_conninfo(text: str) -> dict[str, str]:
    """Parse settings for libpq. Raises ``BadInput`` without repeating a value."""
    out: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _CONNINFO.match(text, at)
        if found is None:
            raise BadInput(KeywordText.BAD_PQOPT)
        raw = found[2] if found[2] is not None else found[3]
        out[found[1].lower()] = re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
        at = found.end()
    return out
