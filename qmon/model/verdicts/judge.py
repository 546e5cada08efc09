"""Judge: which verdicts hold at this poll, since when, and whether enough is seen to call a queue healthy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from qmon.model.figure import NOT_SINCE, Figure, Severity, Verdict
from qmon.model.text import duration
from qmon.model.verdicts.access import CANNOT_SEE, LOCKED
from qmon.model.verdicts.flow import (
    BEHIND,
    BLOCKED,
    NO_POPPERS,
    NO_POPS,
    NOT_CLAIMING,
    OUTRUN,
    PAUSED,
    RING_FULL,
    STARVED,
    STUCK,
)
from qmon.model.verdicts.messages import DELIVERED_TWICE, HOLE, ORPHANS, POISON
from qmon.model.verdicts.rule import Rule, RuleInput
from qmon.model.verdicts.server import DEADLOCKS, HORIZON, LATCH, LOG, STATISTICS
from qmon.model.verdicts.server_state import (
    AT_LIMIT,
    FAILED_OVER,
    KEPT_AWAKE,
    LOG_FILLING,
    LOG_FULL,
    NOT_SYNCHRONIZING,
    PLAN_REGRESSED,
    REPLICA_BEHIND,
    TEMP_FILLING,
)
from qmon.model.view import NOT_READ


def missing(s: RuleInput) -> str:
    """What would have to be known to call the queue healthy, and why it is not, in one line; empty where nothing is."""
    reasons: dict[str, list[str]] = {}
    for name, reason in _lacking(s):
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{_and(names)} {'is' if len(names) == 1 else 'are'} {why}" for why, names in reasons.items())


def seen_empty(s: RuleInput) -> bool:
    """Whether no message is ready, in progress or blocked, as read in the polls: an older count does not prove it."""
    figures = [s.ready, *([s.in_progress] if s.has("in_progress") else []), *([s.blocked] if s.may_block else [])]
    return all(figure.value == 0 and not (figure.at_least or figure.every_s) for figure in figures)


def _lacking(s: RuleInput) -> Iterator[tuple[str, str]]:
    """The figures that are needed and missing, or not good enough, each with the reason."""
    # Where a message is in progress only while its popper's transaction is open, it is stuck where that is too old: how
    # many there are does not matter. Else rows that nobody counted may have been left by anybody.
    needed = [("ready", s.ready)]
    if s.has("in_progress") and not s.in_transaction:
        needed.append(("in progress", s.in_progress))
    if s.has("stuck"):
        needed.append(("stuck", s.stuck))
    if s.may_block:
        needed.append(("blocked", s.blocked))
    for name, figure in needed:
        if figure.value is None:
            yield name, f"not known: {_why(s, figure)}"
        elif figure.partial or (figure.at_least and (name == "stuck" or not figure.value)):
            yield name, f"only partly seen: {figure.reason or 'more may be there'}"
    if not seen_empty(s):  # else nothing need move
        for name, figure in (("push rate", s.push_rate), ("pop rate", s.pop_rate)):
            if figure.old:
                yield name, f"not known: {figure.reason}"


def _why(s: RuleInput, figure: Figure) -> str:
    """Why a figure is not known: what failed, else what the figure says itself."""
    if figure.reason not in ("", NOT_READ):
        return figure.reason
    return next((f.words for f in s.failures), figure.reason or NOT_READ)


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


HEALTHY: Final = "healthy"
EMPTY: Final = "empty"
CANNOT_TELL: Final = "cannot tell"
"""Nothing wrong is seen, but not enough is seen to call the queue healthy."""

RULES: Final[tuple[Rule, ...]] = (
    CANNOT_SEE,
    PAUSED,
    LOG_FULL,
    LOCKED,
    POISON,
    HOLE,
    NO_POPPERS,
    NOT_CLAIMING,
    RING_FULL,
    STUCK,
    DELIVERED_TWICE,
    ORPHANS,
    NO_POPS,
    FAILED_OVER,
    LOG_FILLING,
    TEMP_FILLING,
    AT_LIMIT,
    PLAN_REGRESSED,
    HORIZON,
    LOG,
    LATCH,
    DEADLOCKS,
    NOT_SYNCHRONIZING,
    STATISTICS,
    REPLICA_BEHIND,
    KEPT_AWAKE,
    BLOCKED,
    OUTRUN,
    STARVED,
    BEHIND,
)
"""The rules; of equally severe verdicts the earlier is shown first."""
_CODES: Final = frozenset(rule.code for rule in RULES)


def judge(given: RuleInput, now_at: float, since: Mapping[str, float]) -> tuple[tuple[Verdict, ...], dict[str, float]]:
    """All verdicts whose evidence has lasted, the worst first and at least one, and since when each has it.

    What merely follows from another verdict is left out, and its hold time begins anew when that one has gone. A queue
    that was seen well is called so until critical evidence has lasted, so that a lull is no incident; any other is not.

    Args:
        given: the figures now.
        now_at: server clock, seconds since the epoch.
        since: what this function returned for the poll before; ``HEALTHY`` is in it once the queue was seen well.
    """
    seen: dict[str, float] = {HEALTHY: since[HEALTHY]} if HEALTHY in since else {}
    found: dict[str, Verdict] = {}
    unproved: dict[str, str] = {}
    explained: set[str] = set()
    for rule in RULES:
        proof = rule.proof(given)
        if proof is None:
            continue
        first = seen[rule.code] = since.get(rule.code, now_at)
        if now_at - first >= rule.hold_s:
            found[rule.code] = Verdict(rule.code, proof, rule.severity, first, rule.key(given), rule.cause(given))
            explained.update(rule.explains)
        elif rule.severity is Severity.CRITICAL:
            unproved[rule.code] = f"{proof}; {rule.code} if that lasts {duration(first + rule.hold_s - now_at)} more"
    for code in explained:
        for each in (found, unproved, seen):
            each.pop(code, None)
    verdicts = sorted(found.values(), key=lambda v: -v.severity)
    if verdicts and verdicts[0].severity >= Severity.WARNING:
        return tuple(verdicts), seen
    if doubt := missing(given) or ("" if HEALTHY in seen else next(iter(unproved.values()), "")):
        first = seen[CANNOT_TELL] = since.get(CANNOT_TELL, now_at)
        verdicts.append(Verdict(CANNOT_TELL, doubt, Severity.NOTICE, first, "n" if _throttled(given) else ""))
        return tuple(verdicts), seen
    if given.moved is not None or seen_empty(given):
        seen.setdefault(HEALTHY, now_at)
    return tuple(verdicts or [_fine(given)]), seen


def undecided(
    given: RuleInput, verdicts: Sequence[Verdict], since: Mapping[str, float], *, rates_follow: bool
) -> frozenset[str]:
    """The codes of verdicts that do not hold, and are not known to be over: evidence is missing, or has yet to last.

    Args:
        given: the figures now.
        verdicts, since: what ``judge`` made of them.
        rates_follow: rates are not known in this poll, and will be.
    """
    missed = rates_follow or (verdicts[0].severity >= Severity.WARNING and missing(given))  # else it is ``CANNOT_TELL``
    open_codes = _CODES if missed else _unread(given) | _CODES.intersection(since)
    return open_codes.difference(verdict.code for verdict in verdicts)


def _unread(s: RuleInput) -> frozenset[str]:
    """The codes of verdicts that nothing was read for."""
    of_target = (each for each in (s.snapshot.failures if s.snapshot else ()) if not each.queue)
    failed = [each.probe for each in (*s.failures, *of_target)]
    return frozenset(
        rule.code for rule in RULES if rule.unread(s) or any(probe.startswith(rule.probes) for probe in failed)
    )


def _throttled(s: RuleInput) -> bool:
    """Whether a poll asked for now would read what is not known."""
    return any(figure.reason.startswith(NOT_SINCE) for figure in (s.ready, s.in_progress, s.stuck))


def _fine(s: RuleInput) -> Verdict:
    if seen_empty(s):
        return Verdict(EMPTY, f"no message is ready{', in progress or blocked' if s.may_block else ' or in progress'}")
    return Verdict(HEALTHY, f"{_flowing(s)}; {s.blocked.text()} blocked" if s.blocked.value else _flowing(s))


def _flowing(s: RuleInput) -> str:
    if s.push_rate.value is None or s.pop_rate.value is None:
        why = next((rate.reason for rate in (s.push_rate, s.pop_rate) if rate.value is None), "")
        return f"{s.ready.value or 0:,.0f} ready; {why or 'its rates are not known'}"
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s"
