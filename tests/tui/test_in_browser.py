"""A dashboard in a browser: no key, dialog or palette entry writes anything on the server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from textual.screen import ModalScreen

from qmon.tui import keys
from qmon.tui.app import AppText
from qmon.tui.screen_list import ENTRIES
from qmon.tui.shared import palette
from qmon.tui.shared.palette import PaletteHint
from tests.tui.driving import Driver, dashboard

PLACE: Final = "ops-1"
WHY: Final = AppText.IN_BROWSER
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_CHANGES: Final = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate"}
_CHANGES_ELSEWHERE: Final = {"subprocess.Popen", "os.system", "os.fork", "os.exec", "os.posix_spawn", "webbrowser.open"}
_noted: list[str] | None = None


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _noted is None:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = bool(set(mode) & set("wax+")) if isinstance(mode, str) else bool(int(str(flags)) & _WRITING)
        if writes and path != os.devnull and "__pycache__" not in str(path):
            _noted.append(f"{event} {path}")
    elif event in _CHANGES | _CHANGES_ELSEWHERE and "__pycache__" not in str(arguments[0]):
        _noted.append(f"{event} {arguments[0]}")


sys.addaudithook(_hear)


@contextmanager
def noting() -> Iterator[list[str]]:
    """Yield a list of everything that this process writes, changes or starts until the block ends."""
    global _noted
    made: list[str] = []
    compiles = sys.dont_write_bytecode
    _noted, sys.dont_write_bytecode = made, True  # the first import of a screen writes its bytecode
    try:
        yield made
    finally:
        _noted, sys.dont_write_bytecode = None, compiles


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use one empty folder as working folder, as home folder, and for all of qmon's files."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "qmon").mkdir()
    (tmp_path / "qmon" / "qmon.toml").write_text('[target.shop]\nconnect = "postgresql://me@db1/shop"\n')
    return tmp_path


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Return every file and folder, with its size and time of change."""
    paths = sorted((folder, *folder.rglob("*")))
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


async def use_dialogs(d: Driver) -> None:
    """Press every key of the open dialogs, type a name, confirm, and close them."""
    for _ in range(4):
        dialog = d.app.screen
        if not isinstance(dialog, ModalScreen):
            return
        own = [key for b in keys.bindings_in(dialog.BINDINGS) if "close" not in b.action for key in b.key.split(",")]
        for key in [*own, *"x.csv", "enter"]:
            if d.app.screen is dialog:
                await d.press(key)
        for _ in range(3):
            if isinstance(d.app.screen, ModalScreen):
                await d.press("escape")


async def press_all(d: Driver, screen: str) -> None:
    """Press each key of a screen, and choose each action in its palette, except those that quit."""
    bindings = [each.binding for each in d.app.screen.active_bindings.values() if each.binding.id != "quit"]
    assert {"save", "suspend"} <= {binding.id for binding in bindings}
    for key in sorted({binding.key for binding in bindings}):
        await d.app.action_screen(screen)
        await d.press(key)
        await use_dialogs(d)
    for item in palette.action_items(d.app.screen.active_bindings.values(), {}, d.app.run_action):
        if item.id != "quit":
            await d.app.action_screen(screen)
            await item.run()
            await d.settle()
            await use_dialogs(d)


@pytest.mark.parametrize("screen", [entry.name for entry in ENTRIES])
async def test_no_key_and_no_entry_of_the_palette_writes_anything(screen: str, home: Path) -> None:
    before = files_in(home)
    async with dashboard((120, 40), read_only=False, served=PLACE) as d:
        d.app.can_write_files = False
        await d.give()
        await d.app.action_screen(screen)
        await d.settle()
        with noting() as changes:
            await press_all(d, screen)
        assert changes == []
        assert d.app.is_running
    assert files_in(home) == before


async def test_a_file_that_is_written_is_noticed_here(home: Path) -> None:
    async with dashboard((120, 40), served=PLACE) as d:
        await d.give()
        with noting() as changes:
            await d.press("ctrl+s", "enter")
        assert any("qmon-orders-prod-overview" in change for change in changes)
    assert any(path.endswith(".csv") for path in files_in(home))


@pytest.mark.parametrize("screen", [entry.name for entry in ENTRIES])
async def test_saving_and_suspending_say_why_not(screen: str) -> None:
    async with dashboard((120, 40), served=PLACE) as d:
        d.app.can_write_files = False
        await d.give()
        await d.app.action_screen(screen)
        for key in ("ctrl+s", "ctrl+z"):
            d.app.clear_notifications()
            await d.press(key)
            assert d.said() == WHY
        for name in ("save", "suspend"):
            await d.press("colon", *name)
            assert PaletteHint.NOT_NOW.render(why=WHY[:20]) in d.text()
            await d.press("escape")
