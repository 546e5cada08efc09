"""Alerts: alert rules applied over time. Each rule has a latch per queue and severity. A closed latch is an alert.

A rule about verdicts has one latch per verdict, and ``hold_s`` applies to each latch. A queue that changes from one
problem to the next raises an alert only after one of the problems has lasted for ``hold_s``. The alert is over when its
verdict is over, even if the queue still has other problems.

A latch closes when every known reading of the last ``hold_s`` seconds met the rule. The latch opens when no known
reading of the last ``clear_s`` seconds met the rule. An unknown reading does not change the latch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from qmon.model.alerts.alert_rules import (
    AlertRule,
    Cause,
    RuleResult,
    evaluate_code,
    evaluate_rule,
    own_verdicts,
    rules_for_target,
    verdict_meets_rule,
)
from qmon.model.figure import Severity
from qmon.model.verdicts.access_verdicts import unreachable_verdict
from qmon.model.view import View

_PATIENCE_POLLS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Latch:
    """The state of one alert rule for one queue and severity. Times are our monotonic clock, in seconds.

    Attributes:
        closed: true if the alert is raised.
        closed_at: when the latch closed.
        turning_at: time of the first reading that contradicts ``closed``; ``None`` if no reading contradicts it.
        known_at: time of the last known reading.
        cause: the current cause of the verdict or, for a rule about a figure, the cause at the time when the latch
            closed.
        broker: true if the latch is about Service Broker.
    """

    closed: bool = False
    closed_at: float = 0.0
    turning_at: float | None = None
    known_at: float = 0.0
    text: str = ""
    value: float | None = None
    cause: Cause | None = None
    broker: bool = False

    def apply_reading(self, result: RuleResult, now: float, hold_s: float, clear_s: float, patience_s: float) -> Latch:
        """Return the latch after one more reading.

        If two readings are further apart than ``patience_s`` (or the hold time), the hold time starts again.
        """
        if result.met is None:
            return self
        words, value, cause = self.text, self.value, self.cause
        if result.met:
            stays = self.closed and result.value is not None
            words, value, cause = result.text, result.value, self.cause if stays else result.cause
        closed, closed_at, turning_at = self.closed, self.closed_at, None
        if result.met is not closed:
            wanted = clear_s if closed else hold_s
            apart = now - self.known_at > max(wanted, patience_s)
            turning_at = now if self.turning_at is None or apart else self.turning_at
            if now - turning_at >= wanted:
                closed, closed_at, turning_at = result.met, now if result.met else 0.0, None
        return Latch(closed, closed_at, turning_at, now, words, value, cause, self.broker)


# Rule, queue (empty for the target itself), severity, and the code of the verdict (empty for a figure).
LatchKey = tuple[str, str, Severity, str]
Memory = Mapping[LatchKey, Latch]


@dataclass(frozen=True, slots=True)
class Alert:
    """A raised alert: a rule and the queue that meets it.

    Attributes:
        queue: empty for the target itself.
        since_at: our monotonic clock, seconds.
        text: text of the last reading that met the rule; ``value`` is its figure.
        cause: the cause of the problem, if the cause may also affect other queues.
        code: code of the verdict; empty if the alert is about a figure.
    """

    rule: str
    queue: str
    severity: Severity
    since_at: float
    text: str
    value: float | None = None
    cause: Cause | None = None
    code: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The key that identifies this alert in the next poll."""
        return self.rule, self.queue, self.code


class AlertEvent(StrEnum):
    """The kinds of change to an alert."""

    RAISED = "raised"
    WORSE = "worse"
    BETTER = "better"
    # More queues now share the cause of an alert.
    MORE = "more"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Change:
    """An alert that changed. ``alert`` is its current state, or its last state before it was cleared."""

    turn: AlertEvent
    alert: Alert


def record_view(rules: Sequence[AlertRule], view: View, memory: Memory) -> dict[LatchKey, Latch]:
    """Return the memory after one more view. If a queue is gone, its latches are removed.

    If Service Broker was not read, the latches of its queues are kept.
    """
    now, patience, broker = view.taken_at, _PATIENCE_POLLS * view.interval_s, view.server.broker
    after = {key: latch for key, latch in memory.items() if latch.broker and broker is None}
    rules = rules_for_target(rules, view.target)
    for rule in (rule for rule in rules if rule.figure):
        for queue in (queue for queue in view.queues if rule.applies_to_queue(queue.name)):
            for level in rule.levels:
                before = memory.get((rule.name, queue.name, level, ""), Latch(known_at=now))
                found = evaluate_rule(rule, queue, level, was_met=before.closed)
                latch = before.apply_reading(found, now, rule.hold_s, rule.clear_s, patience)
                after[rule.name, queue.name, level, ""] = latch
    verdicts = {queue.name: (own_verdicts(queue), False) for queue in view.queues}
    verdicts |= {name: (found, True) for name, found in (broker.verdicts if broker is not None else {}).items()}
    undecided = {queue.name: queue.undecided for queue in view.queues}
    # The target itself. It has no verdict that it is unreachable, because there is a view.
    verdicts[""], undecided[""] = (view.server.verdicts, False), view.server.undecided
    by_name = {rule.name: rule for rule in rules if rule.verdicts}
    wanted = {key for key in memory if key[0] in by_name and key[1] in verdicts}
    for rule in by_name.values():
        for name, (holding, _) in verdicts.items():
            if rule.applies_to_queue(name) if name else rule.applies_to_target_verdicts(view):
                wanted |= {
                    (rule.name, name, level, each.code)
                    for level in rule.levels
                    for each in holding
                    if verdict_meets_rule(rule, each.code, each.severity, level)
                }
    for key in wanted:
        rule, (holding, of_broker) = by_name[key[0]], verdicts[key[1]]
        before = memory.get(key, Latch(known_at=now, broker=of_broker))
        found = evaluate_code(rule, holding, key[3], key[2], undecided.get(key[1], ()))
        latch = before.apply_reading(found, now, rule.hold_s, rule.clear_s, patience)
        if latch.closed or latch.turning_at is not None:
            after[key] = latch
    return after


def record_loss(
    rules: Sequence[AlertRule], target: str, reason: str, now: float, memory: Memory
) -> dict[LatchKey, Latch]:
    """Return the memory after the target could not be reached. All readings of the target's queues are unknown."""
    after = dict(memory)
    verdict = unreachable_verdict(reason)
    for rule in rules_for_target(rules, target):
        for level in rule.levels if rule.verdicts else ():
            key = (rule.name, "", level, verdict.code)
            found = evaluate_code(rule, (verdict,), verdict.code, level)
            if found.met:
                after[key] = memory.get(key, Latch(known_at=now)).apply_reading(
                    found, now, rule.hold_s, rule.clear_s, math.inf
                )
    return after


def raised_alerts(memory: Memory) -> tuple[Alert, ...]:
    """Return the raised alerts, worst first. Alerts of equal severity are sorted by age, oldest first."""
    found: dict[tuple[str, str, str], Alert] = {}
    for (rule, queue, level, code), latch in sorted(memory.items(), key=lambda item: item[0][2]):
        if latch.closed:
            lesser = found.get((rule, queue, code))
            since = latch.closed_at if lesser is None else min(lesser.since_at, latch.closed_at)
            cause = latch.cause if lesser is None else lesser.cause
            found[rule, queue, code] = Alert(rule, queue, level, since, latch.text, latch.value, cause, code)
    return tuple(sorted(found.values(), key=lambda alert: (-alert.severity, alert.since_at, *alert.key)))


def find_changes(before: Iterable[Alert], after: Iterable[Alert]) -> tuple[Change, ...]:
    """Return the alerts that were raised, became worse or better, or were cleared between two polls.

    A change of the text alone is not reported.
    """
    was, now = {a.key: a for a in before}, {a.key: a for a in after}
    out = [Change(AlertEvent.CLEARED, alert) for key, alert in was.items() if key not in now]
    for key, alert in now.items():
        old = was.get(key)
        if old is None:
            out.append(Change(AlertEvent.RAISED, alert))
        elif old.severity != alert.severity:
            out.append(Change(AlertEvent.WORSE if alert.severity > old.severity else AlertEvent.BETTER, alert))
    return tuple(out)
