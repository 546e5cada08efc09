"""Keys that arrive before the screen of the first key has closed: no dialog closes twice, and the program goes on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from textual import events
from textual.css.query import NoMatches
from textual.geometry import Size

from qmon.files import FileText
from qmon.tui.message.message_screen import MessageScreen
from qmon.tui.shared.help_dialog import Help
from qmon.tui.shared.saving import SavingText
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.widgets.dialog import Dialog, leave_screen
from tests.recording.days import written
from tests.tui import histories
from tests.tui.driving import Driver, dashboard
from tests.tui.opening import found
from tests.tui.opening import shown as opened_message
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.wordings import has

# Keys that open a dialog of the dashboard.
LIVE: Final = {"help": "question_mark", "palette": "colon", "columns": "C", "a file": "ctrl+s", "a plan": "p"}
CLOSING: Final = ("escape", "enter", "ctrl+c", "q")


async def press_at_once(d: Driver, *keys: str) -> None:
    """Put all keys into the app's queue before it handles the first."""
    for key in keys:
        d.app.post_message(events.Key(key, None))
    await d.settle()


@asynccontextmanager
async def acting() -> AsyncIterator[Driver]:
    """Run the dashboard with figures and an operator."""
    async with dashboard(read_only=False, runner=ScriptedOffice(Script(message=found()))) as d:
        await d.give()
        yield d


@pytest.mark.parametrize("first", CLOSING)
@pytest.mark.parametrize("opens", LIVE.values(), ids=LIVE)
async def test_no_dialog_closes_twice(opens: str, first: str) -> None:
    async with acting() as d:
        await d.press(opens)
        dialog = d.app.screen
        assert isinstance(dialog, Dialog)
        await press_at_once(d, first, "escape", "escape", "escape")
        await d.until(lambda: not d.app.is_running or not isinstance(d.app.screen, Dialog), "it has closed")
        assert not d.app._exception and dialog not in d.app.screen_stack


@pytest.mark.parametrize("ticks", range(6))
async def test_a_dialog_that_is_closed_before_it_has_its_widgets_is_no_error(ticks: int) -> None:
    async with acting() as d:
        for dialog in (Help(), TextDialog(lambda _: [], "hint")):
            opened = d.app.push_screen(dialog)
            for _ in range(ticks):
                await asyncio.sleep(0)
            closed = d.app.pop_screen()
            await opened
            await closed
            await d.settle()
            assert d.app.is_running
            assert not d.app._exception and dialog not in d.app.screen_stack


async def test_a_missing_widget_of_a_dialog_that_stays_is_an_error() -> None:
    class Broken(Dialog[None]):
        def on_mount(self) -> None:
            self.query_one("#nowhere")

    with pytest.raises(NoMatches, match="#nowhere"):
        async with acting() as d:
            await d.app.push_screen(Broken())


@pytest.mark.parametrize("first", ["enter", "escape"])
async def test_two_quick_keys_do_not_end_a_replay(tmp_path: Path, first: str) -> None:
    written(tmp_path, 2.0, snapshots=2.0)
    async with histories.shown(tmp_path, hours=1.0) as d:
        await d.press("at", *"10:00")
        await press_at_once(d, first, "escape", "enter")
        assert d.app.is_running and not isinstance(d.app.screen, Dialog)
        await d.press("1")
        assert d.app.is_running


async def test_a_dialog_below_another_stays_when_it_is_finished() -> None:
    async with acting() as d:
        await d.press("ctrl+s")
        below = d.app.screen
        assert isinstance(below, Dialog)
        above: Dialog[None] = Dialog()
        await d.app.push_screen(above)
        below.finish()
        await d.settle()
        assert d.app.screen is above
        above.finish()
        above.finish()
        await d.settle()
        assert d.app.screen is below


async def test_a_message_is_left_once() -> None:
    async with acting() as d:
        screen = await opened_message(d)
        await press_at_once(d, "escape", "escape", "escape")
        assert not isinstance(d.app.screen, MessageScreen)
        before = d.app.screen
        leave_screen(screen)
        leave_screen(before)
        await d.settle()
        assert d.app.screen is before


@pytest.mark.parametrize("name", ["~no-such-user/report.csv", "~no-such-user", "~\udce4/a.csv", "a\0b.csv"])
async def test_a_home_folder_that_is_not_known_and_a_name_that_is_none_are_said(name: str) -> None:
    async with acting() as d:
        await d.press("ctrl+s")
        bar = d.app.screen.query_one("FilterBar")
        bar.open(name)  # type: ignore[attr-defined]  # it is of that class
        await d.press("enter")
        said = d.said()
        assert any(
            has(said, each) for each in (FileText.HOME_UNKNOWN, FileText.NOT_A_NAME, SavingText.UNKNOWN_ENDING)
        ), said
        assert d.app.is_running


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete the folder that a process is in")
async def test_a_working_folder_that_was_deleted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with acting() as d:
        await d.press("ctrl+s")
        assert FileText.NO_WORKING_FOLDER.partition(" (")[0] in d.text()  # the line is cut at the edge
        await d.press("enter")
        assert has(d.said(), FileText.NO_WORKING_FOLDER, reason="No such file or directory")
        place = tmp_path / "a.csv"
        await d.press("ctrl+s", "ctrl+u")
        d.app.screen.query_one("FilterBar").open(str(place))  # type: ignore[attr-defined]  # as above
        await d.press("enter")
        assert has(d.said(), SavingText.WRITTEN, path=place) and place.is_file()


@pytest.mark.parametrize("opens", [None, "question_mark"], ids=["a screen", "a dialog over it"])
async def test_the_last_of_several_sizes_holds(opens: str | None) -> None:
    """A busy screen gets the newer size, and then its own event about the older one."""
    async with dashboard((120, 40)) as d:
        await d.give()
        if opens is not None:
            await d.press(opens)
        await d.resize(121, 40)
        for cells in (121, 80):
            for screen in d.app.screen_stack:
                screen.post_message(events.Resize(Size(cells, 40), Size(cells, 40)))
                screen.call_later(lambda: None)  # events that stand next to each other are merged
        await d.settle()
        assert {screen._compositor.size for screen in d.app.screen_stack} == {Size(121, 40)}
