"""How messages move: not at all, too slowly, or into a ring that has no room."""

from __future__ import annotations

from qmon.model.figure import Severity
from qmon.model.operations import Side
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput


def _ring_full(s: RuleInput) -> str | None:
    if s.paused(Side.POPPERS) or s.paused(Side.PUSHERS):
        return None
    if s.fill.value is None or s.fill.value < 0.999:
        return None
    return f"{s.fill.value:.0%} of the slots hold messages, pushers wait"


def _not_moving(s: RuleInput) -> str | None:
    if s.paused(Side.POPPERS):
        return None
    if not s.ready.value or s.moved is None or s.moved > 0:
        return None
    return f"{s.ready.value:,.0f} ready and not one pop, while {s.push_rate.value or 0:,.1f}/s are pushed"


def _outrun(s: RuleInput) -> str | None:
    if s.paused(Side.POPPERS):
        return None
    if s.net_rate is None or s.push_rate.value is None or s.pop_rate.value is None or s.pop_rate.value <= 0:
        return None
    if not s.ready.value or s.ready.value < 100 or s.net_rate <= max(0.5, 0.05 * s.push_rate.value):
        return None
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s: growing {s.net_rate:,.1f}/s"


RING_FULL = Rule("ring full", Severity.CRITICAL, 5.0, _ring_full)
NO_POPS = Rule("no pops", Severity.CRITICAL, 10.0, _not_moving)
OUTRUN = Rule("pushers outrun poppers", Severity.WARNING, 30.0, _outrun)
