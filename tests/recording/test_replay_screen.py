"""The dashboard over a recording, and over a target that is recorded: the header's text and the keys."""

from __future__ import annotations

import resource
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from qmon.config.preferences import Preferences
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.read.replay import Replay
from qmon.recording.times import TimeText
from qmon.recording.write.recorder import Recorder
from qmon.recording.write.recording_source import RecordingSource
from qmon.recording.write.segment_writer import WriterText
from qmon.tui import keys
from qmon.tui.actions.availability import DisabledText
from qmon.tui.app import AppText, QmonApp
from qmon.tui.replay.replay_app import ReplayApp
from qmon.tui.shared.header import HeaderText
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.lines import Lines
from tests.facts import wait_until
from tests.recording.writing import recorded, run_of, sequences
from tests.tui.driving import Driver
from tests.tui.scripted import SAMPLED_AT, Clock, Scripted, view
from tests.wordings import has


@asynccontextmanager
async def shown(root: Path, **more: object) -> AsyncIterator[tuple[ReplayApp, Pilot[None], Driver]]:
    """Open a paused replay of a folder's recording at its beginning."""
    replay = Replay(open_recording(root), playing=False)
    app = ReplayApp(DashboardTarget(replay, replay.fold), plain=False, **more)
    try:
        async with app.run_test(size=(140, 40)) as pilot:
            driver = Driver(app, Scripted(), Clock(), pilot)
            await driver.until(lambda: app.shown.view is not None, "the first figures")
            yield app, pilot, driver
    finally:
        replay.close()


def header(app: QmonApp) -> str:
    """Return the first line."""
    return "\n".join(app.screen.query_one("#header", Lines).plain_lines)


async def test_the_header_says_when_it_was_and_the_keys_move_in_it(tmp_path: Path) -> None:
    recorded(tmp_path)
    async with shown(tmp_path) as (app, pilot, driver):
        assert "REPLAY" in header(app) and "2026-11-21 13:00:00 UTC ‖" in header(app)
        assert HeaderText.LIVE not in header(app)
        await pilot.press("n")
        await driver.until(lambda: "13:00:10" in header(app), "a step")
        await pilot.press("b")
        await driver.until(lambda: "13:00:00" in header(app), "a step back")
        await pilot.press("greater_than_sign")
        await driver.until(lambda: "13:33:10" in header(app), "the operation")
        await pilot.press("at", *"13:05:00", "enter")
        await driver.until(lambda: "13:05:00" in header(app), "the typed time")
        await pilot.press("at", *"noon", "enter")
        await driver.until(lambda: has(driver.said(), TimeText.NOT_A_TIME, text="noon"), "an invalid time is refused")
        await pilot.press("plus", "plus", "plus", "plus", "A")
        await driver.until(lambda: "▶ ×30" in header(app), "it plays")
        await driver.until(lambda: "13:05:00" not in header(app), "and time passes")
        await pilot.press("A")
        await driver.until(lambda: "‖" in header(app), "it stands still")


async def test_what_acts_is_off_and_says_why(tmp_path: Path) -> None:
    recorded(tmp_path, 5)
    async with shown(tmp_path) as (app, pilot, driver):
        for key in ("x", "r", "p", "u"):
            await pilot.press(key)
            await driver.until(lambda: has(driver.said(), DisabledText.VIEW_ONLY), f"{key} is off")
            app.clear_notifications()
        await pilot.press("colon")
        await driver.until(lambda: len(app.screen_stack) == 2, "the palette")
        (play,) = [each for each in keys.bindings_in(keys.REPLAY) if each.action == "play"]
        await pilot.press(*"play")
        await driver.until(lambda: play.tooltip in driver.text(), "the key of a replay")
        await pilot.press(*["backspace"] * 4, *"poll")
        await driver.until(lambda: play.tooltip not in driver.text(), "another filter")
        assert "Poll" not in driver.text()


async def test_a_full_disk_is_said_and_the_dashboard_goes_on(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    recorder, source = Recorder(tmp_path, "orders", interval_s=10.0), Scripted()
    recorded = RecordingSource(source, lambda snapshot: view(at=snapshot.sampled_at - SAMPLED_AT), recorder)
    app = QmonApp(DashboardTarget(source, recorded.fold, recorder=recorder), plain=False)
    given = run_of(4000)
    try:
        async with app.run_test(size=(140, 40)) as pilot:
            driver = Driver(app, source, Clock(), pilot)
            recorded.fold(given[0])
            await driver.give()
            assert " REC " in header(app)
            wait_until(lambda: recorder.status.snapshots >= 2)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
            for snapshot in given[1:]:
                if recorder.status.stopped:
                    break
                recorded.fold(snapshot)
            await driver.until(lambda: recorder.status.stopped, "it stops")
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            app.tick()
            await driver.settle()
            assert "NOT RECORDING" in header(app)
            assert has(driver.said(), AppText.RECORDING_STOPPED)
            assert has(driver.said(), WriterText.UNWRITABLE)
            await driver.give(view(at=8.0))
            assert app.shown.view is not None and app.shown.view.sampled_at == view(at=8.0).sampled_at
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
        recorder.close()
    assert len(sequences(tmp_path)) == recorder.status.snapshots


async def test_columns_and_theme_are_chosen_in_a_replay_too(tmp_path: Path) -> None:
    recorded(tmp_path, 5)
    preferences = Preferences(tmp_path / "screen.json")
    async with shown(tmp_path, preferences=preferences) as (app, pilot, driver):
        target = app.shown.target
        await pilot.press("C", "down", "space", "escape")
        await driver.until(lambda: preferences.target_preferences(target).columns, "they are remembered")
        assert "design" not in Preferences(tmp_path / "screen.json").target_preferences(target).columns
        await pilot.press("plus")
        assert preferences.target_preferences(target).interval_s is None, "the speed is not the interval"
    async with shown(tmp_path, preferences=Preferences(tmp_path / "screen.json")) as (app, pilot, driver):
        assert "DESIGN" not in driver.grid.visible_titles
