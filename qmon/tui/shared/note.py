"""Gathers the facts of an incident on a separate thread, and writes them to a file that the user names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.message import Message
from textual.message_pump import MessagePump

from qmon import files
from qmon.errors import BadInput
from qmon.model import formatting
from qmon.model.operation_records import Operation
from qmon.recording.history.incident_markdown import note_markdown
from qmon.recording.history.incident_note import IncidentNote, gather_note
from qmon.recording.history.range_query import RangeReader
from qmon.recording.times import local_time, local_zone
from qmon.texts import Text
from qmon.tui.daemon_thread import start_daemon
from qmon.tui.sanitize import clean
from qmon.tui.shared.saving import SaveDialog, SavingText, proposed_file_name

if TYPE_CHECKING:
    from qmon.tui.app import QmonApp

_ENDING: Final = ".md"


class NoteText(Text):
    """What the file contains."""

    ABOUT = "incident note from {since} to {until}: {queues}, {events}"


class NoteGathered(Message):
    """The facts of an incident were gathered, or that failed with ``problem``."""

    def __init__(self, note: IncidentNote | None, problem: str = "") -> None:
        super().__init__()
        self.note, self.problem = note, problem


def start_note(app: QmonApp, receiver: MessagePump) -> None:
    """Gather the facts of the incident at the moment on screen, then post ``NoteGathered`` to ``receiver``."""
    watched, runner = app.current.target, app.runner
    ranges = RangeReader(watched.past.archive, watched.memory, local_zone())
    near_at = None if watched.past.here is None else watched.past.here()
    redact = (lambda text: text) if runner is None else runner.context.redact

    def gather() -> None:
        try:
            note = gather_note(watched.name, ranges, near_at=near_at, redact=redact)
        except (BadInput, OSError) as problem:
            receiver.post_message(NoteGathered(None, str(problem)))
        else:
            receiver.post_message(NoteGathered(note))

    def record_and_gather(operations: tuple[Operation, ...] | None, _: str) -> None:
        if operations is not None and watched.memory is not None:
            watched.memory.record_operations(operations)
        gather()

    if watched.runner is not None and watched.memory is not None:  # the screens may not have read the operations yet
        watched.runner.ask_operator(lambda operator: operator.read_operations(), record_and_gather)
    else:
        start_daemon(gather, "qmon-note")


def ask_and_write(app: QmonApp, note: IncidentNote) -> None:
    """Ask for a file name, write the note, and notify the user of the path or the problem."""

    def write(path: Path | None) -> None:
        if path is None:
            return
        try:
            written = files.write_user_file(path, note_markdown(note))
        except BadInput as problem:
            app.notify(clean(str(problem)), severity="warning", timeout=15, markup=False)
        else:
            app.notify(SavingText.WRITTEN.render(path=clean(str(written))), timeout=10, markup=False)

    at = datetime.fromtimestamp(note.since_at, UTC).strftime("%Y%m%dT%H%M%SZ")
    about = NoteText.ABOUT.render(
        since=local_time(note.since_at, note.zone),
        until=local_time(note.until_at, note.zone),
        queues=formatting.count_text(len(note.queues), "queue"),
        events=formatting.count_text(len(note.events), "event"),
    )
    app.push_screen(SaveDialog(proposed_file_name(note.target, "incident", at), (_ENDING,), about), write)
