"""Users' choices: themes and columns, and that they are remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.config.preferences import Preferences
from qmon.tui.overview.column_choice import ColumnDialog, ColumnsText
from qmon.tui.themes import DARK, LIGHT, NAMES, PLAIN, tones
from qmon.tui.widgets.grid import Grid
from tests.tui.contrast import MARK, TEXT, WRITTEN, contrast
from tests.tui.driving import Driver, dashboard
from tests.wordings import has


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the path of the preferences."""
    return tmp_path / "screen.json"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (DARK, LIGHT)])
def test_textuals_themes_can_be_read(name: str) -> None:
    of = tones(name)
    ground, cursor = of["badge"].color, of["cursor"].bgcolor
    for tone in WRITTEN:
        assert contrast(of[tone].color, ground) >= TEXT, tone
        assert contrast(of[tone].color, cursor) >= TEXT, f"{tone} under the cursor"
    for tone in ("faint", "push", "pop", "depth"):
        assert contrast(of[tone].color, ground) >= MARK, tone
    assert tones(name, stale=True)["alarm"].color == tones(name, stale=True)["text"].color


async def test_a_theme_is_chosen_from_all_and_remembered(place: Path) -> None:
    async with dashboard(preferences=Preferences(place)) as d:
        await d.give()
        await d.press("t")
        assert d.grid.row_keys == tuple(f"theme:{name}" for name in NAMES)
        await d.press(*"nord", "enter")
        assert d.app.theme == "nord"
        await d.press("t", "escape")
        assert d.app.theme == "nord"
    async with dashboard(preferences=Preferences(place)) as d:
        assert d.app.theme == "nord"
        await d.give()
        await d.press("t", "down", "enter")
        assert d.app.theme == LIGHT
    async with dashboard(preferences=Preferences(place)) as d:
        assert d.app.theme == LIGHT
    async with dashboard(plain=True, preferences=Preferences(place)) as d:
        await d.give()
        await d.press("t", *"nord", "enter")
        assert d.app.theme == PLAIN
    assert Preferences(place).theme == LIGHT


async def test_a_theme_that_is_gone_is_not_used(place: Path) -> None:
    Preferences(place).set_theme("neon")
    async with dashboard(preferences=Preferences(place)) as d:
        assert d.app.theme == DARK


async def test_the_interval_is_remembered_for_the_target(place: Path) -> None:
    given = Preferences(place)
    async with dashboard(preferences=given) as d:
        await d.give()
        await d.press("minus", "minus")
        assert Preferences(place).target_preferences(d.app.shown.target).interval_s == 5.0


async def test_plots_are_hidden_and_stay_so(place: Path) -> None:
    async with dashboard(preferences=Preferences(place)) as d:
        await d.give()
        assert "push" in d.lines("trends")
        await d.press("H")
        assert not d.app.screen.query_one("#trends").display
        await d.press("2")
        assert not d.app.screen.query_one("#middle").display
    async with dashboard(preferences=Preferences(place)) as d:
        await d.give()
        await d.press("2")
        assert not d.app.screen.query_one("#middle").display
        await d.press("H")
        assert d.app.screen.query_one("#middle").display
        assert not d.app.screen.query_one("#unknown-lines").display


async def test_columns_are_chosen_ordered_and_remembered(place: Path) -> None:
    async with dashboard((200, 50), preferences=Preferences(place)) as d:
        await d.give()
        name, usual = d.grid.cursor, d.grid.visible_titles
        await d.press("C")
        assert isinstance(d.app.screen, ColumnDialog)
        await d.press("space")
        assert has(d.said(), ColumnsText.REQUIRED)
        await d.press("down", "space")
        assert "DESIGN" not in overview_of(d).visible_titles
        d.grid.select("fill")
        await d.press("space")
        assert overview_of(d).visible_titles[-1] == "FILL"
        await d.press("space")
        assert "FILL" not in overview_of(d).visible_titles
        d.grid.select("dead")
        await d.press("space", *["less_than_sign"] * 30, "greater_than_sign", "escape")
        assert d.grid.visible_titles[:2] == ("QUEUE", "DEAD")
        assert d.grid.cursor == name
        shown = d.grid.visible_titles
    async with dashboard((200, 50), preferences=Preferences(place)) as d:
        await d.give()
        assert d.grid.visible_titles == shown
        row = d.grid.cursor_row
        assert row is not None
        assert row.cells[0][0] == row.name == name
        assert row.cells[1][0] == "0"
        await d.press("C", "D", "escape")
        assert d.grid.visible_titles == usual
    assert Preferences(place).target_preferences("orders-prod").columns == ()


async def test_the_queue_has_its_name_wherever_its_column_is(place: Path) -> None:
    given = Preferences(place)
    given.change_target("orders-prod", lambda of: replace(of, columns=("ready", "queue", "nothing such")))
    async with dashboard(preferences=given) as d:
        await d.give()
        assert d.grid.visible_titles == ("READY", "QUEUE")
        await d.press("down", "y")
        assert d.app.clipboard == d.grid.cursor
        await d.press("s")
        assert Preferences(place).target_preferences("orders-prod").sort == ("queue", False)
        await d.press("S")
    async with dashboard(preferences=Preferences(place)) as d:
        await d.give()
        assert "QUEUE▾" in d.text()


def overview_of(d: Driver) -> Grid:
    """Return the table of the overview, even behind a dialog."""
    return d.app.screen_stack[0].query_one("#queues", Grid)
