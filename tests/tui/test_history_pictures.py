"""The history screen, and the overview with its marks, as pictures. Look at the report after an intended change."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from qmon.model.baseline_bands import Baseline, Baselines
from qmon.recording.history.baselines_reader import FoundBaselines
from qmon.tui.history.history_screen import HistoryScreen
from qmon.tui.past_reader import KnownPast
from tests.recording.days import usual, written
from tests.tui.histories import replayed
from tests.tui.pictures import SIZES, Compare, Shot

IDS = [f"{cells}x{rows}" for cells, rows in SIZES]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day's recording with a baselines file next to it."""
    root = tmp_path_factory.mktemp("pictures")
    written(root, 24.0, snapshots=0.2)
    usual(root)
    return root


class Past:
    """A replay at rest, and the keys that lead to a range."""

    def __init__(self, day: Path, *keys: str, plain: bool = False, dark: bool = True) -> None:
        self.app, self.replay = replayed(day, 0.1, plain=plain, dark=dark)
        self.keys = keys

    async def ready(self, pilot: Pilot[None]) -> None:
        """Wait until all of it is read."""
        while self.app.shown.view is None:
            await pilot.pause(0.02)
        for key in ("5", *self.keys):
            await pilot.press(key)
            for _ in range(3):
                await pilot.pause()
            screen = self.app.screen
            while isinstance(screen, HistoryScreen) and (screen.is_reading or screen.past is None):
                await pilot.pause(0.02)
        for _ in range(3):
            await pilot.pause()


DAY = ("w", "w", "less_than_sign", "less_than_sign", "less_than_sign")


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_history(snap_compare: Compare, day: Path, size: tuple[int, int]) -> None:
    past = Past(day, *DAY)
    try:
        assert snap_compare(past.app, terminal_size=size, run_before=past.ready)
    finally:
        past.replay.close()


@pytest.mark.parametrize("look", ["light", "no-colour"])
def test_history_in_other_colours(snap_compare: Compare, day: Path, look: str) -> None:
    past = Past(day, *DAY, plain=look == "no-colour", dark=look != "light")
    try:
        assert snap_compare(past.app, terminal_size=(120, 40), run_before=past.ready)
    finally:
        past.replay.close()


def known() -> Baselines:
    """Return baselines with the same values all week: four figures of three queues are outside their band."""

    def always(median: float, mad: float, weeks: int = 9) -> dict[int, Baseline]:
        return dict.fromkeys(range(168), Baseline(median, mad, weeks))

    queues = {
        "orders": {"ready": always(4_000.0, 100.0), "push_rate": always(90_000.0, 900.0)},
        "mails": {"ready": always(120.0, 10.0), "pop_rate": always(84.0, 2.0), "push_rate": always(4.0, 0.1)},
        "exports": {"pop_rate": always(400.0, 10.0)},
        "invoices": {"ready": always(900.0, 1.0, 3)},
    }
    return Baselines({"orders-prod": queues}, "Europe/Berlin")


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_with_marks(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot(known=KnownPast(usual=lambda: FoundBaselines(known())))
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)
