"""What a driver says when something fails, as one clean line without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.engines.secret import Secret
from qmon.errors import QmonError
from qmon.redact import hide_word

_PREFIX: Final = re.compile(r"^(?:\s*\[[^\]]*\])+\s*")
_RECORD: Final = re.compile(r"\s*\((-?\d+)\)\s*(?:\(SQL\w+\)\s*)?(?:;\s*(?=\[\w{5}\])|$)")
_NOISE: Final = re.compile(
    r";?\s*Error while executing the query|;?\s*The connection has been lost$|\s*Is the server running[^?]*\?"
    r"|\s*This probably means the server terminated abnormally\s*before or while processing the request\.\s*",
    re.I,
)
LOST_STATES: Final = ("08", "57P01", "57P02", "57P03", "57P05", "25P03")
"""SQLSTATEs, or their first characters, after which a connection is unusable."""


@dataclass(frozen=True, slots=True)
class DriverFault:
    """An error of the driver: SQLSTATE, the native numbers of its records, and its words on one line."""

    sqlstate: str
    numbers: tuple[int, ...]
    text: str

    @property
    def lost(self) -> bool:
        """Whether the connection is gone."""
        return self.sqlstate.startswith(LOST_STATES) or self.text.startswith("FATAL:")


Explain = Callable[[DriverFault], QmonError]
"""Turns a fault into the error that says what is wrong and what to do."""


def read_fault(arguments: tuple[object, ...], password: Secret | None = None) -> DriverFault:
    """The fault in the arguments of a driver's exception: SQLSTATE and text, or a text alone.

    ``password``: covered, since drivers may repeat it.
    """
    words = [str(argument) for argument in arguments]
    sqlstate, message = (words[0], words[1]) if len(words) > 1 else ("", words[0] if words else "")
    if (inner := re.match(r"\[(\w{5})\]", message)) and len(words) < 2:
        sqlstate = inner[1]
    numbers: list[int] = []
    texts: list[str] = []
    rest = message
    while rest:
        end = _RECORD.search(rest)
        record = rest[: end.start()] if end else rest
        if end:
            numbers.append(int(end[1]))
        text = " ".join(_NOISE.sub("", _PREFIX.sub("", record)).split()).rstrip("; ")
        if text and text not in texts:
            texts.append(text)
        rest = rest[end.end() :] if end else ""
    return DriverFault(
        sqlstate, tuple(numbers), hide_word("; ".join(texts), password.reveal() if password is not None else "")
    )
