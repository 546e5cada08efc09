"""An incident note contains the time range, verdicts with proofs, actions with their users, and open questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.commands.report import IncidentText
from qmon.model.figure import Severity
from qmon.recording.history.incident_markdown import IncidentNoteText, escape, note_markdown
from qmon.recording.history.incident_note import MARGIN_S, IncidentNote, Question, gather_note
from qmon.recording.history.range_query import RangeReader
from qmon.recording.history.recording_archive import archive_from_reader
from qmon.recording.history.timeline import EventKind
from qmon.recording.read.recording_reader import open_recording
from tests.cli.calling import call
from tests.recording.days import BEGIN, DONE_AT, STUCK, written
from tests.wordings import has

HOUR_S = 3_600.0


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve hours of two queues with three incidents."""
    folder = tmp_path_factory.mktemp("day")
    written(folder, 12.0)
    return folder


def noted(day: Path, since_h: float | None = None, until_h: float | None = None, **given: object) -> IncidentNote:
    """Return the note of a range in hours since the beginning."""
    reader = open_recording(day)
    since_at, until_at = (None if hours is None else BEGIN + hours * HOUR_S for hours in (since_h, until_h))
    ranges = RangeReader(archive_from_reader(reader))
    return gather_note("shop", ranges, since_at, until_at, **given)  # type: ignore[arg-type]  # the caller knows


def test_a_note_has_the_incident_its_proof_the_action_and_the_events(day: Path) -> None:
    note = noted(day, 6.5, 8.0)
    assert (note.since_at, note.until_at) == (BEGIN + 6.5 * HOUR_S, BEGIN + 8.0 * HOUR_S)
    (story,) = note.queues
    (incident,) = story.incidents
    assert (story.queue, incident.cause, incident.severity) == ("mails", STUCK.code, Severity.CRITICAL)
    assert incident.proof == STUCK.proof
    (done,) = note.operations
    assert (done.operation.kind, done.operation.by) == ("requeue", "anna@ops-1")
    assert done.at == pytest.approx(BEGIN + DONE_AT * HOUR_S, abs=60)
    assert [(event.kind, event.change) for event in note.events] == [
        (EventKind.VERDICT, "began"),
        (EventKind.OPERATION, "done"),
        (EventKind.VERDICT, "ended"),
    ]
    assert note.questions == ()


def test_without_a_range_the_note_is_about_the_incident_at_the_moment_on_screen(day: Path) -> None:
    note = noted(day, near_at=BEGIN + 8.0 * HOUR_S)
    assert [story.queue for story in note.queues] == ["mails"]
    began_at = note.queues[0].incidents[0].began_at
    assert note.since_at == began_at - MARGIN_S
    later = noted(day, near_at=BEGIN + 10.0 * HOUR_S)
    assert [story.queue for story in later.queues] == ["orders"]


def test_what_ended_without_an_action_or_still_holds_is_an_open_question(day: Path) -> None:
    ended = noted(day, 8.5, 10.0)
    assert [(each.kind, each.queue) for each in ended.questions] == [(Question.NO_ACTION, "orders")]
    holding = noted(day, 6.5, 7.3)
    assert [(each.kind, each.queue) for each in holding.questions] == [(Question.STILL_HOLDS, "mails")]


def test_a_quiet_time_has_no_queue(day: Path) -> None:
    note = noted(day, 5.5, 6.5)
    assert (note.queues, note.operations, note.questions) == ((), (), ())
    assert IncidentNoteText.NO_WARNING in note_markdown(note)


def test_one_queue_is_described_even_if_nothing_was_wrong(day: Path) -> None:
    note = noted(day, 6.5, 8.0, queue="orders")
    assert [(story.queue, story.incidents) for story in note.queues] == [("orders", ())]


def test_secrets_are_replaced_in_proofs_reasons_and_events(day: Path) -> None:
    text = note_markdown(noted(day, 6.5, 8.0, redact=lambda text: text.replace("worker died", "***")))
    assert "worker died" not in text
    assert r"\*\*\*" in text


def test_text_from_the_database_is_escaped() -> None:
    assert escape("a|b\n[x](y) <b> `c` \x1b[31m") == r"a\|b \[x\](y) \<b\> \`c\` " + "\ufffd" + r"\[31m"


def test_the_markdown_has_tables_sparklines_and_boxes_for_questions(day: Path) -> None:
    text = note_markdown(noted(day, 8.5, 10.0))
    assert "| ready |" in text
    assert "`▅" in text or "`█" in text
    assert "- [ ] orders:" in text


def test_the_command_prints_or_writes_the_note(day: Path, tmp_path: Path) -> None:
    printed = call("report", "incident", str(day), "--from", "2026-11-17 13:30", "--to", "2026-11-17 15:00")
    assert printed.exit_code == 0, printed.stderr
    assert "anna@ops-1" in printed.stdout
    file = tmp_path / "note.md"
    done = call("report", "incident", str(day), "--queue", "mails", "--file", str(file))
    assert done.exit_code == 0, done.stderr
    assert file.read_text("utf-8").startswith(IncidentNoteText.TITLE.render(target="orders-prod"))
    again = call("report", "incident", str(day), "--file", str(file))
    assert (again.exit_code, str(file) in again.stderr) == (2, True)
    wrong = call("report", "incident", str(day), "--from", "14:00", "--to", "13:00")
    assert wrong.exit_code == 2 and has(wrong.stderr, IncidentText.EMPTY_RANGE)
