"""What must not be seen on a screen: patterns of the configuration, applied to payloads before they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from qmon.errors import BadInput

COVER: Final = "•••"


def redactor(patterns: Sequence[str]) -> Callable[[str], str]:
    """Covers whatever one of the patterns finds; where a pattern has groups, what the groups hold and no more.

    Raises ``BadInput`` for what is no regular expression.
    """
    compiled = [_compiled(pattern) for pattern in patterns]

    def redact(text: str) -> str:
        for pattern in compiled:
            text = pattern.sub(_covered, text)
        return text

    return redact


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        raise BadInput(f"{pattern!r} is no regular expression: {problem}") from None


def _covered(found: re.Match[str]) -> str:
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
