"""Gathers the facts of an incident for a handover: verdicts with proofs, operations, events and open questions.

The facts come from memory, from recordings, or from both. ``incident_markdown`` writes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qmon.model.figure import Severity
from qmon.model.operation_records import Operation, OperationState
from qmon.monitor.source import Phase
from qmon.recording.format.frames import Damaged
from qmon.recording.format.records import VerdictsLine
from qmon.recording.history.collected_range import SeenOperation
from qmon.recording.history.incidents import Incident
from qmon.recording.history.range_query import PastRange, RangeReader
from qmon.recording.history.recording_archive import RecordingArchive
from qmon.recording.history.timeline import EventKind, TimelineEvent, join_related_events
from qmon.recording.history.timeline_query import recorded_events
from qmon.recording.read.segment_reader import frames_between, parse_lines_of_kinds

# Number of steps of a note's sparklines.
STEPS: Final = 60
# Maximum number of queues that a note describes. The worst queues are described.
MOST_QUEUES: Final = 20
# Maximum number of events in a note.
MOST_EVENTS: Final = 200
# Without a given range, a note begins and ends this many seconds before and after the incident.
MARGIN_S: Final = 300.0
# Incidents that are at most this far apart belong to one note.
_JOIN_WITHIN_S: Final = 600.0
# Without a given range, incidents are searched this far back, and this far ahead in a replay.
_SEARCH_BACK_S: Final = 6 * 3600.0
_SEARCH_AHEAD_S: Final = 3600.0
# The range of a note without any incident.
_QUIET_S: Final = 3600.0
_LINE_KINDS: Final = frozenset({"verdict", "operation"})


class Question(StrEnum):
    """The kind of an open question."""

    STILL_HOLDS = "still holds"
    NO_ACTION = "no action"
    NOT_DONE = "not done"
    NO_DATA = "no data"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that the data cannot answer.

    ``queue`` and ``about``: the queue and the verdict, action or problem that the question is about. ``at``: the time
    of the last evidence, seconds since the epoch.
    """

    kind: Question
    queue: str
    about: str
    at: float


@dataclass(frozen=True, slots=True)
class QueueStory:
    """What happened to one queue. ``past``: its figures over the whole range. ``incidents``: in chronological order."""

    past: PastRange
    incidents: tuple[Incident, ...]

    @property
    def queue(self) -> str:
        """The name of the queue."""
        return self.past.queue


@dataclass(frozen=True, slots=True)
class IncidentNote:
    """The facts of an incident. All times are seconds since the epoch.

    Attributes:
        queues: the affected queues, the worst first.
        left_out: number of affected queues beyond ``MOST_QUEUES``.
        operations: operations in the range, in chronological order.
        events: events in the range, in chronological order.
        zone: IANA time zone in which times are written.
    """

    target: str
    since_at: float
    until_at: float
    queues: tuple[QueueStory, ...]
    operations: tuple[SeenOperation, ...]
    events: tuple[TimelineEvent, ...]
    questions: tuple[OpenQuestion, ...]
    zone: str
    left_out: int = 0


def gather_note(
    target: str,
    ranges: RangeReader,
    since_at: float | None = None,
    until_at: float | None = None,
    *,
    near_at: float | None = None,
    queue: str | None = None,
    redact: Callable[[str], str] = lambda text: text,
) -> IncidentNote:
    """Gather the facts between two times. Reads the disk if there are recordings.

    Args:
        since_at, until_at: the range. Without both, the range of the incident at or before ``near_at`` is used.
        near_at: the moment on screen; by default, the end of the data.
        queue: only this queue.
        redact: replaces secrets in proofs, reasons and events.
    """
    ends_at = min(ranges.ends_at, until_at or ranges.ends_at)
    moment = ends_at if near_at is None else near_at
    if since_at is None:
        since_at, found_until_at = _incident_range(ranges, moment if until_at is None else until_at, queue)
        until_at = found_until_at if until_at is None else until_at
    until_at = max(since_at + 1.0, min(until_at or ranges.ends_at, ranges.ends_at))
    stories = sorted(
        _stories(ranges, _troubled_queues(ranges, since_at, until_at, queue), since_at, until_at), key=_worst_first
    )
    events = _events_between(ranges, since_at, until_at, queue)
    operations = {
        each.operation.id: each
        for story in stories
        for each in story.past.operations
        if since_at <= each.at <= until_at
    }
    told = [story for story in stories if story.incidents or queue is not None]
    done = sorted(operations.values(), key=lambda each: each.at)
    return IncidentNote(
        target,
        since_at,
        until_at,
        tuple(_redacted_story(story, redact) for story in told[:MOST_QUEUES]),
        tuple(replace(e, operation=replace(e.operation, reason=redact(e.operation.reason))) for e in done),
        tuple(replace(event, text=redact(event.text)) for event in events[-MOST_EVENTS:]),
        tuple(_questions(stories, events, done, until_at)),
        ranges.zone,
        max(0, len(told) - MOST_QUEUES),
    )


def _redacted_story(story: QueueStory, redact: Callable[[str], str]) -> QueueStory:
    return replace(story, incidents=tuple(replace(each, proof=redact(each.proof)) for each in story.incidents))


def _worst_first(story: QueueStory) -> tuple[int, float, str]:
    worst = max((each.severity for each in story.incidents), default=Severity.FINE)
    return -worst, min((each.began_at for each in story.incidents), default=0.0), story.queue


def _stories(ranges: RangeReader, queues: Iterable[str], since_at: float, until_at: float) -> Iterator[QueueStory]:
    step_s = (until_at - since_at) / STEPS
    for queue in queues:
        for past in deque(ranges.read_range(queue, since_at, step_s, STEPS), maxlen=1):  # the last one is complete
            found = (each for each in past.incidents if each.last_at >= since_at and each.began_at <= until_at)
            yield QueueStory(past, tuple(found))


def _troubled_queues(ranges: RangeReader, since_at: float, until_at: float, only: str | None = None) -> tuple[str, ...]:
    """Return the queues that had a warning or worse, or an operation, between two times."""
    if only is not None:
        return (only,)
    found: dict[str, None] = {}
    if ranges.archive is not None:
        found |= dict.fromkeys(_recorded_troubles(ranges.archive, since_at, until_at))
    if ranges.memory is not None:
        found |= dict.fromkeys(ranges.memory.queues)
    return tuple(found)


def _recorded_troubles(archive: RecordingArchive, since_at: float, until_at: float) -> Iterator[str]:
    """Yield the queues with a verdict of severity warning or higher, or with an operation.

    Each segment begins with all current verdicts.
    """
    for path in archive.segments_between(since_at, until_at):
        holding: dict[str, bool] = {}
        try:
            for _, text in frames_between(path, float("-inf"), until_at):
                for line in parse_lines_of_kinds(text, _LINE_KINDS):
                    if line.at > until_at:
                        break
                    if line.kind == "operation":
                        operation: Operation = line.decode_record()
                        if operation.queue and line.at >= since_at:
                            yield operation.queue
                        continue
                    said: VerdictsLine = line.decode_record()
                    troubled = any(each.severity >= Severity.WARNING for each in said.holds)
                    if (troubled and line.at >= since_at) or (holding.get(said.queue) and line.at >= since_at):
                        yield said.queue
                    holding[said.queue] = troubled
        except (Damaged, OSError):
            pass
        yield from (queue for queue, troubled in holding.items() if troubled)


def _incident_range(ranges: RangeReader, near_at: float, queue: str | None) -> tuple[float, float]:
    """Return the range of the newest incident that began before ``near_at``, with a margin on both sides.

    Incidents that are close together, of any queue, are one incident. Without incidents, return the last hour.
    """
    begin_at, end_at = max(ranges.begins_at, near_at - _SEARCH_BACK_S), min(ranges.ends_at, near_at + _SEARCH_AHEAD_S)
    if end_at <= begin_at:
        return max(ranges.begins_at, near_at - _QUIET_S), near_at
    queues = _troubled_queues(ranges, begin_at, end_at, queue)
    found = sorted(
        (each for story in _stories(ranges, queues, begin_at, end_at) for each in story.incidents),
        key=lambda each: each.began_at,
    )
    joined: list[tuple[float, float]] = []
    for each in found:
        if joined and each.began_at - joined[-1][1] <= _JOIN_WITHIN_S:
            joined[-1] = joined[-1][0], max(joined[-1][1], each.last_at)
        else:
            joined.append((each.began_at, each.last_at))
    before = [(since, until) for since, until in joined if since <= near_at]
    if not before:
        return max(ranges.begins_at, near_at - _QUIET_S), near_at
    since_at, until_at = before[-1]
    return max(ranges.begins_at, since_at - MARGIN_S), min(ranges.ends_at, until_at + MARGIN_S)


def _events_between(
    ranges: RangeReader, since_at: float, until_at: float, queue: str | None
) -> tuple[TimelineEvent, ...]:
    """Return the events in chronological order, with related events joined."""
    known = list(ranges.memory.events()) if ranges.memory is not None else []
    if ranges.archive is not None:
        before_at = until_at if ranges.memory is None else min(until_at, ranges.memory.oldest_event_at)
        for events in recorded_events(ranges.archive, before_at):
            known += events
            if events and min(event.at for event in events) < since_at:
                break
    found = [
        event for event in known if since_at <= event.at <= until_at and (queue is None or event.queue in ("", queue))
    ]
    found.sort(key=lambda event: -event.at)
    return join_related_events(found)[::-1]


_UNFINISHED: Final[Collection[OperationState]] = (
    OperationState.FAILED,
    OperationState.INTERRUPTED,
    OperationState.UNKNOWN,
    OperationState.RUNNING,
)


def _questions(
    stories: Sequence[QueueStory], events: Sequence[TimelineEvent], done: Sequence[SeenOperation], until_at: float
) -> Iterator[OpenQuestion]:
    acted = {each.operation.queue for each in done}
    for story in stories:
        for each in story.incidents:
            if until_at - each.last_at < MARGIN_S / 2:
                yield OpenQuestion(Question.STILL_HOLDS, story.queue, each.cause, each.last_at)
            elif story.queue not in acted:
                yield OpenQuestion(Question.NO_ACTION, story.queue, each.cause, each.last_at)
    for operation in done:
        if operation.operation.state in _UNFINISHED:
            what = f"{operation.operation.kind} {operation.operation.id}"
            yield OpenQuestion(Question.NOT_DONE, operation.operation.queue, what, operation.at)
    for event in events:
        if event.kind is EventKind.CONNECTION and event.change == Phase.LOST:
            yield OpenQuestion(Question.NO_DATA, "", event.text, event.at)
    for problem in dict.fromkeys(story.past.problem for story in stories if story.past.problem):
        yield OpenQuestion(Question.DAMAGED, "", problem, until_at)
