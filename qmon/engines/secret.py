"""A password that cannot be printed by accident."""

from __future__ import annotations

from qmon.redact import HIDDEN, remember_password


class Secret:
    """A password and its origin. Printing, formatting and comparing a secret reveal nothing."""

    __slots__ = ("_text", "origin")

    def __init__(self, text: str, origin: str = "") -> None:
        self._text = text
        remember_password(text)
        # The origin of the password for messages, such as `the environment variable QMON_PASSWORD`.
        self.origin = origin

    def reveal(self) -> str:
        """Return the password itself. Only code that passes it to the driver may call this method."""
        return self._text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)
