"""What happened, of all queues: verdicts that began and ended, operations, connections, alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from qmon.model import text
from qmon.model.alerts.alerts import AlertEvent, Change
from qmon.model.figure import Severity, Verdict
from qmon.model.operations import Operation, OperationState
from qmon.model.verdicts.judge import is_brief
from qmon.monitor.source import Phase


class EventKind(StrEnum):
    """What an event is about."""

    VERDICT = "verdict"
    OPERATION = "operation"
    CONNECTION = "connection"
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something that happened at ``at``, seconds since the epoch. ``queue`` is empty where it is about the target.

    ``what``: what became of it (``began``, ``over``, ``lost``, ``raised``); ``about``: which verdict, action or rule;
    ``severity``: how much it needs a hand from then on. ``cause``: who or what is behind a verdict, where other queues
    may have the same; ``others``: those of them that ``joined`` has found.
    """

    at: float
    kind: EventKind
    what: str
    queue: str = ""
    about: str = ""
    words: str = ""
    severity: Severity = Severity.FINE
    cause: str = ""
    others: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.at!r} {self.kind} {self.queue} {self.about} {self.what}"


@dataclass(slots=True)
class _Holding:
    verdict: Verdict
    since_at: float


@dataclass(slots=True)
class VerdictChanges:
    """The verdicts that hold for each queue, and what becomes of them. For one thread."""

    _holding: dict[str, dict[str, _Holding]] = field(default_factory=dict)

    def add(
        self, at: float, queue: str, verdicts: Sequence[Verdict], undecided: Iterable[str] = ()
    ) -> list[TimelineEvent]:
        """The verdicts that hold for a queue from ``at`` on; ``undecided``: codes that are not known to be over."""
        before = self._holding.get(queue)
        if not before and not any(each.severity > Severity.FINE for each in verdicts):
            return []
        now = {each.code: each for each in verdicts if each.severity > Severity.FINE and not is_brief(each, at)}
        before = before or {}
        out = []
        for code in before.keys() - now.keys() - set(undecided):
            out.append(_over(at, queue, before.pop(code)))
        for code, verdict in now.items():
            known = before.get(code)
            if known is None:
                before[code] = _Holding(verdict, at if verdict.since_at is None else verdict.since_at)
                out.append(_verdict(at, queue, verdict, "began"))
            elif known.verdict.severity != verdict.severity:
                what = "worse" if verdict.severity > known.verdict.severity else "better"
                known.verdict = verdict
                out.append(_verdict(at, queue, verdict, what))
        self._holding[queue] = before
        return out

    def known(self, at: float, queue: str, verdicts: Sequence[Verdict]) -> None:
        """These held before ``at`` already."""
        self._holding[queue] = {
            each.code: _Holding(each, at if each.since_at is None else each.since_at)
            for each in verdicts
            if each.severity > Severity.FINE
        }

    def gone(self, at: float, queues: Sequence[str]) -> list[TimelineEvent]:
        """Queues that are not watched any more."""
        found = [event for queue in queues for event in self.add(at, queue, ())]
        for queue in queues:
            self._holding.pop(queue, None)
        return found

    @property
    def queues(self) -> tuple[str, ...]:
        """Those that a verdict was heard of."""
        return tuple(self._holding)


def _verdict(at: float, queue: str, verdict: Verdict, what: str) -> TimelineEvent:
    return TimelineEvent(
        at, EventKind.VERDICT, what, queue, _named(verdict.code), verdict.proof, verdict.severity, verdict.cause
    )


def _over(at: float, queue: str, held: _Holding) -> TimelineEvent:
    words = f"after {text.duration(at - held.since_at)}: {held.verdict.proof}"
    return TimelineEvent(
        at, EventKind.VERDICT, "ended", queue, _named(held.verdict.code), words, cause=held.verdict.cause
    )


def _named(code: str) -> str:
    return code.replace("_", " ")


_TOGETHER_S: Final = 30.0
_BAD: Final = (OperationState.FAILED, OperationState.INTERRUPTED)


def operation_words(done: Operation) -> str:
    """What was done, by whom and why: ``requeue done: 40 by anna@ops-1, worker died``."""
    return f"{done.kind.replace('-', ' ')} {done.state}: {_done_by(done)}"


def _done_by(done: Operation) -> str:
    return f"{done.done:,} by {done.by}" + (f", {done.reason}" if done.reason else "")


def of_operation(at: float, done: Operation) -> TimelineEvent:
    """An operation as it was last seen."""
    severity = Severity.WARNING if done.state in _BAD else Severity.FINE
    about = done.kind.replace("-", " ")
    return TimelineEvent(at, EventKind.OPERATION, done.state, done.queue, about, _done_by(done), severity)


# Those that are events, and how much each needs a hand.
PHASES: Final[dict[str, Severity]] = {
    Phase.LIVE: Severity.FINE,
    Phase.LATE: Severity.WARNING,
    Phase.LOST: Severity.CRITICAL,
}


def of_phase(at: float, phase: str, reason: str) -> TimelineEvent:
    """A change of the connection."""
    return TimelineEvent(
        at, EventKind.CONNECTION, phase, about="connection", words=reason, severity=PHASES.get(phase, Severity.FINE)
    )


def of_alert(at: float, change: Change) -> TimelineEvent:
    """An alert that was raised, turned, or was cleared."""
    alert = change.alert
    severity = Severity.FINE if change.turn is AlertEvent.CLEARED else alert.severity
    return TimelineEvent(at, EventKind.ALERT, change.turn, alert.queue, alert.rule, alert.words, severity)


def joined(events: Sequence[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """What became of the same verdict for the same cause within half a minute is one event. The newest are first."""
    found: dict[str, TimelineEvent] = {}
    first: dict[tuple[str, str, str], TimelineEvent] = {}
    for event in reversed(events):
        same = event.about, event.what, event.cause
        before = first.get(same) if event.cause else None
        if before is None or event.at - before.at > _TOGETHER_S:
            first[same] = found[event.key] = event
        elif event.queue not in (before.queue, *before.others):
            first[same] = found[before.key] = replace(before, others=(*before.others, event.queue))
    return tuple(reversed(found.values()))


def newest_first(events: Iterable[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """By time; of those at the same moment the one that was given last comes first."""
    return tuple(reversed(sorted(events, key=lambda event: event.at)))
