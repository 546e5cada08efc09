"""The messages of the workload: small numbered JSON texts, of which some are poisoned."""

from __future__ import annotations

import json
from typing import Final

_POISON: Final = '"poison": true'


def make_message(number: int, origin: str, size: int, *, poison: bool) -> str:
    """Return a message of ``size`` ASCII characters, or slightly more if its fields need more space."""
    head = json.dumps({"number": number, "from": origin, "poison": poison})[:-1] + ', "text": "'
    return head + "x" * max(0, size - len(head) - 2) + '"}'


def is_poison(payload: object) -> bool:
    """Return whether a popped message fails each time it is processed."""
    text = payload.decode(errors="replace") if isinstance(payload, bytes) else str(payload)
    return _POISON in text
