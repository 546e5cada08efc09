"""The incident note from the dashboard: two keys write it, live and in a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.figure import Severity
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.recording.history.incident_markdown import IncidentNoteText
from qmon.tui.shared.saving import SaveDialog
from tests import jobs
from tests.jobs import layout
from tests.recording.days import BEGIN, written
from tests.tui.histories import shown
from tests.tui.live import Real, looking
from tests.wordings import has

# Keys from the overview. More keys are a regression.
NOTE_KEYS: Final = ("N", "enter")


def notes(folder: Path) -> list[str]:
    """Return the texts of the notes in a folder."""
    return [path.read_text("utf-8") for path in folder.glob("*.md")]


async def write_note(real: Real) -> None:
    """Press the keys. The dialog for the file appears when the facts are gathered."""
    await real.pilot.press(NOTE_KEYS[0])
    await real.until(lambda: isinstance(real.app.screen, SaveDialog), "the dialog for the file")
    await real.pilot.press(NOTE_KEYS[1])


@pytest.mark.server
async def test_two_keys_write_the_note_of_a_live_incident(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.fill(database, dead=3, ready=2)
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with looking(database, tmp_path, layouts=[replace(layout(), timeout_s=60.0)]) as real:

        def is_troubled() -> bool:
            view = real.app.shown.view
            return view is not None and any(queue.verdict.severity >= Severity.WARNING for queue in view.queues)

        await real.until(is_troubled, "the verdict")
        await real.pilot.press("2")
        await real.does("r")
        await real.pilot.press("escape", "1")
        await write_note(real)
        await real.until(lambda: notes(folder), "the file")
        (text,) = notes(folder)
        assert "### jobs" in text
        assert has(text, FlowText.LATE, count=3) or has(text, FlowText.DEAD_OWNER), "the proof"
        assert "| requeue | jobs |" in text, "what was done"
        assert IncidentNoteText.RESULT.render(state="done", done=3, planned=3) in text
        assert "| ready |" in text


async def test_two_keys_write_the_note_of_the_moment_of_a_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "day", 9.0, snapshots=9.0)
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with shown(tmp_path / "day") as d:
        await d.press("1", NOTE_KEYS[0])
        await d.until(lambda: isinstance(d.app.screen, SaveDialog), "the dialog for the file")
        await d.press(NOTE_KEYS[1])
        await d.until(lambda: notes(folder), "the file")
        (text,) = notes(folder)
        assert "### mails" in text
        assert "stuck in progress" in text
        assert "anna@ops-1" in text


async def test_escape_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "day", 9.0, snapshots=9.0)
    monkeypatch.chdir(tmp_path)
    async with shown(tmp_path / "day") as d:
        await d.press(NOTE_KEYS[0])
        await d.until(lambda: isinstance(d.app.screen, SaveDialog), "the dialog for the file")
        await d.press("escape")
        assert notes(tmp_path) == []
        assert d.app.known_past.here is not None
        assert d.app.known_past.here() >= BEGIN
