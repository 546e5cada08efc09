"""Decide which verdicts hold and when each verdict began, and whether enough is known to call a queue healthy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.model.defect_guard import DefectGuard
from qmon.model.evidence import TargetVerdicts
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.formatting import duration
from qmon.model.operation_records import Side
from qmon.model.probe_table import is_probe_of
from qmon.model.reasons import Reason
from qmon.model.verdicts.access_verdicts import CANNOT_SEE, LOCKED
from qmon.model.verdicts.flow_verdicts import (
    BEHIND,
    BLOCKED,
    DUE_LATER,
    NO_CONSUMERS,
    NO_POPS,
    NO_PUSHES,
    NOT_CLAIMING,
    OUTRUN,
    PAUSED,
    PUSHES_FAIL,
    RING_FULL,
    SLOWER,
    STARVED,
    STILL_S,
    STUCK,
)
from qmon.model.verdicts.message_verdicts import (
    CRASHES,
    DELIVERED_TWICE,
    DUPLICATES,
    HOLE,
    ORPHANS,
    POISON,
    WRONG_CLOCK,
)
from qmon.model.verdicts.rule import Rule, RuleInput, holds_never
from qmon.model.verdicts.server_health_verdicts import (
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
from qmon.model.verdicts.server_verdicts import CLEANUP_BEHIND, DEADLOCKS, HORIZON, LATCH, LOG, STATISTICS
from qmon.texts import Text


class JudgeText(Text):
    """Lines of queues without a proven verdict."""

    IS = "{figures} is {why}"
    ARE = "{figures} are {why}"
    UNKNOWN = "unknown: {reason}"
    PARTLY_KNOWN = "only partly known: {reason}"
    MAY_BE_MORE = "there may be more"
    RATES_UNKNOWN = "rates unknown"
    NO_POP_RATE = "no pop rate"
    UNMOVED = "{ready:,.0f} ready, but qmon cannot tell whether messages leave the queue: {reason}"
    IF_THIS_LASTS = "{proof}; {verdict} if this lasts {age} more"
    READ_AGO = "{proof}; read {age} ago"
    NO_MESSAGE = "no message is {states}"
    USUAL_BACKLOG = "{flow}; {ready:,.0f} ready are usual {hour}, and the queue is usually drained {drained}"
    STATES_READ_AGO = "{proof}; qmon last looked for messages in other states {age} ago"
    AND_BLOCKED = "{flow}; {blocked} blocked"
    READY = "{ready:,.0f} ready; {reason}"
    RATES = "push {push:,.1f}/s, pop {pop:,.1f}/s"


def missing_text(context: RuleInput) -> str:
    """Return one line with the unknown figures that qmon needs to call the queue healthy, and the reasons.

    The text is empty if all these figures are known.
    """
    strange = context.samples.strange if context.samples is not None else None
    reasons: dict[str, list[str]] = {}
    for name, reason in _missing_figures(context):
        reasons.setdefault(reason, []).append(name)
    lines = [
        (JudgeText.IS if len(names) == 1 else JudgeText.ARE).render(figures=_join_words(names, "and"), why=why)
        for why, names in reasons.items()
    ]
    return "; ".join([strange.text, *lines] if strange is not None else lines)


def is_seen_empty(context: RuleInput) -> bool:
    """Return whether the polls found no message that is ready, in progress or blocked.

    A count from a scan is not enough.
    """
    figures = [
        context.ready,
        *([context.in_progress] if context.has_figure("in_progress") else []),
        *([context.blocked] if context.may_block else []),
    ]
    return all(figure.value == 0 and not (figure.at_least or figure.every_s) for figure in figures)


def _missing_figures(context: RuleInput) -> Iterator[tuple[str, str]]:
    """Yield the needed figures that are unknown or not good enough, each with the reason.

    Figures that are unknown because of messages in unknown states are left out.
    """
    # In some queues, a message is in progress only while its consumer's transaction is open, and is stuck if that
    # transaction is too old. The number of such messages is therefore not needed. In other queues, rows that were not
    # counted may be messages that a consumer has left behind.
    needed = [("ready", context.ready)]
    if context.has_figure("in_progress") and not context.is_popped_in_transaction:
        needed.append(("in_progress", context.in_progress))
    if context.has_figure("stuck"):
        needed.append(("stuck", context.stuck))
    if context.may_block:
        needed.append(("blocked", context.blocked))
    for field, figure in needed:
        name = field.replace("_", " ")
        if figure.value is None:
            if context.samples is None or not context.samples.depends_on_strange(field):
                yield name, JudgeText.UNKNOWN.render(reason=_unknown_reason(context, figure))
        elif figure.partial or (figure.at_least and (name == "stuck" or not figure.value)):
            yield name, JudgeText.PARTLY_KNOWN.render(reason=figure.reason or JudgeText.MAY_BE_MORE)
    if context.in_unknown_states.value is None:
        yield "number of messages in other states", JudgeText.UNKNOWN.render(reason=context.in_unknown_states.reason)
    if not is_seen_empty(context):  # in an empty queue nothing has to move
        for name, figure in (("push rate", context.push_rate), ("pop rate", context.pop_rate)):
            if figure.old:
                yield name, JudgeText.UNKNOWN.render(reason=figure.reason)


def _unmoved_text(context: RuleInput) -> str:
    """Return why qmon cannot tell whether messages leave the queue, or an empty text if this is known or irrelevant."""
    motion = context.queue.motion
    moves = motion is not None and motion.moved_s is not None and motion.moved_s < STILL_S
    if context.outflow_rate is not None or moves or not context.ready.value or context.is_paused(Side.CONSUMERS):
        return ""
    why = context.pop_rate.reason or JudgeText.NO_POP_RATE
    return JudgeText.UNMOVED.render(ready=context.ready.value, reason=why)


def _unknown_reason(context: RuleInput, figure: Figure) -> str:
    """Return why a figure is unknown.

    If the only reason is that the figure was not read, return the error of a failed probe.
    """
    if figure.reason not in ("", Reason.NOT_READ_IN_THIS_POLL):
        return figure.reason
    return next((f.text for f in context.failures), figure.reason or Reason.NOT_READ_IN_THIS_POLL)


def _join_words(names: list[str], conjunction: str) -> str:
    return f" {conjunction} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


# A search for unknown states that is older than this is named in the verdict (seconds). Most queues are searched every
# ten seconds.
_STATES_FRESH_S: Final = 15.0

HEALTHY: Final = "healthy"
EMPTY: Final = "empty"

# No problem was found, but too little is known to call the queue healthy.
CANNOT_TELL: Final = "cannot tell"

# Key of a span that `judge_queue` returns: during this span, qmon cannot tell whether messages leave the queue.
_UNMOVED: Final = "unmoved"

# The rules. Among equally severe verdicts, the earlier rule is shown first.
RULES: Final[tuple[Rule, ...]] = (
    CANNOT_SEE,
    PAUSED,
    LOG_FULL,
    LOCKED,
    CRASHES,
    POISON,
    HOLE,
    NO_CONSUMERS,
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
    CLEANUP_BEHIND,
    LOG,
    LATCH,
    DEADLOCKS,
    NOT_SYNCHRONIZING,
    STATISTICS,
    REPLICA_BEHIND,
    KEPT_AWAKE,
    BLOCKED,
    OUTRUN,
    SLOWER,
    PUSHES_FAIL,
    NO_PUSHES,
    DUE_LATER,
    WRONG_CLOCK,
    DUPLICATES,
    STARVED,
    BEHIND,
)
_RANKS: Final = {rule.code: rank for rank, rule in enumerate(RULES)}
_EXPLAINED: Final = {rule.code: rule.explains for rule in RULES}
TARGET_RULES: Final = tuple(rule for rule in RULES if rule.of_target)
QUEUE_RULES: Final = tuple(rule for rule in RULES if not rule.of_target)

# The verdicts about the whole target.
TARGET_CODES: Final = frozenset(rule.code for rule in TARGET_RULES)

# Verdicts that the pop rate proves.
_OF_POP_RATE: Final = (NO_CONSUMERS, NOT_CLAIMING, NO_POPS)

# Verdicts under which no message is popped.
STANDSTILL_CODES: Final = frozenset(rule.code for rule in (LOCKED, *_OF_POP_RATE))
_RULE: Final = "rule "


# A verdict whose evidence returns within this many seconds keeps its start.
LULL_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """When the evidence of one verdict was first and last seen (server clock, seconds since the epoch).

    Attributes:
        last_at: when the evidence was last seen. The time also advances in polls that do not read the evidence.
        raised: true if the evidence lasted long enough for the verdict to be shown.
        lapsed: true if the newest poll found no evidence.
        seen_at: when the evidence was last read.
        verdict: the verdict with the proof that was last read.
    """

    first_at: float
    last_at: float
    raised: bool = False
    lapsed: bool = False
    seen_at: float = float("-inf")
    verdict: Verdict | None = None

    def is_over(self, now_at: float) -> bool:
        """Return whether the evidence has been gone for more than ``LULL_S``.

        Evidence at ``now_at`` then starts a new span.
        """
        return self.lapsed and now_at - self.last_at > LULL_S


# Keyed by the code of a verdict. `HEALTHY` is included once the queue was proven healthy.
Spans = Mapping[str, EvidenceSpan]


def judge_target(
    context: RuleInput, now_at: float, spans: Spans, guard: DefectGuard
) -> tuple[TargetVerdicts, dict[str, EvidenceSpan]]:
    """Return the verdicts about the whole target, and the spans of their evidence so far.

    ``context``: the evidence about the target, without a queue. The other arguments are those of ``judge_queue``.
    """
    found, unproved, seen = _find_evidence(TARGET_RULES, context, now_at, spans, guard)
    faults = _faulty_codes(guard)
    unread = _unread_codes(TARGET_RULES, context).union(faults)
    seen = {**_lapsed_spans(_without_refuted(TARGET_RULES, spans, context), unread, now_at), **seen}
    _drop_explained(found, unproved, seen)
    undecided = unread.union(seen).difference(found)
    return TargetVerdicts(found, unproved, undecided, dict(guard.reasons)), seen


def judge_queue(
    context: RuleInput, now_at: float, spans: Spans, guard: DefectGuard | None = None
) -> tuple[tuple[Verdict, ...], dict[str, EvidenceSpan]]:
    """Return all verdicts whose evidence has lasted for the hold time, and the spans of evidence so far.

    The result has at least one verdict, and the worst verdict is first. The verdicts about the whole target come from
    ``context.target``. A verdict that merely follows from another verdict is left out. Its hold time starts again when
    the other verdict is gone. A queue that was once proven healthy is called healthy until critical evidence has lasted
    for its hold time, so that a lull is not reported as an incident. A raised verdict keeps its start while its
    evidence is not read. While the pop rate is unknown for a few polls, a verdict that it proves is shown with the age
    of its proof, for at most ``LULL_S`` seconds. The verdict also keeps its start for ``LULL_S`` seconds without
    evidence, unless a poll refutes the verdict.

    Args:
        context: the current figures.
        now_at: server clock, seconds since the epoch.
        spans: the spans returned for the previous poll.
        guard: runs each rule. A rule that raises an exception has no result, and the queue is not called healthy.
    """
    found, unproved, seen = _find_evidence(QUEUE_RULES, context, now_at, spans, guard)
    if HEALTHY in spans:
        seen[HEALTHY] = spans[HEALTHY]
    judged = context.target.judged
    found |= judged.holding
    unproved |= judged.unproved
    doubt, faults = missing_text(context), {**judged.faults, **(guard.reasons if guard is not None else {})}
    is_troubled = any(each.severity >= Severity.WARNING for each in found.values())
    unread = _unread_codes(QUEUE_RULES, context, can_tell=not (doubt and is_troubled)).union(_faulty_codes(guard))
    lapsed = _lapsed_spans(_without_refuted(QUEUE_RULES, spans, context), unread, now_at)
    found.update(_kept_verdicts(context, lapsed, seen, now_at))
    seen = {**lapsed, **seen}
    _drop_explained(found, unproved, seen)
    verdicts = sorted(found.values(), key=lambda verdict: (-verdict.severity, _RANKS[verdict.code]))
    if verdicts and verdicts[0].severity >= Severity.WARNING:
        return tuple(verdicts), seen
    doubt = doubt or next((f"{part}: {why}" for part, why in faults.items()), "")
    if unmoved := _unmoved_text(context):
        span = seen[_UNMOVED] = _extend_span(spans, _UNMOVED, now_at, STILL_S)
        doubt = doubt or (unmoved if span.raised or HEALTHY not in seen else "")
    sign = max(unproved.values(), key=lambda verdict: (verdict.severity, -_RANKS[verdict.code]), default=None)
    if sign is not None and (doubt or (sign.severity is Severity.CRITICAL and HEALTHY not in seen)):
        doubt = f"{sign.proof}; {doubt}" if doubt else sign.proof
    if doubt:
        span = seen[CANNOT_TELL] = _extend_span(spans, CANNOT_TELL, now_at, 0.0)
        key = "n" if _has_throttled_figure(context) else ""
        verdicts.append(Verdict(CANNOT_TELL, doubt, Severity.NOTICE, span.first_at, key))
        return tuple(verdicts), seen
    if context.outflow_rate is not None or is_seen_empty(context):
        seen.setdefault(HEALTHY, EvidenceSpan(now_at, now_at))
    return tuple(verdicts or [_fine_verdict(context)]), seen


def _find_evidence(
    rules: Sequence[Rule], context: RuleInput, now_at: float, spans: Spans, guard: DefectGuard | None
) -> tuple[dict[str, Verdict], dict[str, Verdict], dict[str, EvidenceSpan]]:
    """Return the verdicts that hold, the verdicts whose evidence has not lasted long enough, and all spans."""
    found: dict[str, Verdict] = {}
    unproved: dict[str, Verdict] = {}
    seen: dict[str, EvidenceSpan] = {}
    for rule in rules:
        try:
            if (proof := rule.proof(context)) is None:
                continue
            raised, span = _record_evidence(rule, proof, context, spans, now_at)
        # as in `DefectGuard.attempt`, whose call would take longer than most rules
        except Exception as problem:
            if guard is None:
                raise
            guard.record(f"{_RULE}{rule.code}", problem)
            continue
        seen[rule.code] = span
        if span.raised:
            found[rule.code] = raised
        elif rule.severity >= Severity.WARNING:
            left_s = span.first_at + rule.hold_s - now_at
            line = JudgeText.IF_THIS_LASTS.render(proof=raised.proof, verdict=rule.code, age=duration(left_s))
            unproved[rule.code] = Verdict(rule.code, line, rule.severity)
    return found, unproved, seen


def _faulty_codes(guard: DefectGuard | None) -> list[str]:
    return [part.removeprefix(_RULE) for part in guard.reasons] if guard is not None else []


def _drop_explained(verdicts: dict[str, Verdict], unproved: dict[str, Verdict], spans: dict[str, EvidenceSpan]) -> None:
    """Remove the verdicts that merely follow from a verdict that holds."""
    for code in {code for holding in verdicts for code in _EXPLAINED[holding]}:
        for each in (verdicts, unproved, spans):
            each.pop(code, None)


def _record_evidence(
    rule: Rule, proof: str, context: RuleInput, spans: Spans, now_at: float
) -> tuple[Verdict, EvidenceSpan]:
    """Return the verdict of a rule with this proof, and the span of its evidence."""
    span = _extend_span(spans, rule.code, now_at, rule.hold_s)
    # If qmon only guessed that the table is a queue, the evidence may mean something else.
    guess = context.layout is not None and context.layout.is_guess
    severity = min(rule.severity, Severity.WARNING) if guess else rule.severity
    verdict = Verdict(rule.code, proof, severity, span.first_at, rule.key_for(context), rule.cause(context))
    return verdict, replace(span, seen_at=now_at, verdict=verdict)


def _kept_verdicts(context: RuleInput, lapsed: Spans, spans: Spans, now_at: float) -> Iterator[tuple[str, Verdict]]:
    """Yield the raised verdicts that a poll without a pop rate could not prove, by code, with the age of their proof.

    Verdicts whose proof is older than ``LULL_S`` are left out. No verdict is kept if this poll shows that no message is
    ready.
    """
    for rule in _OF_POP_RATE if context.rates_follow and context.ready.value != 0 else ():
        span = lapsed.get(rule.code)
        if span is None or span.verdict is None or rule.code in spans or now_at - span.seen_at > LULL_S:
            continue
        age = duration(now_at - span.seen_at)
        yield rule.code, replace(span.verdict, proof=JudgeText.READ_AGO.render(proof=span.verdict.proof, age=age))


def is_brief(verdict: Verdict, at: float) -> bool:
    """Return whether a verdict only reports that something is briefly unknown (``at``: server clock).

    Such a verdict is shown, but not kept as an event.
    """
    return verdict.code == CANNOT_TELL and verdict.since_at is not None and at - verdict.since_at < LULL_S


def _extend_span(spans: Spans, code: str, now_at: float, hold_s: float) -> EvidenceSpan:
    """Return the span of a verdict's evidence, extended by this poll."""
    before = spans.get(code)
    goes_on = before is not None and not before.is_over(now_at)
    first_at = before.first_at if before is not None and goes_on else now_at
    was_raised = before is not None and goes_on and before.raised
    return EvidenceSpan(first_at, now_at, was_raised or now_at - first_at >= hold_s)


def _without_refuted(rules: Sequence[Rule], spans: Spans, context: RuleInput) -> dict[str, EvidenceSpan]:
    """Return the spans, except those of verdicts that this poll refutes."""
    refuted = {rule.code for rule in rules if rule.code in spans and rule.refuted(context)}
    return {code: span for code, span in spans.items() if code not in refuted}


def _lapsed_spans(spans: Spans, unread: Collection[str], now_at: float) -> dict[str, EvidenceSpan]:
    """Return the spans of raised verdicts that have no evidence in this poll but are not over yet."""
    spans = {code: span for code, span in spans.items() if span.raised}
    lapsed = {
        code: replace(span, lapsed=True, last_at=now_at if code in unread else span.last_at)
        for code, span in spans.items()
    }
    return {code: span for code, span in lapsed.items() if not span.is_over(now_at)}


def undecided_codes(context: RuleInput, verdicts: Sequence[Verdict], spans: Spans) -> frozenset[str]:
    """Return the codes of verdicts that do not hold but are not known to be over.

    The evidence of such a verdict is missing or has not lasted long enough yet.

    Args:
        context: the current figures.
        verdicts: the verdicts that ``judge_queue`` returned for these figures.
        spans: the spans that ``judge_queue`` returned for these figures.
    """
    known = not (verdicts[0].severity >= Severity.WARNING and missing_text(context))
    open_codes = _unread_codes(QUEUE_RULES, context, can_tell=known).union(spans.keys() - {HEALTHY, _UNMOVED})
    return open_codes.union(context.target.judged.undecided).difference(verdict.code for verdict in verdicts)


def _unread_codes(rules: Sequence[Rule], context: RuleInput, *, can_tell: bool = True) -> frozenset[str]:
    """Return the codes of the verdicts of these rules whose evidence was not read.

    ``can_tell``: true if the figures that the verdicts need are known, or the queue is called ``CANNOT_TELL``.
    """
    if context.rates_follow or not can_tell:
        return frozenset(rule.code for rule in rules)
    of_target = (each for each in (context.snapshot.failures if context.snapshot else ()) if not each.queue)
    failed = {each.probe for each in (*context.failures, *of_target)}
    conditions = {rule.unread for rule in rules} - {holds_never}  # many rules share one
    holding = {condition for condition in conditions if condition(context)}
    unread = {rule.code for rule in rules if rule.unread in holding} if holding else set()
    if failed:
        unread.update(rule.code for rule in rules if any(is_probe_of(probe, rule.probes) for probe in failed))
    return frozenset(unread)


def _has_throttled_figure(context: RuleInput) -> bool:
    """Return whether a poll requested now would read a figure that is unknown."""
    return any(figure.throttled for figure in (context.ready, context.in_progress, context.stuck))


def _fine_verdict(context: RuleInput) -> Verdict:
    if is_seen_empty(context):
        named = [
            "ready",
            *(["in progress"] if context.has_figure("in_progress") else []),
            *(["blocked"] if context.may_block else []),
        ]
        code, proof = EMPTY, JudgeText.NO_MESSAGE.render(states=_join_words(named, "or"))
    else:
        code, proof = HEALTHY, _flow_text(context)
        if context.ready.value and not context.outflow_rate and (usual := context.usual_backlog) is not None:
            proof = JudgeText.USUAL_BACKLOG.render(
                flow=proof, ready=context.ready.value, hour=usual.band.hour, drained=usual.drained
            )
        if context.blocked.value:
            proof = JudgeText.AND_BLOCKED.render(flow=proof, blocked=context.blocked.text())
    if context.in_unknown_states.age_s > _STATES_FRESH_S:
        age = duration(context.in_unknown_states.age_s)
        proof = JudgeText.STATES_READ_AGO.render(proof=proof, age=age)
    return Verdict(code, proof)


def _flow_text(context: RuleInput) -> str:
    if context.push_rate.value is None or context.pop_rate.value is None:
        why = next((rate.reason for rate in (context.push_rate, context.pop_rate) if rate.value is None), "")
        return JudgeText.READY.render(ready=context.ready.value or 0, reason=why or JudgeText.RATES_UNKNOWN)
    return JudgeText.RATES.render(push=context.push_rate.value, pop=context.pop_rate.value)
