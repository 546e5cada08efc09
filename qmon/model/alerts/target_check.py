"""Check a target for a monitoring system. The result is OK, WARNING, CRITICAL or UNKNOWN, and the reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Final

from qmon.model.alerts.alert_rules import (
    HIDING_CODES,
    LIMIT_FIGURES,
    AlertRule,
    RuleResult,
    evaluate_rule,
    evaluate_verdicts,
    own_verdicts,
    rules_for_target,
)
from qmon.model.config_reader import suggest_nearest
from qmon.model.figure import Severity, Verdict
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts import CANNOT_SEE, CANNOT_TELL
from qmon.model.view import QueueView, View
from qmon.texts import Text


class TargetCheckText(Text):
    """Problems of a check."""

    NO_QUEUE_KNOWN = "no queue is known here; to be warned about a missing queue, name it in qmon.toml"
    NO_SUCH_QUEUE = "there is no such queue{hint}"
    NO_SUCH_QUEUE_OF_ALERT = "the alert {alert!r} names this queue, which does not exist{hint}"


class CheckState(IntEnum):
    """The states of monitoring plug-ins. Each value is the exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def rank(self) -> int:
        """The rank of the state, worst highest. A proven problem ranks above an unknown state."""
        return (0, 2, 3, 1)[self.value]


_NO_QUEUE_KNOWN: Final = TargetCheckText.NO_QUEUE_KNOWN
_BY_SEVERITY: Final = {Severity.WARNING: CheckState.WARNING, Severity.CRITICAL: CheckState.CRITICAL}


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a queue is not OK.

    ``queue``: name of the queue; empty if the problem concerns the whole target. ``rule``: name of the rule; empty if
    the queue was judged by its verdict.
    """

    queue: str
    state: CheckState
    text: str
    rule: str = ""
    value: float | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking a target.

    ``queues``: the checked queues. ``rules``: the applied rules. ``broker``: names of the checked Service Broker
    objects.
    """

    target: str
    state: CheckState
    problems: tuple[Problem, ...] = ()
    queues: tuple[QueueView, ...] = ()
    rules: tuple[AlertRule, ...] = ()
    view: View | None = None
    broker: tuple[str, ...] = ()

    @property
    def is_undecided(self) -> bool:
        """True if the result is unknown now, but may be known after another poll."""
        seen = {*self.broker, *(queue.name for queue in self.queues)}
        return any(problem.state is CheckState.UNKNOWN and problem.queue in seen for problem in self.problems)


def check_target(
    view: View, rules: Sequence[AlertRule], queue_names: Sequence[str] = (), targets: Collection[str] = ()
) -> CheckResult:
    """Return the state of a target after its newest poll.

    A queue without a rule is judged by the severity of its verdict. Hold times of rules are ignored, because monitoring
    systems have their own retries. If our role may not read the registry, queues may be missing. A check without queue
    names and rules is then unknown.

    ``queue_names``: names of the queues to check; empty for all queues. ``targets``: names of all configured targets. A
    rule that names a missing queue is not reported if the rule may apply to another target.
    """
    rules = rules_for_target(rules, view.target)
    queues = tuple(q for q in view.queues if not queue_names or q.name in queue_names)
    of_broker: Mapping[str, tuple[Verdict, ...]] = view.server.broker.verdicts if view.server.broker else {}
    broker = tuple(name for name in of_broker if not queue_names or name in queue_names)
    known = [*(queue.name for queue in view.queues), *of_broker]
    problems = [
        Problem(name, CheckState.UNKNOWN, TargetCheckText.NO_SUCH_QUEUE.render(hint=suggest_nearest(name, known)))
        for name in queue_names
        if name not in known
    ]
    problems += [
        Problem(
            name,
            CheckState.UNKNOWN,
            TargetCheckText.NO_SUCH_QUEUE_OF_ALERT.render(alert=rule.name, hint=suggest_nearest(name, known)),
        )
        for rule in rules
        for name in rule.unmatched_queue_patterns([*known, *queue_names])
        if view.target in rule.targets or not any(rule.applies_to_target(each) for each in {*targets} - {view.target})
    ]
    if not queues and not broker and not queue_names:
        problems.append(Problem("", CheckState.UNKNOWN, _NO_QUEUE_KNOWN))
    for queue in queues:
        about = [rule for rule in rules if rule.applies_to_queue(queue.name)]
        if queue.verdict.code == CANNOT_SEE:  # a rule about a figure does not hide this verdict
            about = [rule for rule in about if CANNOT_SEE in rule.verdicts]
        found = [_problem_by_rule(rule, queue.name, partial(evaluate_rule, rule, queue), queue) for rule in about]
        found = found if about else [_problem_by_verdict(queue.name, own_verdicts(queue))]
        problems += [problem for problem in found if problem is not None]
    for name in broker:
        problems += _problems_of(name, of_broker[name], [rule for rule in rules if rule.applies_to_queue(name)])
    with_rule = [queue for queue in queues if any(rule.applies_to_queue(queue.name) for rule in rules)]
    about = [rule for rule in rules if any(rule.applies_to_queue(queue.name) for queue in queues)]
    problems += _problems_of("", view.server.verdicts, about if len(with_rule) == len(queues) else [])
    problems += [
        Problem(f.queue, CheckState.UNKNOWN if _is_refused(f) else CheckState.CRITICAL, f"{CANNOT_SEE}: {f.text}")
        for f in view.failures
        if f.gone
        and (f.queue in queue_names if f.queue and queue_names else not _is_refused(f) or not (queue_names or rules))
    ]
    problems.sort(key=lambda problem: -problem.state.rank)
    state = problems[0].state if problems else CheckState.OK
    return CheckResult(view.target, state, tuple(problems), queues, rules, view, broker)


def _is_refused(failure: ProbeFailure) -> bool:
    """Return whether our role may not read the registry.

    Queues may then be missing. The queues that were read are not affected.
    """
    return failure.gone and not failure.queue and bool(failure.grant)


def unknown_as_warning(outcome: CheckResult) -> CheckResult:
    """Return the result with every unknown queue reported as a warning."""
    problems = tuple(
        replace(each, state=CheckState.WARNING) if each.state is CheckState.UNKNOWN and each.queue else each
        for each in outcome.problems
    )
    ranked = tuple(sorted(problems, key=lambda problem: -problem.state.rank))
    return replace(outcome, state=ranked[0].state if ranked else CheckState.OK, problems=ranked)


def unreadable_result(target: str, reason: str) -> CheckResult:
    """Return the result for a target of which nothing could be read."""
    return CheckResult(target, CheckState.UNKNOWN, (Problem("", CheckState.UNKNOWN, reason),))


def _problem_by_verdict(name: str, verdicts: Sequence[Verdict]) -> Problem | None:
    for verdict in verdicts:
        state = CheckState.UNKNOWN if verdict.code == CANNOT_TELL else _BY_SEVERITY.get(verdict.severity, CheckState.OK)
        if state is not CheckState.OK:
            return Problem(name, state, f"{verdict.code}: {verdict.proof}")
    return None


def _problems_of(name: str, verdicts: Sequence[Verdict], about: Sequence[AlertRule]) -> list[Problem]:
    """Return the problems that the verdicts show by these rules, or without rules, by their severity."""
    found = [
        _problem_by_rule(rule, name, partial(evaluate_verdicts, rule, verdicts)) for rule in about if rule.verdicts
    ]
    found = found if about else [_problem_by_verdict(name, verdicts)]
    return [problem for problem in found if problem is not None]


def _problem_by_rule(
    rule: AlertRule, name: str, result_at: Callable[[Severity], RuleResult], queue: QueueView | None = None
) -> Problem | None:
    """Return the worst level at which the rule is met, else a level at which the result is unknown."""
    unknown: Problem | None = None
    for level in reversed(rule.levels):
        found = result_at(level)
        if found.met:
            return Problem(name, _BY_SEVERITY[level], found.text, rule.name, found.value)
        if found.met is None and (queue is None or _is_expected_reading(rule, queue, found.value)):
            unknown = Problem(name, CheckState.UNKNOWN, found.text, rule.name, found.value)
    return unknown


def _is_expected_reading(rule: AlertRule, queue: QueueView, value: float | None) -> bool:
    """Return whether a missing reading is worth reporting.

    A rule for many queues may name a figure that some of these queues do not have.
    """
    if value is not None or rule.verdicts or rule.names_queue(queue.name):
        return True
    return queue.layout.has_figure(LIMIT_FIGURES[rule.figure].field) or queue.verdict.code in HIDING_CODES
