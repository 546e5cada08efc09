"""What is left out of a recording: payloads and errors, unless they are asked for, and passwords in statements."""

from __future__ import annotations

from collections.abc import Callable

from qmon.recording.format.codec import Cover, PayloadText
from qmon.redact import hide_passwords


def discreet(redact: Callable[[str], str], *, payloads: bool) -> Cover:
    """What is written of payloads and statements. ``redact``: covers what the configuration says in both.

    ``payloads``: payloads and errors are kept, covered; else they become ``None``.
    """

    def cover(text: str) -> str | None:
        if isinstance(text, PayloadText):
            return redact(str(text)) if payloads else None
        return redact(hide_passwords(str(text)))

    return cover
