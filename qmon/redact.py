"""Covers what must not be seen: passwords, values in messages of servers, and what the configuration says.

``***`` stands for a password, ``•••`` for anything else. The one place for it, but for the payloads that a recording
leaves out (``qmon.recording.format.redaction``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from qmon.errors import BadInput

HIDDEN: Final = "***"
COVER: Final = "•••"

# ------------------------------------------------------------------------------------------------------- passwords

# Every password that this process has met.
_KNOWN: Final[set[str]] = set()
_DISTINCTIVE: Final = 8
_LONG: Final = 20
# No word, name, number, path, time or setting in a message of ours has one of these in it.
_ODD: Final = re.compile(r"[^\w\s./:=,;()'\"-]")
_ANY: Final = re.IGNORECASE | re.DOTALL
_WORDS: Final = r"\b(password|identified\s+by|secret|pwd|pass)(\s*=\s*|\s+)"
_KEYWORD: Final = r"\b((?:ssl)?password|passwd|pwd|pass)(\s*=\s*)"
# Passwords within a literal, as literals, between dollars, in connection strings with and without braces, in URLs.
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
    (re.compile(r"(://[^/:@\s]*:)[^\s\"<>]*(?=@)"), rf"\1{HIDDEN}"),
)


_SECRET_NAMES: Final = re.compile(
    r"QMON_(?:PASSWORD|NOTIFY)|PGPASSWORD$|OTEL_\w*HEADERS$|SQLCMDPASSWORD$|(?:MSSQL_)?SA_PASSWORD$", re.IGNORECASE
)
_DATABASE: Final = re.compile(r"\b(?:postgres(?:ql)?|mssql|sqlserver)\b[\w+]*://|\b(?:pwd|password)\s*=", re.IGNORECASE)
_URL_ARGUMENT: Final = re.compile(r"(://[^/:]*:)(?!\d+(?:[/?#][^@]*)?$)(?:.*(@)|.+)", re.DOTALL)


def remember(password: str) -> None:
    """Let ``hide_secrets`` cover this password from now on."""
    _KNOWN.add(password)


def hide_passwords(text: str) -> str:
    """A statement, a URL or a message, perhaps cut short, with what looks like a password covered."""
    for pattern, covered in _PASSWORDS:
        text = pattern.sub(covered, text)
    return text


def hide_in_argument(text: str) -> str:
    """One argument of a command line, with the password of a URL or connection string covered, also if it is malformed.

    Passwords that are typed in URLs often contain ``@``, ``/`` and blanks that should have been percent-encoded.
    """
    return hide_passwords(_URL_ARGUMENT.sub(rf"\1{HIDDEN}\2", text))


def hide_secrets(text: str) -> str:
    """The text with whatever looks like a password covered, and every known one that no sentence of ours can contain.

    This is a last resort. qmon's own texts contain no password, and ``qmon.engines.faults`` cleans those of drivers.
    """
    for word in sorted(filter(is_distinctive, _KNOWN), key=len, reverse=True):
        text = _without_word(text, word)
    return hide_passwords(text)


def hide_known_password(text: str, password: str) -> str:
    """A driver's text with this password covered: in connection strings and URLs, and in quotes that hold no name.

    A password that is an ordinary word, or short, stays where a sentence contains the same word. Covering it there
    would tell a reader what the password is.
    """
    text = hide_passwords(text)
    if is_distinctive(password):
        return _without_word(text, password)
    if not password:
        return text
    quoted = "|".join(re.escape(f"{opening}{password}{closing}") for opening, closing in ("''", '""', "{}"))
    return re.sub(rf"(\b(?:{_NAMES})\s+)?(?<!\w)({quoted})(?!\w)", _unless_name, text, flags=re.IGNORECASE)


def _unless_name(found: re.Match[str]) -> str:
    return found[0] if found[1] else f"{found[2][0]}{HIDDEN}{found[2][-1]}"


def is_distinctive(word: str) -> bool:
    """Whether a password is so unlike the words of messages that it can be covered wherever it appears."""
    mixed = any(map(str.isalpha, word)) and any(map(str.isdigit, word))
    return len(word) >= _LONG or (len(word) >= _DISTINCTIVE and (mixed or _ODD.search(word) is not None))


def _without_word(text: str, word: str) -> str:
    """The text without the word, however URLs, braces and literals write it."""
    written = (word, quote(word, safe=""), quote(word), repr(word)[1:-1], json.dumps(word)[1:-1])
    doubled = (word.replace("}", "}}"), word.replace("'", "''"))
    for form in sorted({*written, *doubled, " ".join(word.split())}, key=len, reverse=True):
        if form:
            text = text.replace(form, HIDDEN)
    return text


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for a program that qmon starts: without the variables that hold secrets of qmon or of a database.

    Other variables stay, because the program may need them: a proxy, or a token of its own.
    """
    return {name: value for name, value in environment.items() if not _SECRET_NAMES.match(name) and not _tells(value)}


def _tells(value: str) -> bool:
    """Whether a variable holds a password that qmon knows, or the URL or connection string of a database with one."""
    if any(word in value for word in _KNOWN if is_distinctive(word)):
        return True
    return _DATABASE.search(value) is not None and hide_in_argument(value) != value


# -------------------------------------------------------------------------------- values in messages of servers

# A quoted word after one of these is a name, not a value.
_NAMES: Final = (
    "relation|table|view|column|schema|database|role|user|login|principal|function|procedure|type|index|constraint"
    "|sequence|trigger|object|objekt|server|parameter|extension|publication|slot|driver|policy|record|field|encoding"
    "|tablespace|language|collation|domain|cursor|savepoint|attribute"
)
# Parts of PostgreSQL's errors that repeat rows and statements.
_PARTS: Final = re.compile(
    r"\b(DETAIL|DÉTAIL|DETALLE|DETALHES?|DETTAGLI|ПОДРОБНОСТИ|CONTEXT|CONTEXTE|CONTEXTO|CONTESTO|KONTEXT|КОНТЕКСТ"
    r"|STATEMENT|QUERY)\s?:.*"
)
# Quotes that also occur within words.
_APOSTROPHES: Final = "'‘"
_BRACKETED: Final = re.compile(r"(\b(?:contains|value is|=)\s*\().*\)")
# Values that are JSON or XML.
_STRUCTURED: Final = re.compile(r"\{.*[}\]]|\{.*|<[A-Za-z?!/].*>")
# What opens a quotation in one of the languages of servers, and what closes it.
_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "»": "«",
    "„": "“",
    "“": "”",
    "«": "»",
    "‘": "’",
    "”": "”",
    "「": "」",
}
_QUOTED_NAME: Final = "|".join(f"{opening}[^{closing}]*{closing}" for opening, closing in _QUOTES.items())
# A name in quotes, or the beginning of a value in quotes.
_OPENINGS: Final = re.compile(
    rf"\b(?:{_NAMES})\s+(?:(?:with )?named?\s+)?(?:{_QUOTED_NAME})"
    rf"|(?P<value>(?:(?<!\w)(?:[NEBXbrufxe]|U&|rb|br))?[{''.join(set(_QUOTES) - set(_APOSTROPHES))}]"
    rf"|(?<!\w)(?:[NEBXbrufxe]|U&|rb|br)?[{_APOSTROPHES}])",
    re.IGNORECASE,
)
_CLOSINGS: Final = re.compile(rf"[{''.join(set(_QUOTES.values()))}](?!\w)")


def without_values(text: str) -> str:
    """One line of an error with the values in it covered: quoted, in brackets, as JSON or XML, or as details.

    The cover reaches from the first quoted value to the last quote, because no server escapes quotes within values.
    A quoted text after a word such as ``table`` is a name and stays.
    """
    text = _PARTS.sub(rf"\1: {COVER}", text)
    text = _BRACKETED.sub(rf"\1{COVER})", text)
    text = _STRUCTURED.sub(COVER, text)
    if (found := quoted_value(text)) is None:
        return text
    ends = [closing.end() for closing in _CLOSINGS.finditer(text, found.end())]
    return covered_from(text, found) + (text[ends[-1] :] if ends else "")


def quoted_value(text: str) -> re.Match[str] | None:
    """Where the first quoted text begins that is not a name; ``None`` if there is none."""
    return next((found for found in _OPENINGS.finditer(text) if found["value"]), None)


def covered_from(text: str, found: re.Match[str]) -> str:
    """The text up to this opening quote, and a cover in place of all that follows."""
    return f"{text[: found.end()]}{COVER}{_QUOTES[found[0][-1]]}"


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
