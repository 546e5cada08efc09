"""Verdicts: what is wrong with a queue, each a pure function of its figures, with one line of proof.

A sign must last for its hold time before it is said, so that a burst is not called an incident.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.operations import Pause, Side
from qmon.model.pauses import said
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import Figure, Severity, Verdict

HEALTHY: Final = "healthy"
EMPTY: Final = "empty"


@dataclass(frozen=True, slots=True)
class Signs:
    """What a rule may look at: the figures of one queue now. ``locked``: the proof that a session locks it all."""

    ready: Figure
    in_progress: Figure
    stuck: Figure
    oldest: Figure
    push_rate: Figure
    pop_rate: Figure
    net_rate: float | None
    fill: Figure
    timeout_s: float
    blocked: int
    failures: tuple[ProbeFailure, ...]
    pauses: tuple[Pause, ...] = ()
    locked: str = ""

    def paused(self, side: Side) -> bool:
        """Somebody has paused them: what they do not do is no sign of trouble."""
        return any(pause.side is side for pause in self.pauses)


@dataclass(frozen=True, slots=True)
class Rule:
    """One verdict: ``sign`` gives the proof line, or ``None`` where the sign is not there. ``hold_s``: seconds.

    ``key``: the key that answers it, or empty.
    """

    code: str
    severity: Severity
    hold_s: float
    sign: Callable[[Signs], str | None]
    key: str = ""


def _cannot_see(s: Signs) -> str | None:
    if not s.failures or s.ready.value is not None:
        return None
    first = s.failures[0]
    return f"{first.reason}; {first.grant}" if first.grant else first.reason


def _ring_full(s: Signs) -> str | None:
    if s.paused(Side.POPPERS) or s.paused(Side.PUSHERS):
        return None
    if s.fill.value is None or s.fill.value < 0.999:
        return None
    return f"{s.fill.value:.0%} of the slots hold messages, pushers wait"


def _stuck(s: Signs) -> str | None:
    if not s.stuck.value:
        return None
    mark = "at least " if s.stuck.at_least else ""
    return f"{mark}{s.stuck.value:,.0f} in progress for more than {_minutes(s.timeout_s)}"


def _paused(s: Signs) -> str | None:
    return "; ".join(said(pause) for pause in s.pauses) or None


def _locked(s: Signs) -> str | None:
    moves = bool(s.pop_rate.value) or (s.pop_rate.value is None and not s.failures)
    return None if moves or s.paused(Side.POPPERS) or not s.locked else s.locked


def _not_moving(s: Signs) -> str | None:
    if s.paused(Side.POPPERS):
        return None
    if not s.ready.value or s.pop_rate.value is None or s.pop_rate.value > 0:
        return None
    return f"{s.ready.value:,.0f} ready and not one pop, while {s.push_rate.value or 0:,.1f}/s are pushed"


def _outrun(s: Signs) -> str | None:
    if s.paused(Side.POPPERS):
        return None
    if s.net_rate is None or s.push_rate.value is None or s.pop_rate.value is None or s.pop_rate.value <= 0:
        return None
    if not s.ready.value or s.ready.value < 100 or s.net_rate <= max(0.5, 0.05 * s.push_rate.value):
        return None
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s: growing {s.net_rate:,.1f}/s"


RULES: Final[tuple[Rule, ...]] = (
    Rule("cannot see", Severity.WARNING, 0.0, _cannot_see),
    Rule("paused", Severity.NOTICE, 0.0, _paused, "p"),
    Rule("everything locked", Severity.CRITICAL, 2.0, _locked, "4"),
    Rule("ring full", Severity.CRITICAL, 5.0, _ring_full),
    Rule("stuck in progress", Severity.CRITICAL, 0.0, _stuck),
    Rule("no pops", Severity.CRITICAL, 10.0, _not_moving),
    Rule("pushers outrun poppers", Severity.WARNING, 30.0, _outrun),
)
"""The rules, those that explain others first."""


def judge(signs: Signs, now_at: float, since: Mapping[str, float]) -> tuple[Verdict, dict[str, float]]:
    """The worst verdict whose sign has lasted, and since when each sign has been there.

    Args:
        signs: the figures now.
        now_at: server clock, seconds since the epoch.
        since: what this function returned for the poll before.
    """
    seen: dict[str, float] = {}
    found: list[Verdict] = []
    for rule in RULES:
        proof = rule.sign(signs)
        if proof is None:
            continue
        first = seen[rule.code] = since.get(rule.code, now_at)
        if now_at - first >= rule.hold_s:
            found.append(Verdict(rule.code, proof, rule.severity, first, rule.key))
    if found:
        return max(found, key=lambda v: v.severity), seen
    if signs.ready.value == 0 and not signs.in_progress.value:
        return Verdict(EMPTY, "no message is ready or in progress"), seen
    if signs.ready.value is None:
        return Verdict("unknown", signs.ready.reason or "the depth is not known yet", Severity.NOTICE), seen
    return Verdict(HEALTHY, _flowing(signs)), seen


def _flowing(s: Signs) -> str:
    if s.push_rate.value is None or s.pop_rate.value is None:
        return f"{s.ready.value or 0:,.0f} ready; rates follow with the second poll"
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f} m" if seconds >= 120 else f"{seconds:,.0f} s"
