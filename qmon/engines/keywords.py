"""ODBC connection strings as keywords, and back."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from qmon.engines.secret import Secret
from qmon.errors import BadInput

_PAIR: Final = re.compile(r"\s*([^=;{}]+?)\s*=\s*(?:(\{(?:[^}]|\}\})*\})\s*|((?!\{)[^;]*))(?:;|$)")
_PASSWORDS: Final = ("pwd", "password")
_CONNINFO: Final = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^'\\\s]|\\.)*))\s*", re.DOTALL)


def parse_connection_string(text: str) -> dict[str, str]:
    """The keywords of ``Driver={…};Server=…``, as written; of a repeated one the first counts, as ODBC has it.

    Raises ``BadInput`` that never repeats a value.
    """
    out: dict[str, str] = {}
    at = 0
    while at < len(text) and text[at:].strip(" ;"):
        while text[at : at + 1] in (";", " "):
            at += 1
        found = _PAIR.match(text, at)
        if found is None:
            raise BadInput("the connection string is not KEYWORD=value;KEYWORD=value, with odd values in {braces}")
        value = found[2][1:-1].replace("}}", "}") if found[2] is not None else found[3].strip()
        if lookup(out, found[1]) is None:
            out[found[1]] = value
        at = found.end()
    return out


def format_connection_string(keywords: Mapping[str, str]) -> str:
    """The connection string of the keywords, values in braces where they need them."""
    return ";".join(f"{name}={_braced(name, value)}" for name, value in keywords.items()) + ";"


def format_for_manager(keywords: Mapping[str, str]) -> str:
    """The connection string as the driver manager finds the driver by it.

    unixODBC on Linux makes bytes of a library's path by ISO 8859-1, whatever the locale: each goes as one character.
    """
    known = dict(keywords)
    for name, value in keywords.items():
        if name.lower() == "driver" and value.startswith("/") and sys.platform == "linux":
            known[name] = os.fsencode(value).decode("latin-1")
    return format_connection_string(known)


def respelled(keywords: Mapping[str, str], number: int) -> dict[str, str]:
    """The same keywords, their letters in capitals or not by the bits of ``number``: no keyword minds.

    unixODBC gives a closed session to the next connection with the same text if ``Pooling`` is on in its
    odbcinst.ini, whatever the program asks for.
    """
    out: dict[str, str] = {}
    for name, value in keywords.items():
        spelled = ""
        for letter in name:
            spelled += letter.swapcase() if letter.isalpha() and number & 1 else letter
            number >>= letter.isalpha()
        out[spelled] = value
    return out


def _braced(name: str, value: str) -> str:
    # psqlODBC decodes + and % in a bare password, and takes the braces of UID and Database for part of the name.
    if name.lower() in (*_PASSWORDS, "pqopt") or re.search(r"[;{}]|^\s|\s$", value):
        return "{" + value.replace("}", "}}") + "}"
    return value


def lookup(keywords: Mapping[str, str], *names: str) -> str | None:
    """The value of the first of these keywords that is there; case does not matter."""
    lowered = {name.lower(): value for name, value in keywords.items()}
    return next((lowered[name.lower()] for name in names if name.lower() in lowered), None)


def without(keywords: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The keywords but these; case does not matter."""
    dropped = {name.lower() for name in names}
    return {name: value for name, value in keywords.items() if name.lower() not in dropped}


def split_password(keywords: Mapping[str, str], origin: str) -> tuple[dict[str, str], Secret | None]:
    """The keywords without the password, and the password.

    Raises ``BadInput`` where one hides in a place from which it could leak.
    """
    if "password" in parse_conninfo(lookup(keywords, "pqopt") or ""):
        raise BadInput("a password inside pqopt is not taken; give it as PWD")
    password = lookup(keywords, *_PASSWORDS)
    return without(keywords, _PASSWORDS), Secret(password, origin) if password else None


def format_conninfo(settings: Mapping[str, str]) -> str:
    """Settings as libpq reads them: ``name='value' …``."""
    quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in settings.items()}
    return " ".join(f"{name}='{value}'" for name, value in quoted.items())


def parse_conninfo(text: str) -> dict[str, str]:
    """What ``format_conninfo`` writes, and what people write; raises ``BadInput`` that repeats no value."""
    out: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _CONNINFO.match(text, at)
        if found is None:
            raise BadInput("pqopt is not name=value name='odd value'")
        raw = found[2] if found[2] is not None else found[3]
        out[found[1].lower()] = re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
        at = found.end()
    return out
