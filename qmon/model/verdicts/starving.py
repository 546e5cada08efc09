"""Messages of one priority wait while those of others are popped."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.operations import Side
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

_STILL_S: Final = 20.0
_OTHERS: Final = 5
"""So often must heads of other priorities have moved: a message or two may be popped while one waits its turn."""


def _starved(s: RuleInput) -> str | None:
    low = s.queue.starved
    if low is None or low.still_s < _STILL_S or low.others < _OTHERS or not s.pops or s.paused(Side.POPPERS):
        return None
    age = f", {duration(low.oldest_s)} old," if low.oldest_s is not None else ""
    return (
        f"priority {low.priority}: message {low.head_id}{age} has been its head for {duration(low.still_s)} or longer "
        f"while messages of other priorities are popped, {s.pops:,.1f}/s"
    )


STARVED = Rule("priority starved", Severity.WARNING, 10.0, _starved)
