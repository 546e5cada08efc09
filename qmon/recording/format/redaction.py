"""What is left out of a recording: payloads, unless they are asked for, and passwords in statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from qmon.engines.secret import hide_passwords
from qmon.recording.format.codec import Change

_STATEMENTS: Final = re.compile(r"statement|query|sql")


def discreet(redact: Callable[[str], str], *, payloads: bool) -> Change:
    """By a field's name what becomes of it. ``redact``: covers what the configuration says in payloads and statements.

    ``payloads``: they are kept, covered; else they become ``None``.
    """

    def covered(value: Any) -> Any:
        if isinstance(value, str):
            return redact(hide_passwords(value))
        return tuple(covered(each) for each in value) if isinstance(value, tuple) else value

    def change(name: str) -> Callable[[Any], Any] | None:
        if name == "payload":
            return (lambda value: None if value is None else redact(value)) if payloads else (lambda value: None)
        return covered if _STATEMENTS.search(name) else None

    return change
