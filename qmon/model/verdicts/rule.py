"""Rule: what makes a verdict, as data and one pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qmon.model.figure import Severity
from qmon.model.verdicts.signs import RuleInput


@dataclass(frozen=True, slots=True)
class Rule:
    """One verdict: ``sign`` gives the proof line, or ``None`` where the sign is not there. ``hold_s``: seconds.

    ``key``: the key that answers it, or empty. ``explains``: codes of verdicts that merely follow from this one: they
    are not said while it is, and their hold times begin when it has gone.
    """

    code: str
    severity: Severity
    hold_s: float
    sign: Callable[[RuleInput], str | None]
    key: str = ""
    explains: tuple[str, ...] = ()
