"""Alerts: rules over time. Each rule keeps a latch for every queue and severity; what is latched is an alert.

A rule about verdicts keeps one for each verdict, and ``hold_s`` is of each: a queue that goes from one trouble to the
next has not had either for so long. It is over when that verdict is, whatever else is wrong by then.

A latch closes when every known reading of ``hold_s`` seconds met the rule, and opens when every known reading of
``clear_s`` seconds did not. A reading that is not known changes nothing, since neither is proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from qmon.model.alerts.rules import AlertRule, Cause, RuleResult, applying, find, meets, of_code
from qmon.model.figure import Severity
from qmon.model.verdicts.access import unreachable
from qmon.model.view import View

_PATIENCE_POLLS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Latch:
    """``turning_at``: since when readings say the opposite of ``closed``, ``None`` where they do not.

    ``closed_at``: when it closed; ``known_at``: the last reading that was known. Our monotonic clock, seconds.
    ``cause``: of a verdict as it is now, of a figure as it was when it closed. ``broker``: of Service Broker.
    """

    closed: bool = False
    closed_at: float = 0.0
    turning_at: float | None = None
    known_at: float = 0.0
    words: str = ""
    value: float | None = None
    cause: Cause | None = None
    broker: bool = False

    def then(self, found: RuleResult, now: float, hold_s: float, clear_s: float, patience_s: float) -> Latch:
        """The latch after one more reading. Readings further apart than ``patience_s`` (or the hold) do not add up."""
        if found.met is None:
            return self
        words, value, cause = self.words, self.value, self.cause
        if found.met:
            stays = self.closed and found.value is not None
            words, value, cause = found.words, found.value, self.cause if stays else found.cause
        closed, closed_at, turning_at = self.closed, self.closed_at, None
        if found.met is not closed:
            wanted = clear_s if closed else hold_s
            apart = now - self.known_at > max(wanted, patience_s)
            turning_at = now if self.turning_at is None or apart else self.turning_at
            if now - turning_at >= wanted:
                closed, closed_at, turning_at = found.met, now if found.met else 0.0, None
        return Latch(closed, closed_at, turning_at, now, words, value, cause, self.broker)


# Rule, queue (empty: the target itself), severity, and the code of the verdict, empty for a figure.
Key = tuple[str, str, Severity, str]
Memory = Mapping[Key, Latch]


@dataclass(frozen=True, slots=True)
class Alert:
    """A rule that is met now. ``queue`` is empty for the target itself; ``since_at``: our monotonic clock, seconds.

    ``words`` and ``value`` are those of the last reading that met it; ``cause``: what is behind it, perhaps not only
    behind this one; ``code``: of the verdict that it is about.
    """

    rule: str
    queue: str
    severity: Severity
    since_at: float
    words: str
    value: float | None = None
    cause: Cause | None = None
    code: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same alert in the next poll."""
        return self.rule, self.queue, self.code


class AlertEvent(StrEnum):
    """What has become of an alert."""

    RAISED = "raised"
    WORSE = "worse"
    BETTER = "better"
    # More queues have its cause.
    MORE = "more"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Change:
    """An alert that has turned; ``alert`` is as it is now, or as it was before it was cleared."""

    turn: AlertEvent
    alert: Alert


def observe(rules: Sequence[AlertRule], view: View, memory: Memory) -> dict[Key, Latch]:
    """The memory after one more view; queues that are gone are forgotten, and so are their alerts.

    Where Service Broker was not read, what is remembered of its queues stays.
    """
    now, patience, broker = view.taken_at, _PATIENCE_POLLS * view.interval_s, view.server.broker
    after = {key: latch for key, latch in memory.items() if latch.broker and broker is None}
    rules = applying(rules, view.target)
    for rule in (rule for rule in rules if rule.figure):
        for queue in (queue for queue in view.queues if rule.of_queue(queue.name)):
            for level in rule.levels:
                before = memory.get((rule.name, queue.name, level, ""), Latch(known_at=now))
                found = find(rule, queue, level, held=before.closed)
                latch = before.then(found, now, rule.hold_s, rule.clear_s, patience)
                after[rule.name, queue.name, level, ""] = latch
    verdicts = {queue.name: (queue.verdicts or (queue.verdict,), False) for queue in view.queues}
    verdicts |= {name: (found, True) for name, found in (broker.verdicts if broker is not None else {}).items()}
    undecided = {queue.name: queue.undecided for queue in view.queues}
    verdicts[""] = ((), False)  # a view proves that the target is there
    by_name = {rule.name: rule for rule in rules if rule.verdicts}
    wanted = {key for key in memory if key[0] in by_name and key[1] in verdicts}
    for rule in by_name.values():
        for name, (holding, _) in verdicts.items():
            if rule.of_queue(name):
                wanted |= {
                    (rule.name, name, level, each.code)
                    for level in rule.levels
                    for each in holding
                    if meets(rule, each.code, each.severity, level)
                }
    for key in wanted:
        rule, (holding, of_broker) = by_name[key[0]], verdicts[key[1]]
        before = memory.get(key, Latch(known_at=now, broker=of_broker))
        found = of_code(rule, holding, key[3], key[2], undecided.get(key[1], ()))
        latch = before.then(found, now, rule.hold_s, rule.clear_s, patience)
        if latch.closed or latch.turning_at is not None:
            after[key] = latch
    return after


def lost(rules: Sequence[AlertRule], target: str, reason: str, now: float, memory: Memory) -> dict[Key, Latch]:
    """The memory after a moment in which the target could not be reached; of its queues nothing is known then."""
    after = dict(memory)
    verdict = unreachable(reason)
    for rule in applying(rules, target):
        for level in rule.levels if rule.verdicts else ():
            key = (rule.name, "", level, verdict.code)
            found = of_code(rule, (verdict,), verdict.code, level)
            if found.met:
                after[key] = memory.get(key, Latch(known_at=now)).then(found, now, rule.hold_s, rule.clear_s, math.inf)
    return after


def alerts(memory: Memory) -> tuple[Alert, ...]:
    """What is latched, the worst first and of those the one that has lasted longest."""
    found: dict[tuple[str, str, str], Alert] = {}
    for (rule, queue, level, code), latch in sorted(memory.items(), key=lambda item: item[0][2]):
        if latch.closed:
            lesser = found.get((rule, queue, code))
            since = latch.closed_at if lesser is None else min(lesser.since_at, latch.closed_at)
            cause = latch.cause if lesser is None else lesser.cause
            found[rule, queue, code] = Alert(rule, queue, level, since, latch.words, latch.value, cause, code)
    return tuple(sorted(found.values(), key=lambda a: (-a.severity, a.since_at, *a.key)))


def changes(before: Iterable[Alert], after: Iterable[Alert]) -> tuple[Change, ...]:
    """What was raised, became worse or better, or was cleared between two polls; nothing where only words differ."""
    was, now = {a.key: a for a in before}, {a.key: a for a in after}
    out = [Change(AlertEvent.CLEARED, alert) for key, alert in was.items() if key not in now]
    for key, alert in now.items():
        old = was.get(key)
        if old is None:
            out.append(Change(AlertEvent.RAISED, alert))
        elif old.severity != alert.severity:
            out.append(Change(AlertEvent.WORSE if alert.severity > old.severity else AlertEvent.BETTER, alert))
    return tuple(out)
