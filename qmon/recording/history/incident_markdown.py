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

# The figures of a queue in the note, with their names. Figures of the second list are left out if they are always 0.
_FIGURES: Final = (("ready", "ready"), ("oldest_s", "oldest"), ("push_rate", "push/s"), ("pop_rate", "pop/s"))
_RARE_FIGURES: Final = (("in_progress", "in progress"), ("stuck", "stuck"), ("dead", "dead"), ("blocked", "blocked"))
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|#~$])")
_SEVERITIES: Final = {Severity.CRITICAL: "critical", Severity.WARNING: "warning"}
_QUESTIONS: Final = {
    Question.STILL_HOLDS: "{queue}: {about} still held at {at}. What is its cause, and who works on it?",
    Question.NO_ACTION: "{queue}: {about} ended at {at} without an action in qmon. What ended it?",
    Question.NOT_DONE: "{queue}: {about} did not finish. Must it be repeated or undone?",
    Question.NO_DATA: "The connection was lost at {at}: {about}. What happened until it was back?",
    Question.DAMAGED: "A part of the recording cannot be read ({about}). What is missing?",
}


def note_markdown(note: IncidentNote) -> str:
    """Return the note as a Markdown document. Text from the database is escaped."""
    return "\n".join(_lines(note)) + "\n"


def _lines(note: IncidentNote) -> Iterator[str]:
    yield f"# Incident on {escape(note.target)}"
    yield ""
    length = formatting.duration(note.until_at - note.since_at)
    yield f"- Time: {local_time(note.since_at, note.zone)} to {local_time(note.until_at, note.zone)} ({length})"
    named = ", ".join(escape(story.queue) for story in note.queues) or "none"
    yield f"- Affected queues: {named}" + (f", and {note.left_out:,} more" if note.left_out else "")
    yield "- Written by qmon"
    yield ""
    yield "## What was wrong"
    yield ""
    if not any(story.incidents for story in note.queues):
        yield "qmon raised no warning in this time."
        yield ""
    for story in note.queues:
        yield from _story_lines(story, note)
    yield "## What was done"
    yield ""
    yield from _operation_lines(note)
    yield "## Events"
    yield ""
    if note.events:
        yield "| time | queue | event | details |"
        yield "|---|---|---|---|"
    else:
        yield "No events are known in this time."
    for event in note.events:
        names = ", ".join(map(escape, filter(None, (event.queue, *event.others))))
        what = escape(f"{event.about} {event.what}".strip())
        yield f"| {_clock(event.at, note)} | {names} | {what} | {escape(event.words)} |"
    yield ""
    yield "## Open questions"
    yield ""
    for question in note.questions:
        yield f"- [ ] {_question_text(question, note)}"
    yield "- [ ] Root cause:"
    yield "- [ ] Follow-up:"


def _story_lines(story: QueueStory, note: IncidentNote) -> Iterator[str]:
    yield f"### {escape(story.queue)}"
    yield ""
    for each in story.incidents:
        length = formatting.duration(max(0.0, each.last_at - each.began_at))
        severity = _SEVERITIES.get(each.severity, each.severity.name.lower())
        yield (
            f"- **{escape(each.cause.replace('_', ' '))}** ({severity}), {_clock(each.began_at, note)} to"
            f" {_clock(each.last_at, note)}, {length}. Proof: {escape(each.proof)}"
        )
    yield ""
    rows = [row for name, title in _FIGURES if (row := _figure_row(story, name, title))]
    rows += [row for name, title in _RARE_FIGURES if (row := _figure_row(story, name, title, rare=True))]
    if rows:
        yield "| figure | first | least | most | last | over time |"
        yield "|---|---:|---:|---:|---:|---|"
        yield from rows
    else:
        yield "No figures are known in this time."
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
        yield "No action is known in this time."
        yield ""
        return
    yield "| time | action | queue | by | result | reason |"
    yield "|---|---|---|---|---|---|"
    for each in note.operations:
        operation = each.operation
        result = f"{operation.state}, {operation.done:,} of {operation.planned:,}"
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
