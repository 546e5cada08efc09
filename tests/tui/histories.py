"""The history screen over an artificial day, paused in a replay or next to a live source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from qmon.recording.history.baselines_reader import find_baselines
from qmon.recording.history.recording_archive import archive_from_reader
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.read.replay import Replay
from qmon.tui.history.history_screen import HistoryScreen
from qmon.tui.past_reader import KnownPast
from qmon.tui.replay.replay_app import ReplayApp
from qmon.tui.watched_target import DashboardTarget
from tests.recording.days import BEGIN
from tests.tui.driving import Driver
from tests.tui.scripted import Clock, Scripted

HOUR = 3600.0


def replayed(root: Path, hours: float, *, plain: bool = False, dark: bool = True) -> tuple[ReplayApp, Replay]:
    """Return a paused replay at this number of hours after the day's beginning, with the baselines next to it."""
    reader = open_recording(root)
    replay = Replay(reader, BEGIN + hours * HOUR, playing=False)
    found = find_baselines(root if root.is_dir() else None)
    known = KnownPast(archive_from_reader(reader), lambda: found, lambda: replay.position, replay.seek)
    return ReplayApp(DashboardTarget(replay, replay.fold, past=known), plain=plain, dark=dark), replay


def history(driver: Driver) -> HistoryScreen:
    """Return the screen in front."""
    assert isinstance(driver.app.screen, HistoryScreen)
    return driver.app.screen


async def read(driver: Driver) -> HistoryScreen:
    """Let it read all requested data."""
    await driver.settle()
    screen = history(driver)
    await driver.until(
        lambda: not screen.is_reading and (screen.past is None or screen.past.read == 1.0), "all is read"
    )
    return screen


@asynccontextmanager
async def shown(root: Path, *keys: str, hours: float = 8.0, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Driver]:
    """Open the history screen of a replay, after keys."""
    app, replay = replayed(root, hours)
    try:
        async with app.run_test(size=size) as pilot:
            driver = Driver(app, Scripted(), Clock(), pilot)
            await driver.until(lambda: app.shown.view is not None, "the first figures")
            await press(driver, "5", *keys)
            yield driver
    finally:
        replay.close()


async def press(driver: Driver, *keys: str) -> HistoryScreen:
    """Press keys, and let it read after each."""
    for key in keys:
        await driver.press(key)
        await read(driver)
    return history(driver)
