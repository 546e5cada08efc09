"""Done messages pile up in the queue's table, and nobody takes them out."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

_SILENT_S: Final = 20.0
_OFTEN: Final = 3.0
"""An archiver that is late by so many times its longest break has stopped."""
_KNOWN: Final = 1_000
_NEVER: Final = 10_000
"""Done messages from which on it is said: where rows were seen to be archived, and where none ever were."""


def _behind(s: RuleInput) -> str | None:
    a = s.queue.archiving
    if a is None or a.growth <= 0 or a.silent_s < max(_SILENT_S, _OFTEN * (a.usual_s or 0.0)):
        return None
    if a.done < (_NEVER if a.usual_s is None else _KNOWN):
        return None
    grows = f"~{a.done:,.0f} done and not archived, growing {a.growth:,.1f}/s"
    return f"{grows}; nothing was archived for {duration(a.silent_s)}"


BEHIND = Rule("archive behind", Severity.WARNING, 10.0, _behind)
