"""Somebody has paused the pushers or the poppers."""

from __future__ import annotations

from qmon.model.figure import Severity
from qmon.model.pauses import said
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput


def _paused(s: RuleInput) -> str | None:
    return "; ".join(said(pause) for pause in s.pauses) or None


PAUSED = Rule("paused", Severity.NOTICE, 0.0, _paused, "p")
