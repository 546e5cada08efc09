"""Alert rules: limits and verdicts that raise alerts. For each reading, a rule is met, not met or unknown."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from qmon.model.config_reader import suggest_nearest
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.formatting import duration, percent, rate
from qmon.model.queue_figures import MAIN_FIGURES, RATE, SECONDS, SHARE, QueueFigure
from qmon.model.service_broker import DISABLED, LEAK, NOT_ACTIVATED, NOT_SENT
from qmon.model.verdicts import CANNOT_TELL, EMPTY, HEALTHY, RULES
from qmon.model.verdicts.access_verdicts import UNREACHABLE
from qmon.model.verdicts.judge import TARGET_CODES
from qmon.model.view import QueueView, View
from qmon.texts import Text


class AlertText(Text):
    """Results of rules, and warnings about rules that apply to nothing."""

    NO_LIMIT = "no limit"
    NO_READING = "no reading"
    FIGURE_UNKNOWN = "{figure} is not known: {reason}"
    NO_SUCH_TARGET = "the alert {name!r} applies to no target: no target is called {targets}{hint}"
    NO_SUCH_QUEUE = "the alert {name!r} names a queue that does not exist: {queue}{hint}"


ANY_NAME: Final = "*"
_EXPLAINS: Final = {rule.code: rule.explains for rule in RULES}

# Codes of verdicts that hide all other verdicts.
HIDING_CODES: Final = frozenset({"cannot tell", "cannot see"})

# Codes of verdicts that are a warning or worse. Patterns with `*` or `?` match only these codes.
WARNING_CODES: Final = frozenset(
    {rule.code for rule in RULES if rule.severity >= Severity.WARNING}
    | {UNREACHABLE, DISABLED, NOT_ACTIVATED, NOT_SENT, LEAK}
)

# Codes of all verdicts.
CODES: Final = WARNING_CODES | {rule.code for rule in RULES} | {CANNOT_TELL, EMPTY, HEALTHY}

# Figures that can have limits, by their names in the status report.
LIMIT_FIGURES: Final[Mapping[str, QueueFigure]] = {figure.name: figure for figure in MAIN_FIGURES}

# Names used on the screens, such as `depth` and `oldest`.
ALIASES: Final[Mapping[str, str]] = {kind.label: name for name, kind in LIMIT_FIGURES.items() if kind.label != name}


@dataclass(frozen=True, slots=True)
class AlertRule:
    """A rule that says when to raise an alert. Either ``figure`` or ``verdicts`` is set.

    Attributes:
        name: unique among the rules.
        figure: a name of ``LIMIT_FIGURES``.
        warn: limit for a warning, in the figure's unit.
        crit: limit for a critical alert, in the figure's unit.
        below: true if values below the limits are the problem; false if values above the limits are the problem.
        verdicts: patterns of verdict codes.
        severity: severity of an alert about a verdict; ``None`` means the verdict's own severity.
        targets: patterns of target names.
        queues: patterns of queue names.
        hold_s: seconds that the problem must last before the alert is raised.
        clear_s: seconds that the problem must be over before the alert is cleared.
        margin: how far the figure must be on the good side of its limit before the alert is cleared, as a share of the
            limit.
    """

    name: str
    figure: str = ""
    warn: float | None = None
    crit: float | None = None
    below: bool = False
    verdicts: tuple[str, ...] = ()
    severity: Severity | None = None
    targets: tuple[str, ...] = (ANY_NAME,)
    queues: tuple[str, ...] = (ANY_NAME,)
    hold_s: float = 0.0
    clear_s: float = 0.0
    margin: float = 0.0

    @property
    def levels(self) -> tuple[Severity, ...]:
        """The severities that alerts of this rule can have, lowest first."""
        if self.verdicts:
            return (Severity.WARNING, Severity.CRITICAL) if self.severity is None else (self.severity,)
        limits = ((Severity.WARNING, self.warn), (Severity.CRITICAL, self.crit))
        return tuple(level for level, limit in limits if limit is not None)

    def limit_for(self, level: Severity) -> float | None:
        """Return the limit for a severity in the figure's unit, or ``None`` if there is no such limit."""
        return self.crit if level is Severity.CRITICAL else self.warn

    def applies_to_target(self, target: str) -> bool:
        """Return whether the rule applies to this target."""
        return any(matches_pattern(pattern, target) for pattern in self.targets)

    def applies_to_queue(self, queue: str) -> bool:
        """Return whether the rule applies to this queue."""
        return any(matches_pattern(pattern, queue) for pattern in self.queues)

    def applies_to_target_verdicts(self, target: View) -> bool:
        """Return whether the rule applies to verdicts about the whole target: it applies to one of the queues."""
        return bool(self.verdicts) and any(self.applies_to_queue(queue.name) for queue in target.queues)

    def unmatched_queue_patterns(self, queues: Collection[str]) -> list[str]:
        """Return the queue patterns of the rule that match no queue. The pattern ``*`` is left out."""
        patterns = [each for each in dict.fromkeys(self.queues) if each != ANY_NAME]
        return [pattern for pattern in patterns if not any(matches_pattern(pattern, queue) for queue in queues)]

    def names_queue(self, queue: str) -> bool:
        """Return whether the rule contains this queue's exact name, not only a pattern that matches it."""
        return queue in self.queues


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that may raise alerts on several queues. ``code``: verdict that names the cause. ``who``: name."""

    code: str
    who: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of a rule for one reading.

    ``met`` is ``None`` if it is unknown whether the rule is met; ``text`` then contains the reason. ``value``: value of
    the figure. ``cause``: the cause of the problem, if the cause may also affect other queues.
    """

    met: bool | None
    text: str
    value: float | None = None
    cause: Cause | None = None


def matches_pattern(pattern: str, name: str) -> bool:
    """Return whether a name matches the pattern, where ``*`` is any text and ``?`` is one character."""
    return pattern == name or fnmatchcase(name, pattern.replace("[", "[[]"))


def evaluate_rule(rule: AlertRule, queue: QueueView, level: Severity, *, was_met: bool = False) -> RuleResult:
    """Return whether a queue currently meets the rule at ``level``.

    The worst matching verdict or the figure decides. ``was_met``: true if the rule was met in the previous reading, so
    that the margin applies.
    """
    return (
        evaluate_verdicts(rule, own_verdicts(queue), level)
        if rule.verdicts
        else _evaluate_figure(rule, queue, queue.verdicts or (queue.verdict,), level, was_met)
    )


def own_verdicts(queue: QueueView) -> tuple[Verdict, ...]:
    """Return the verdicts of a queue, without those about the whole target, which has its own alerts."""
    return tuple(verdict for verdict in queue.verdicts or (queue.verdict,) if verdict.code not in TARGET_CODES)


def verdict_meets_rule(rule: AlertRule, code: str, severity: Severity, level: Severity) -> bool:
    """Return whether a verdict meets the rule. Patterns match only verdicts that are a warning or worse."""
    named = code in rule.verdicts
    fits = named or (severity >= Severity.WARNING and any(matches_pattern(pattern, code) for pattern in rule.verdicts))
    return fits and (severity >= level if rule.severity is None else True)


def evaluate_verdicts(rule: AlertRule, verdicts: Sequence[Verdict], level: Severity) -> RuleResult:
    """Return the result of a verdict rule for all verdicts of a queue.

    A queue without verdicts does not meet the rule.
    """
    for verdict in verdicts:
        if verdict_meets_rule(rule, verdict.code, verdict.severity, level):
            return RuleResult(True, f"{verdict.code}: {verdict.proof}", cause=_first_cause([verdict]))
    for verdict in verdicts:
        if verdict.code in HIDING_CODES:
            return RuleResult(None, f"{verdict.code}: {verdict.proof}")
    return RuleResult(False, verdicts[0].code if verdicts else "")


def evaluate_code(
    rule: AlertRule, verdicts: Sequence[Verdict], code: str, level: Severity, undecided: Container[str] = ()
) -> RuleResult:
    """Return the result of a verdict rule for one verdict code among all verdicts of a queue.

    The result is unknown if another verdict may hide this verdict, or if the code is in ``undecided``.
    """
    found = [verdict for verdict in verdicts if verdict.code == code]
    result = evaluate_verdicts(rule, found, level)
    hidden = code in undecided or any(
        verdict.code in HIDING_CODES or code in _EXPLAINS.get(verdict.code, ()) for verdict in verdicts
    )
    return RuleResult(None, code) if hidden and not result.met else result


def _first_cause(verdicts: Sequence[Verdict]) -> Cause | None:
    return next((Cause(verdict.code, verdict.cause) for verdict in verdicts if verdict.cause), None)


def _evaluate_figure(
    rule: AlertRule, queue: QueueView, verdicts: Sequence[Verdict], level: Severity, was_met: bool
) -> RuleResult:
    kind, limit, figure = LIMIT_FIGURES[rule.figure], rule.limit_for(level), figure_to_judge(queue, rule.figure)
    if limit is None:
        return RuleResult(False, AlertText.NO_LIMIT)
    if figure.value is None:
        return RuleResult(
            None, AlertText.FIGURE_UNKNOWN.render(figure=kind.label, reason=figure.reason or AlertText.NO_READING)
        )
    word = "below" if rule.below else "above"
    shown = f"{kind.label} {figure.text(lambda value: value_text(kind, value))}"
    words = f"{shown}, {word} {value_text(kind, limit)}"
    back = rule.margin * abs(limit) if was_met else 0.0
    cause = _first_cause(verdicts)
    if rule.below:
        met = figure.value < limit + back
        return RuleResult(None if met and figure.at_least else met, words, figure.value, cause)
    met = figure.value > limit - back
    return RuleResult(True if met else None if figure.at_least else False, words, figure.value, cause)


def figure_to_judge(queue: QueueView, name: str) -> Figure:
    """Return a figure by its name in the status report. An old figure is returned as unknown.

    If no message is ready, ``oldest`` is 0.
    """
    figure = LIMIT_FIGURES[name].figure_for(queue).evidence
    ready = queue.ready.evidence
    if name == "oldest_seconds" and figure.value is None and ready.value == 0 and not ready.at_least:
        return Figure(0.0)
    return figure


def value_text(kind: QueueFigure, value: float) -> str:
    """Return a value with its unit: ``12,431``, ``4.0/s``, ``12 m 04 s``, ``76 %``."""
    if kind.unit == SECONDS:
        return duration(value)
    if kind.unit == RATE:
        return f"{rate(value)}/s"
    return percent(value) if kind.unit == SHARE else f"{value:,.0f}"


def rules_for_target(rules: Sequence[AlertRule], target: str) -> tuple[AlertRule, ...]:
    """Return the rules that apply to a target."""
    return tuple(rule for rule in rules if rule.applies_to_target(target))


def unmatched_target_lines(rules: Sequence[AlertRule], targets: Collection[str]) -> Iterator[str]:
    """Yield one line per rule that applies to none of these targets."""
    for rule in rules:
        if not any(map(rule.applies_to_target, targets)):
            yield (
                AlertText.NO_SUCH_TARGET.render(
                    name=rule.name, targets=" or ".join(rule.targets), hint=suggest_nearest(rule.targets[0], targets)
                )
            )


def unmatched_queue_lines(
    rules: Sequence[AlertRule], queues: Mapping[str, Collection[str]], targets: Collection[str]
) -> Iterator[str]:
    """Yield one line per queue pattern of a rule that matches no queue.

    Args:
        rules: the rules of the configuration.
        queues: names of the queues of each target that was read.
        targets: names of all targets. A rule is left out if it may apply to a target that was not read.
    """
    for rule in rules:
        applied = set(filter(rule.applies_to_target, {*targets, *queues}))
        if not applied or not applied <= queues.keys():
            continue
        known = {queue for target in applied for queue in queues[target]}
        for pattern in rule.unmatched_queue_patterns(known):
            nearest = suggest_nearest(pattern, known)
            yield AlertText.NO_SUCH_QUEUE.render(name=rule.name, queue=pattern, hint=nearest)
