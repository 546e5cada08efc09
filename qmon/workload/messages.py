"""The messages of the workload: small JSON, told apart by a number, some of them poisoned."""

from __future__ import annotations

import json
from typing import Final

_POISON: Final = '"poison": true'


def message(number: int, origin: str, size: int, *, poison: bool) -> str:
    """A message of ``size`` characters, ASCII only, or a little more where that is too short for what it says."""
    head = json.dumps({"number": number, "from": origin, "poison": poison})[:-1] + ', "text": "'
    return head + "x" * max(0, size - len(head) - 2) + '"}'


def is_poison(payload: object) -> bool:
    """Whether a popped message fails whenever it is worked on."""
    text = payload.decode(errors="replace") if isinstance(payload, bytes) else str(payload)
    return _POISON in text
