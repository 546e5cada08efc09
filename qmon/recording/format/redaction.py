"""Decides which data a recording leaves out: passwords, and, by default, payloads and errors."""

from __future__ import annotations

from collections.abc import Callable

from qmon.recording.format.codec import Cover, PayloadText
from qmon.redact import hide_passwords


def recording_cover(redact: Callable[[str], str], *, payloads: bool) -> Cover:
    """Return the function that redacts payloads and statements before they are written.

    ``redact``: applies the configured redaction to a text. ``payloads``: record payloads and errors, with redaction. If
    ``payloads`` is false, payloads and errors become ``None``.
    """

    def cover(text: str) -> str | None:
        if isinstance(text, PayloadText):
            return redact(str(text)) if payloads else None
        return redact(hide_passwords(str(text)))

    return cover
