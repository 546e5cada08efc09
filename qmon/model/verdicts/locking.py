"""A session keeps the queue's rows from everybody."""

from __future__ import annotations

from qmon.model.figure import Severity
from qmon.model.operations import Side
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput


def _locked(s: RuleInput) -> str | None:
    moves = bool(s.pops) or (s.pops is None and not s.failures)
    return None if moves or s.paused(Side.POPPERS) or not s.locked else s.locked


LOCKED = Rule(
    "everything locked",
    Severity.CRITICAL,
    2.0,
    _locked,
    "4",
    explains=("no pops", "no poppers", "poppers not claiming", "ring full", "pushers outrun poppers"),
)
