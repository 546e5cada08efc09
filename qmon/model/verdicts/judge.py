"""Judge: which verdicts hold, from the signs of this poll and since when each has been there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qmon.model.figure import Severity, Verdict
from qmon.model.verdicts.archive import BEHIND
from qmon.model.verdicts.claiming import NO_POPPERS, NOT_CLAIMING
from qmon.model.verdicts.deadlocking import DEADLOCKS
from qmon.model.verdicts.evidence import missing, seen_empty
from qmon.model.verdicts.horizon import HORIZON
from qmon.model.verdicts.latching import LATCH
from qmon.model.verdicts.locking import LOCKED
from qmon.model.verdicts.logbound import LOG
from qmon.model.verdicts.mishaps import HOLE, ORPHANS, POISON, TWICE
from qmon.model.verdicts.moving import NO_POPS, OUTRUN, RING_FULL
from qmon.model.verdicts.pausing import PAUSED
from qmon.model.verdicts.progress import STUCK
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.seeing import CANNOT_SEE
from qmon.model.verdicts.signs import RuleInput
from qmon.model.verdicts.starving import STARVED
from qmon.model.verdicts.statistics import STATISTICS

HEALTHY: Final = "healthy"
EMPTY: Final = "empty"
CANNOT_TELL: Final = "cannot tell"
"""Nothing is seen to be wrong, and not all is seen that would be needed to say that nothing is."""

RULES: Final[tuple[Rule, ...]] = (
    CANNOT_SEE,
    PAUSED,
    LOCKED,
    POISON,
    HOLE,
    NO_POPPERS,
    NOT_CLAIMING,
    RING_FULL,
    STUCK,
    TWICE,
    ORPHANS,
    NO_POPS,
    HORIZON,
    LOG,
    LATCH,
    DEADLOCKS,
    STATISTICS,
    OUTRUN,
    STARVED,
    BEHIND,
)
"""The rules; of equally severe verdicts the earlier is said first."""


def judge(signs: RuleInput, now_at: float, since: Mapping[str, float]) -> tuple[tuple[Verdict, ...], dict[str, float]]:
    """All verdicts whose signs have lasted, the worst first and at least one, and since when each sign is there.

    What merely follows from another verdict is left out, and its hold time begins anew when that one has gone.

    Args:
        signs: the figures now.
        now_at: server clock, seconds since the epoch.
        since: what this function returned for the poll before.
    """
    seen: dict[str, float] = {}
    found: dict[str, Verdict] = {}
    explained: set[str] = set()
    for rule in RULES:
        proof = rule.sign(signs)
        if proof is None:
            continue
        first = seen[rule.code] = since.get(rule.code, now_at)
        if now_at - first >= rule.hold_s:
            found[rule.code] = Verdict(rule.code, proof, rule.severity, first, rule.key)
            explained.update(rule.explains)
    for code in explained:
        found.pop(code, None)
        seen.pop(code, None)
    verdicts = sorted(found.values(), key=lambda v: -v.severity)
    if not verdicts or verdicts[0].severity < Severity.WARNING:
        if lacking := missing(signs):
            first = seen[CANNOT_TELL] = since.get(CANNOT_TELL, now_at)
            verdicts.append(Verdict(CANNOT_TELL, lacking, Severity.NOTICE, first))
        elif not verdicts:
            verdicts.append(_fine(signs))
    return tuple(verdicts), seen


def _fine(s: RuleInput) -> Verdict:
    if seen_empty(s):
        return Verdict(EMPTY, "no message is ready or in progress")
    return Verdict(HEALTHY, _flowing(s))


def _flowing(s: RuleInput) -> str:
    if s.push_rate.value is None or s.pop_rate.value is None:
        why = next((rate.reason for rate in (s.push_rate, s.pop_rate) if rate.value is None), "")
        return f"{s.ready.value or 0:,.0f} ready; {why or 'its rates are not known'}"
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s"
