"""Hide passwords, values quoted in server messages, and text that the configuration marks as private.

``***`` replaces a password, and ``•••`` replaces any other text. All redaction is in this module, except for the
payloads that recordings leave out (``qmon.recording.format.redaction``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from qmon.errors import BadInput
from qmon.texts import Text

HIDDEN: Final = "***"
COVER: Final = "•••"


class RedactText(Text):
    """Why a pattern of the configuration cannot be used."""

    NOT_A_PATTERN = "{pattern!r} is not a regular expression: {problem}"


# ------------------------------------------------------------------------------------------------------- passwords

# Every password that this process has used.
_KNOWN: Final[set[str]] = set()
_DISTINCTIVE: Final = 8
_LONG: Final = 20

# No word, name, number, path, time or setting that qmon writes contains one of these characters.
_ODD: Final = re.compile(r"[^\w\s./:=,;()'\"-]")
_ANY: Final = re.IGNORECASE | re.DOTALL
_WORDS: Final = r"\b(password|identified\s+by|secret|pwd|pass)(\s*=\s*|\s+)"
_KEYWORD: Final = r"\b((?:ssl)?password|passwd|pwd|pass)(\s*=\s*)"

# Passwords inside literals, as literals, in dollar quotes, in connection strings with and without braces, and in URLs.
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


def remember_password(password: str) -> None:
    """Remember a password, which ``hide_secrets`` then hides."""
    _KNOWN.add(password)


def forget_passwords() -> None:
    """Forget all passwords, so that ``hide_secrets`` no longer hides them."""
    _KNOWN.clear()


def hide_passwords(text: str) -> str:
    """Return a text in which all text that looks like a password is hidden.

    The text may be a truncated statement, URL or message.
    """
    for pattern, covered in _PASSWORDS:
        text = pattern.sub(covered, text)
    return text


def hide_in_argument(text: str) -> str:
    """Return a command-line argument in which the password of a URL or connection string is hidden.

    The argument may be malformed: passwords typed in URLs often contain ``@``, ``/`` and blanks that should have been
    percent-encoded.
    """
    return hide_passwords(_URL_ARGUMENT.sub(rf"\1{HIDDEN}\2", text))


def hide_secrets(text: str) -> str:
    """Hide every known password that is distinctive, and all text that looks like a password.

    This is a last resort: qmon's texts contain no passwords, and ``qmon.engines.driver_faults`` cleans the texts of
    drivers.
    """
    for word in sorted(filter(is_distinctive, _KNOWN), key=len, reverse=True):
        text = _hide_word(text, word)
    return hide_passwords(text)


def hide_known_password(text: str, password: str) -> str:
    """Return a driver's text with this password hidden.

    A password that is short or an ordinary word is only hidden in connection strings, URLs and quotes, and not if it is
    a quoted name. If the same word in a sentence were hidden, the gap would reveal the password.
    """
    text = hide_passwords(text)
    if is_distinctive(password):
        return _hide_word(text, password)
    if not password:
        return text
    quoted = "|".join(re.escape(f"{opening}{password}{closing}") for opening, closing in ("''", '""', "{}"))
    return re.sub(rf"(\b(?:{_NAMES})\s+)?(?<!\w)({quoted})(?!\w)", _cover_unless_name, text, flags=re.IGNORECASE)


def _cover_unless_name(match: re.Match[str]) -> str:
    return match[0] if match[1] else f"{match[2][0]}{HIDDEN}{match[2][-1]}"


def is_distinctive(secret: str) -> bool:
    """Return whether a password can be hidden everywhere, because it is unlike ordinary words."""
    mixed = any(map(str.isalpha, secret)) and any(map(str.isdigit, secret))
    return len(secret) >= _LONG or (len(secret) >= _DISTINCTIVE and (mixed or _ODD.search(secret) is not None))


def _hide_word(text: str, secret: str) -> str:
    """Hide the word in all forms in which it may occur in URLs, braces and literals."""
    written = (secret, quote(secret, safe=""), quote(secret), repr(secret)[1:-1], json.dumps(secret)[1:-1])
    doubled = (secret.replace("}", "}}"), secret.replace("'", "''"))
    for form in sorted({*written, *doubled, " ".join(secret.split())}, key=len, reverse=True):
        if form:
            text = text.replace(form, HIDDEN)
    return text


def environment_without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program that qmon starts, without secrets of qmon or of a database.

    Other variables, such as a proxy or the program's own token, are kept, because the program may need them.
    """
    return {
        name: value for name, value in environment.items() if not _SECRET_NAMES.match(name) and not _holds_secret(value)
    }


def _holds_secret(value: str) -> bool:
    """Return whether a variable contains a known password, or a database URL or connection string with a password."""
    if any(word in value for word in _KNOWN if is_distinctive(word)):
        return True
    return _DATABASE.search(value) is not None and hide_in_argument(value) != value


# -------------------------------------------------------------------------------- values in messages of servers

# A quoted word after one of these words is a name, not a value.
_NAMES: Final = (
    "relation|table|view|column|schema|database|role|user|login|principal|function|procedure|type|index|constraint"
    "|sequence|trigger|object|objekt|server|parameter|extension|publication|slot|driver|policy|record|field|encoding"
    "|tablespace|language|collation|domain|cursor|savepoint|attribute"
)

# Parts of PostgreSQL errors that repeat rows and statements.
_PARTS: Final = re.compile(
    r"\b(DETAIL|DÉTAIL|DETALLE|DETALHES?|DETTAGLI|ПОДРОБНОСТИ|CONTEXT|CONTEXTE|CONTEXTO|CONTESTO|KONTEXT|КОНТЕКСТ"
    r"|STATEMENT|QUERY)\s?:.*"
)

# Quote characters that also occur inside words.
_APOSTROPHES: Final = "'‘"
_BRACKETED: Final = re.compile(r"(\b(?:contains|value is|=)\s*\().*\)")

# The beginnings of values that are JSON or XML.
_STRUCTURED: Final = re.compile(r"\{.*[}\]]|\{.*|<[A-Za-z?!/].*>")

# Opening quotes in the languages of servers, with their closing quotes.
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

# A quoted name, or the beginning of a quoted value.
_OPENINGS: Final = re.compile(
    rf"\b(?:{_NAMES})\s+(?:(?:with )?named?\s+)?(?:{_QUOTED_NAME})"
    rf"|(?P<value>(?:(?<!\w)(?:[NEBXbrufxe]|U&|rb|br))?[{''.join(set(_QUOTES) - set(_APOSTROPHES))}]"
    rf"|(?<!\w)(?:[NEBXbrufxe]|U&|rb|br)?[{_APOSTROPHES}])",
    re.IGNORECASE,
)
_CLOSINGS: Final = re.compile(rf"[{''.join(set(_QUOTES.values()))}](?!\w)")


def hide_values(text: str) -> str:
    """Hide the values in one line of an error: values in quotes, brackets and details, and JSON and XML.

    All text from the first quoted value to the last quote is hidden, because no server escapes quotes inside values. A
    quoted text after a word such as ``table`` is a name and is not hidden.
    """
    text = _PARTS.sub(rf"\1: {COVER}", text)
    text = _BRACKETED.sub(rf"\1{COVER})", text)
    text = _STRUCTURED.sub(COVER, text)
    if (found := find_quoted_value(text)) is None:
        return text
    ends = [closing.end() for closing in _CLOSINGS.finditer(text, found.end())]
    return cover_from(text, found) + (text[ends[-1] :] if ends else "")


def find_quoted_value(text: str) -> re.Match[str] | None:
    """Return the match for the first opening quote that does not start a name, or ``None``."""
    return next((found for found in _OPENINGS.finditer(text) if found["value"]), None)


def cover_from(text: str, opening: re.Match[str]) -> str:
    """Return the text up to this opening quote. The rest of the text is hidden."""
    return f"{text[: opening.end()]}{COVER}{_QUOTES[opening[0][-1]]}"


# ------------------------------------------------------------------------------------------------- as configured


def build_redactor(patterns: Sequence[str]) -> Callable[[str], str]:
    """Return a function that hides all matches of the patterns. If a pattern has groups, only the groups are hidden.

    Raises ``BadInput`` for an invalid regular expression.
    """
    compiled = [_compile_pattern(pattern) for pattern in patterns]

    def redact(text: str) -> str:
        for pattern in compiled:
            text = pattern.sub(_cover_groups, text)
        return text

    return redact


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        raise BadInput(RedactText.NOT_A_PATTERN.render(pattern=pattern, problem=problem)) from None


def _cover_groups(match: re.Match[str]) -> str:
    """Return the match with its groups hidden. If the match has no groups, it is hidden completely."""
    if not match.group():
        return ""
    out, at = "", match.start()
    for number in range(1, len(match.groups()) + 1):
        start, end = match.span(number)
        if start >= at and start >= 0:
            out += match.string[at:start] + COVER
            at = end
    return out + match.string[at : match.end()] if out else COVER
