"""Writes an incident note as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Severity
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.incident_note import IncidentNote, OpenQuestion, Question, QueueStory
from qmon.recording.times import local_time, zone_info
from qmon.texts import Text


class IncidentNoteText(Text):
    """The sentences and headings of a note."""

    TITLE = "# Incident on {target}"
    TIME = "- Time: {start} to {end} ({duration})"
    QUEUES = "- Affected queues: {queues}"
    NO_QUEUES = "none"
    MORE_QUEUES = "{queues}, and {count:,} more"
    WRITTEN_BY = "- Written by qmon"
    WHAT_WAS_WRONG = "## What was wrong"
    NO_WARNING = "qmon raised no warning in this time."
    WHAT_WAS_DONE = "## What was done"
    EVENTS = "## Events"
    EVENT_COLUMNS = "| time | queue | event | details |"
    NO_EVENTS = "No events are known in this time."
    OPEN_QUESTIONS = "## Open questions"
    QUESTION = "- [ ] {question}"
    ROOT_CAUSE = "- [ ] Root cause:"
    FOLLOW_UP = "- [ ] Follow-up:"
    INCIDENT = "- **{cause}** ({severity}), {start} to {end}, {duration}. Proof: {proof}"
    FIGURE_COLUMNS = "| figure | first | least | most | last | over time |"
    NO_FIGURES = "No figures are known in this time."
    NO_OPERATIONS = "No action is known in this time."
    OPERATION_COLUMNS = "| time | action | queue | by | result | reason |"
    RESULT = "{state}, {done:,} of {planned:,}"
    STILL_HOLDS = "{queue}: {about} still held at {at}. What is its cause, and who works on it?"
    NO_ACTION = "{queue}: {about} ended at {at} without an action in qmon. What ended it?"
    NOT_DONE = "{queue}: {about} did not finish. Must it be repeated or undone?"
    NO_DATA = "The connection was lost at {at}: {about}. What happened until it was back?"
    DAMAGED = "A part of the recording cannot be read ({about}). What is missing?"


# The figures of a queue in the note, with their names. Figures of the second list are left out if they are always 0.
_FIGURES: Final = (("ready", "ready"), ("oldest_s", "oldest"), ("push_rate", "push/s"), ("pop_rate", "pop/s"))
_RARE_FIGURES: Final = (("in_progress", "in progress"), ("stuck", "stuck"), ("dead", "dead"), ("blocked", "blocked"))
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|#~$])")
_SEVERITIES: Final = {Severity.CRITICAL: "critical", Severity.WARNING: "warning"}
_QUESTIONS: Final = {
    Question.STILL_HOLDS: IncidentNoteText.STILL_HOLDS,
    Question.NO_ACTION: IncidentNoteText.NO_ACTION,
    Question.NOT_DONE: IncidentNoteText.NOT_DONE,
    Question.NO_DATA: IncidentNoteText.NO_DATA,
    Question.DAMAGED: IncidentNoteText.DAMAGED,
}


def note_markdown(note: IncidentNote) -> str:
    """Return the note as a Markdown document. Text from the database is escaped."""
    return "\n".join(_lines(note)) + "\n"


def _lines(note: IncidentNote) -> Iterator[str]:
    yield IncidentNoteText.TITLE.render(target=escape(note.target))
    yield ""
    length = formatting.duration(note.until_at - note.since_at)
    start, end = local_time(note.since_at, note.zone), local_time(note.until_at, note.zone)
    yield IncidentNoteText.TIME.render(start=start, end=end, duration=length)
    named = ", ".join(escape(story.queue) for story in note.queues) or IncidentNoteText.NO_QUEUES.render()
    if note.left_out:
        named = IncidentNoteText.MORE_QUEUES.render(queues=named, count=note.left_out)
    yield IncidentNoteText.QUEUES.render(queues=named)
    yield IncidentNoteText.WRITTEN_BY
    yield ""
    yield IncidentNoteText.WHAT_WAS_WRONG
    yield ""
    if not any(story.incidents for story in note.queues):
        yield IncidentNoteText.NO_WARNING
        yield ""
    for story in note.queues:
        yield from _story_lines(story, note)
    yield IncidentNoteText.WHAT_WAS_DONE
    yield ""
    yield from _operation_lines(note)
    yield IncidentNoteText.EVENTS
    yield ""
    if note.events:
        yield IncidentNoteText.EVENT_COLUMNS
        yield "|---|---|---|---|"
    else:
        yield IncidentNoteText.NO_EVENTS
    for event in note.events:
        names = ", ".join(map(escape, filter(None, (event.queue, *event.others))))
        what = escape(f"{event.about} {event.change}".strip())
        yield f"| {_clock(event.at, note)} | {names} | {what} | {escape(event.text)} |"
    yield ""
    yield IncidentNoteText.OPEN_QUESTIONS
    yield ""
    for question in note.questions:
        yield IncidentNoteText.QUESTION.render(question=_question_text(question, note))
    yield IncidentNoteText.ROOT_CAUSE
    yield IncidentNoteText.FOLLOW_UP


def _story_lines(story: QueueStory, note: IncidentNote) -> Iterator[str]:
    yield f"### {escape(story.queue)}"
    yield ""
    for each in story.incidents:
        length = formatting.duration(max(0.0, each.last_at - each.began_at))
        severity = _SEVERITIES.get(each.severity, each.severity.name.lower())
        yield IncidentNoteText.INCIDENT.render(
            cause=escape(each.cause.replace("_", " ")),
            severity=severity,
            start=_clock(each.began_at, note),
            end=_clock(each.last_at, note),
            duration=length,
            proof=escape(each.proof),
        )
    yield ""
    rows = [row for name, title in _FIGURES if (row := _figure_row(story, name, title))]
    rows += [row for name, title in _RARE_FIGURES if (row := _figure_row(story, name, title, rare=True))]
    if rows:
        yield IncidentNoteText.FIGURE_COLUMNS
        yield "|---|---:|---:|---:|---:|---|"
        yield from rows
    else:
        yield IncidentNoteText.NO_FIGURES
    yield ""


def _figure_row(story: QueueStory, name: str, title: str, *, rare: bool = False) -> str:
    """Return the row of one figure; empty if the figure is unknown, or if it is rare and always 0."""
    steps: tuple[Bucket | None, ...] = story.past.steps[name]
    known = [step for step in steps if step is not None]
    if not known or (rare and not any(step.most for step in known)):
        return ""
    write = formatting.duration if name == "oldest_s" else formatting.rate if "rate" in name else formatting.count
    cells = (known[0].mean, min(each.least for each in known), max(each.most for each in known), known[-1].last)
    line = formatting.sparkline([None if step is None else step.mean for step in steps], max(cells[2], 1e-9))
    return f"| {title} | {' | '.join(write(each) for each in cells)} | `{line}` |"


def _operation_lines(note: IncidentNote) -> Iterator[str]:
    if not note.operations:
        yield IncidentNoteText.NO_OPERATIONS
        yield ""
        return
    yield IncidentNoteText.OPERATION_COLUMNS
    yield "|---|---|---|---|---|---|"
    for each in note.operations:
        operation = each.operation
        result = IncidentNoteText.RESULT.render(state=operation.state, done=operation.done, planned=operation.planned)
        cells = (operation.kind.replace("-", " "), operation.queue, operation.by, result, operation.reason)
        yield f"| {_clock(each.at, note)} | {' | '.join(map(escape, cells))} |"
    yield ""


def _question_text(question: OpenQuestion, note: IncidentNote) -> str:
    about = escape(question.about.replace("_", " "))
    return _QUESTIONS[question.kind].format(queue=escape(question.queue), about=about, at=_clock(question.at, note))


def _clock(at: float, note: IncidentNote) -> str:
    """Return the time of day, with the date if the note covers several days."""
    zone = zone_info(note.zone)
    then, first = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(note.since_at, zone)
    return then.strftime("%H:%M:%S" if then.date() == first.date() else "%Y-%m-%d %H:%M:%S")


def escape(text: str) -> str:
    """Return text on one line that Markdown shows as it is. Characters that terminals interpret become ``�``."""
    printable = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)
    return _SPECIAL.sub(r"\\\1", " ".join(printable.split()))
