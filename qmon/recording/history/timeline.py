"""Events of all queues: verdicts that began or ended, operations, connections, alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from qmon.model import formatting
from qmon.model.alerts.latches import AlertEvent, Change
from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import Operation, OperationState
from qmon.model.verdicts.judge import is_brief
from qmon.monitor.source import Phase


class EventKind(StrEnum):
    """The kind of an event."""

    VERDICT = "verdict"
    OPERATION = "operation"
    CONNECTION = "connection"
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event at ``at``, seconds since the epoch. ``queue`` is empty if the event concerns the whole target.

    ``change``: the change (such as ``began``, ``ended``, ``lost``, ``raised``). ``about``: the verdict, action or rule.
    ``severity``: the severity after the change. ``cause``: the cause of a verdict, which several queues may share.
    ``others``: other queues with the same cause, filled by ``join_related_events``.
    """

    at: float
    kind: EventKind
    change: str
    queue: str = ""
    about: str = ""
    text: str = ""
    severity: Severity = Severity.FINE
    cause: str = ""
    others: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A text that identifies the event."""
        return f"{self.at!r} {self.kind} {self.queue} {self.about} {self.change}"


@dataclass(slots=True)
class _HeldVerdict:
    verdict: Verdict
    since_at: float


@dataclass(slots=True)
class VerdictChanges:
    """Tracks the verdicts of each queue and reports changes as events. Not thread-safe."""

    _holding: dict[str, dict[str, _HeldVerdict]] = field(default_factory=dict)

    def record_verdicts(
        self, at: float, queue: str, verdicts: Sequence[Verdict], undecided: Iterable[str] = ()
    ) -> list[TimelineEvent]:
        """Record the verdicts of a queue from ``at`` on and return the changes.

        ``undecided``: codes of verdicts that may still hold.
        """
        before = self._holding.get(queue)
        if not before and not any(each.severity > Severity.FINE for each in verdicts):
            return []
        now = {each.code: each for each in verdicts if each.severity > Severity.FINE and not is_brief(each, at)}
        before = before or {}
        out = []
        for code in before.keys() - now.keys() - set(undecided):
            out.append(_end_event(at, queue, before.pop(code)))
        for code, verdict in now.items():
            known = before.get(code)
            if known is None:
                before[code] = _HeldVerdict(verdict, at if verdict.since_at is None else verdict.since_at)
                out.append(_verdict_event(at, queue, verdict, "began"))
            elif known.verdict.severity != verdict.severity:
                what = "worse" if verdict.severity > known.verdict.severity else "better"
                known.verdict = verdict
                out.append(_verdict_event(at, queue, verdict, what))
        self._holding[queue] = before
        return out

    def record_known_verdicts(self, at: float, queue: str, verdicts: Sequence[Verdict]) -> None:
        """Record verdicts that already held before ``at``, so that their start is not reported as an event."""
        self._holding[queue] = {
            each.code: _HeldVerdict(each, at if each.since_at is None else each.since_at)
            for each in verdicts
            if each.severity > Severity.FINE
        }

    def forget_queues(self, at: float, queues: Sequence[str]) -> list[TimelineEvent]:
        """Forget queues that are no longer watched, and return an event for the end of each of their verdicts."""
        found = [event for queue in queues for event in self.record_verdicts(at, queue, ())]
        for queue in queues:
            self._holding.pop(queue, None)
        return found

    @property
    def queues(self) -> tuple[str, ...]:
        """Names of the queues with a recorded verdict."""
        return tuple(self._holding)


def _verdict_event(at: float, queue: str, verdict: Verdict, change: str) -> TimelineEvent:
    return TimelineEvent(
        at, EventKind.VERDICT, change, queue, _code_text(verdict.code), verdict.proof, verdict.severity, verdict.cause
    )


def _end_event(at: float, queue: str, held: _HeldVerdict) -> TimelineEvent:
    words = f"after {formatting.duration(at - held.since_at)}: {held.verdict.proof}"
    return TimelineEvent(
        at, EventKind.VERDICT, "ended", queue, _code_text(held.verdict.code), words, cause=held.verdict.cause
    )


def _code_text(code: str) -> str:
    return code.replace("_", " ")


_JOIN_WITHIN_S: Final = 30.0
_FAILED_STATES: Final = (OperationState.FAILED, OperationState.INTERRUPTED)


def operation_text(operation: Operation) -> str:
    """Describe an operation, its author and reason: ``requeue done: 40 by anna@ops-1, worker died``."""
    return f"{operation.kind.replace('-', ' ')} {operation.state}: {_author_text(operation)}"


def _author_text(operation: Operation) -> str:
    return f"{operation.done:,} by {operation.by}" + (f", {operation.reason}" if operation.reason else "")


def operation_event(at: float, operation: Operation) -> TimelineEvent:
    """Return the event of an operation in its latest state."""
    severity = Severity.WARNING if operation.state in _FAILED_STATES else Severity.FINE
    about = operation.kind.replace("-", " ")
    return TimelineEvent(
        at, EventKind.OPERATION, operation.state, operation.queue, about, _author_text(operation), severity
    )


# Phases that are events, with their severity.
PHASES: Final[dict[str, Severity]] = {
    Phase.LIVE: Severity.FINE,
    Phase.LATE: Severity.WARNING,
    Phase.LOST: Severity.CRITICAL,
}


def phase_event(at: float, phase: str, reason: str) -> TimelineEvent:
    """Return the event of a connection change."""
    return TimelineEvent(
        at, EventKind.CONNECTION, phase, about="connection", text=reason, severity=PHASES.get(phase, Severity.FINE)
    )


def alert_event(at: float, change: Change) -> TimelineEvent:
    """Return the event of an alert that was raised, changed or cleared."""
    alert = change.alert
    severity = Severity.FINE if change.turn is AlertEvent.CLEARED else alert.severity
    return TimelineEvent(at, EventKind.ALERT, change.turn, alert.queue, alert.rule, alert.text, severity)


def join_related_events(events: Sequence[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """Join changes of one verdict into one event if they have the same cause and are within 30 seconds.

    Returns the events newest first.
    """
    found: dict[str, TimelineEvent] = {}
    first: dict[tuple[str, str, str], TimelineEvent] = {}
    for event in reversed(events):
        same = event.about, event.change, event.cause
        before = first.get(same) if event.cause else None
        if before is None or event.at - before.at > _JOIN_WITHIN_S:
            first[same] = found[event.key] = event
        elif event.queue not in (before.queue, *before.others):
            first[same] = found[before.key] = replace(before, others=(*before.others, event.queue))
    return tuple(reversed(found.values()))


def sort_newest_first(events: Iterable[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """Sort by time, newest first. Events at the same time are returned in reverse order of ``events``."""
    return tuple(reversed(sorted(events, key=lambda event: event.at)))
