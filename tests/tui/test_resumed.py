"""A screen that is shown again is drawn once, and each event of a source is handled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from textual.screen import Screen

from qmon.model.view import View
from qmon.monitor.source import Phase, SourceState
from qmon.tui.app import QmonApp
from qmon.tui.feed import StateChanged, ViewReady
from qmon.tui.screen_list import ENTRIES, FLEET_ENTRIES, ScreenEntry
from qmon.tui.shared.dashboard_screen import DashboardScreen
from tests.recording.days import written
from tests.tui.driving import Driver, dashboard
from tests.tui.fleet import fleet
from tests.tui.histories import replayed
from tests.tui.scripted import view


class Resumes:
    """Counts how often a screen is redrawn each time that it is shown again, by the name of the screen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[tuple[str, int]] = []
        self._redraws = 0
        handler = DashboardScreen.on_screen_resume

        def resume(screen: DashboardScreen) -> None:
            before = self._redraws
            handler(screen)
            self.found.append((screen.NAME, self._redraws - before))

        monkeypatch.setattr(DashboardScreen, "on_screen_resume", resume)
        for kind in _kinds(DashboardScreen):
            if "redraw" in vars(kind):
                monkeypatch.setattr(kind, "redraw", self._counted(vars(kind)["redraw"]))

    def _counted(self, redraw: Callable[[Screen[None]], None]) -> Callable[[Screen[None]], None]:
        def count(screen: Screen[None]) -> None:
            self._redraws += 1
            redraw(screen)

        return count


def _kinds(kind: type[DashboardScreen]) -> list[type[DashboardScreen]]:
    return [kind, *(each for below in kind.__subclasses__() for each in _kinds(below))]


async def test_each_screen_that_is_shown_again_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard() as driver:
        await driver.give()
        await _show_twice(driver, ENTRIES, monkeypatch)


async def test_each_screen_of_all_targets_that_is_shown_again_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fleet() as driver:
        await _show_twice(driver, FLEET_ENTRIES, monkeypatch)


async def _show_twice(driver: Driver, entries: Sequence[ScreenEntry], monkeypatch: pytest.MonkeyPatch) -> None:
    """Show all screens, show them again, and check that each is drawn once the second time."""
    for entry in entries:
        await driver.app.switch_mode(entry.name)
        await driver.settle()
    resumes = Resumes(monkeypatch)
    for entry in entries:
        await driver.app.switch_mode(entry.name)
        await driver.settle()
    assert resumes.found == [(entry.name, 1) for entry in entries]


async def test_a_replay_handles_each_event_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    app, replay = replayed(tmp_path, 0.1)
    handled: list[View | SourceState] = []
    try:
        async with app.run_test() as pilot:
            await pilot.pause()
            monkeypatch.setattr(QmonApp, "show_view", lambda _, given: handled.append(given))
            monkeypatch.setattr(QmonApp, "show_state", lambda _, given: handled.append(given))
            given = view(), SourceState(replay.target, Phase.LIVE)
            app.post_message(ViewReady(given[0]))
            app.post_message(StateChanged(given[1]))
            await pilot.pause()
            assert handled == [*given]
    finally:
        replay.close()
