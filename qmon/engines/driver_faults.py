"""Convert each error of a driver or server to one line without passwords and without values of rows.

Every server text passes through this module before qmon shows, logs or stores it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.engines.secret import Secret
from qmon.errors import QmonError
from qmon.redact import COVER, cover_from, find_quoted_value, hide_known_password
from qmon.texts import Text


class FaultText(Text):
    """Texts that replace hidden parts of errors."""

    HIDDEN = "refused with error {error}; its text is hidden because settings.redact is set"


_PREFIX: Final = re.compile(r"^(?:\s*\[[^\]]*\])+\s*")
_RECORD: Final = re.compile(r"\s*\((-?\d+)\)\s*(?:\(SQL\w+\)\s*)?(?:;\s*(?=\[\w{5}\])|$)")
_NOISE: Final = re.compile(
    r";?\s*Error while executing the query|;?\s*The connection has been lost$|\s*Is the server running[^?]*\?"
    r"|\s*This probably means the server terminated abnormally\s*before or while processing the request\.\s*",
    re.I,
)

# SQLSTATEs, or their first characters, after which a connection is unusable.
LOST_STATES: Final = ("08", "57P01", "57P02", "57P03", "57P05", "25P03")


@dataclass(frozen=True, slots=True)
class DriverFault:
    """An error of the driver: SQLSTATE, the native numbers of its records, and its text on one line."""

    sqlstate: str
    numbers: tuple[int, ...]
    text: str

    @property
    def is_lost(self) -> bool:
        """True if the connection is lost."""
        return self.sqlstate.startswith(LOST_STATES) or self.text.startswith("FATAL:")


# Returns an error with the problem and its fix.
ExplainFault = Callable[[DriverFault], QmonError]


# Values without quotes. They are in parentheses after a blank (SQL Server's duplicate keys, in every language), after
# "value =" (SQL Server's overflows), or written as bytes (PostgreSQL's encodings). "varchar(10)" and "f(integer)" are
# not values.
_BRACKETED: Final = re.compile(r"(?<=[\s:=,;])[(（].*")
_NUMBER: Final = re.compile(r"(\bvalue\s*=\s*)\S+", re.I)
_BYTES: Final = re.compile(r"(?<=: )0x[0-9a-f]{2}(?: 0x[0-9a-f]{2})*|(?<=sequence )0x[0-9a-f]{2}(?: 0x[0-9a-f]{2})*")

# SQL Server's RAISERROR and THROW give a text of an application this number or a higher number.
_FIRST_RAISED_NUMBER: Final = 50_000
_NAME: Final = r'(?:"[^"]*"|[\w.]+)'
_NAMED_OBJECT: Final = (
    rf"(?:table|relation|column|schema|view|materialized view|function|sequence|type|role|index) {_NAME}"
)
_QUOTED_NAME: Final = r'(?:"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\]|\w+)'

# Errors of the procedures that qmon installs. They contain names of tables and times.
_QMON_ERRORS: Final = re.compile(
    rf"(?:ERROR:\s+)?(?:QM\d{{3}}: )?the (?:ring {_QUOTED_NAME}(?:\.{_QUOTED_NAME})? is full"
    rf"|(?:producers|consumers) of {_QUOTED_NAME}(?:\.{_QUOTED_NAME})? are paused until [\d :.-]+ UTC)"
    r"(?:; (?:nothing was done|the transaction is rolled back), try again later)?(?:; The [A-Za-z ,.]+)*"
)

# PostgreSQL's own messages about rows, rights and objects. Triggers can raise any SQLSTATE with any text, so only the
# text shows whether a message is PostgreSQL's own. A text that does not match, for example a translated message, is
# treated as the text of an application.
_BUILT_IN: Final = re.compile(
    r"(?:ERROR|FATAL|PANIC):\s+(?:"
    rf"duplicate key value violates unique constraint {_NAME}"
    rf"|conflicting key value violates exclusion constraint {_NAME}"
    rf"|new row for relation {_NAME} violates (?:check|partition) constraint {_NAME}"
    rf"|new row for relation {_NAME} violates partition constraint"
    rf"|new row violates row-level security policy (?:{_NAME} )?(?:\([^)]*\) )?for table {_NAME}"
    rf"|null value in column {_NAME}(?: of relation {_NAME})? violates not-null constraint"
    rf"|(?:insert or update|update or delete) on table {_NAME} violates foreign key constraint {_NAME}"
    rf"(?: on table {_NAME})?"
    rf"|no partition of relation {_NAME} found for row"
    rf"|value for domain {_NAME} violates check constraint {_NAME}|domain {_NAME} does not allow null values"
    rf"|invalid input (?:syntax|value) for (?:type|enum) [\w ]+(?:: \"{COVER}\"?)?"
    r"|value too long for type [\w ]+(?:\(\d+\))?|(?:smallint|integer|bigint) out of range|division by zero"
    r"|numeric field overflow|deadlock detected|could not serialize access due to [a-z/ ]+"
    r"|could not obtain lock on (?:row in )?relation " + _NAME + r"|canceling (?:statement|autovacuum) [a-z ]+"
    rf"|permission denied for {_NAMED_OBJECT}|must be owner of {_NAMED_OBJECT}|{_NAMED_OBJECT}(?: of {_NAMED_OBJECT})? "
    r"(?:does not exist|already exists)"
    rf"|(?:{_NAME} )?cannot drop {_NAMED_OBJECT} because other objects depend on it"
    r"|cannot execute [A-Z ]+ in a (?:read-only transaction|recovery)|current transaction is aborted[a-z ,]*"
    r"|terminating connection due to [a-z -]+|syntax error at (?:end of input|or near \"" + COVER + r"\"?)"
    r")"
)


@dataclass(frozen=True, slots=True)
class _Records:
    sqlstate: str
    numbers: tuple[int, ...]
    texts: tuple[str, ...]


def read_fault(arguments: tuple[object, ...], password: Secret | None = None) -> DriverFault:
    """Return the fault of a driver's exception while connecting.

    ``arguments``: the arguments of the exception, which are the SQLSTATE and a text, or only a text. ``password``: this
    password is hidden in the text.
    """
    found = _parse_records(arguments, first_line=False)
    text = "; ".join(found.texts)
    return DriverFault(
        found.sqlstate, found.numbers, text if password is None else hide_known_password(text, password.reveal())
    )


def read_statement_fault(arguments: tuple[object, ...], *, raised_hidden: bool = False) -> DriverFault:
    """Return the fault of a statement without the values of rows, which servers repeat in error texts.

    Only the first line is kept, because DETAIL, HINT and CONTEXT follow on separate lines in every language. In the
    first line, everything from the first quoted value on is hidden, because values may contain quotes. A quoted text
    after a word such as ``table`` is a name and is not hidden.

    ``raised_hidden``: true to leave out texts raised by triggers and functions, which may contain any part of a
    payload.
    """
    found = _parse_records(arguments, first_line=True)
    text = "; ".join(found.texts)
    if _QMON_ERRORS.fullmatch(text):
        return DriverFault(found.sqlstate, found.numbers, text)
    text = _without_values(text)
    if raised_hidden and _is_raised(found, text):
        which = next((str(number) for number in found.numbers if number >= _FIRST_RAISED_NUMBER), found.sqlstate)
        text = FaultText.HIDDEN.render(error=which)
    return DriverFault(found.sqlstate, found.numbers, text)


def _without_values(text: str) -> str:
    value = find_quoted_value(text)
    text = text if value is None else cover_from(text, value)
    for pattern, covered in ((_BRACKETED, f"({COVER})"), (_NUMBER, rf"\1{COVER}"), (_BYTES, COVER)):
        text = pattern.sub(covered, text)
    return text


def _is_raised(records: _Records, text: str) -> bool:
    """Return whether the text may come from a trigger or function of an application."""
    if records.sqlstate.startswith(LOST_STATES):
        return False
    if any(number >= _FIRST_RAISED_NUMBER for number in records.numbers):
        return True
    return re.match(r"[^\W\d_]+\s?:", text) is not None and _BUILT_IN.fullmatch(text) is None


def _parse_records(arguments: tuple[object, ...], *, first_line: bool) -> _Records:
    words = [str(argument) for argument in arguments]
    sqlstate, message = (words[0], words[1]) if len(words) > 1 else ("", words[0] if words else "")
    if (inner := re.match(r"\[(\w{5})\]", message)) and len(words) < 2:
        sqlstate = inner[1]
    numbers = tuple(int(end[1]) for end in _RECORD.finditer(message))
    if first_line:
        message = _PREFIX.sub("", message).lstrip().partition("\n")[0]
    texts: dict[str, None] = {}
    rest = message
    while rest:
        end = _RECORD.search(rest)
        text = " ".join(_NOISE.sub("", _PREFIX.sub("", rest[: end.start()] if end else rest)).split()).rstrip("; ")
        if text:
            texts[text] = None
        rest = rest[end.end() :] if end else ""
    return _Records(sqlstate, numbers, tuple(texts))
