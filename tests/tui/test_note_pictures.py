"""The dialog of the incident note as pictures: the note of a recorded incident, in a folder that exists everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from qmon.tui.shared.saving import SaveDialog
from tests.recording.days import written
from tests.tui.histories import replayed
from tests.tui.pictures import SIZES, Compare


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day's recording."""
    root = tmp_path_factory.mktemp("notes")
    written(root, 9.0, snapshots=9.0)
    return root


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_incident_note(
    snap_compare: Compare, day: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    app, replay = replayed(day, 8.0)

    async def opened(pilot: Pilot[None]) -> None:
        while app.shown.view is None:
            await pilot.pause(0.02)
        await pilot.press("1", "N")
        while not isinstance(app.screen, SaveDialog):
            await pilot.pause(0.02)
        for _ in range(3):
            await pilot.pause()

    try:
        assert snap_compare(app, terminal_size=size, run_before=opened)
    finally:
        replay.close()
