"""What users choose for themselves: themes, columns, saved views; and that it is there the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.tui.personal.preferences import Preferences
from qmon.tui.themes import DARK, LIGHT, NAMES, PLAIN, tones
from tests.tui.driving import dashboard
from tests.tui.test_colours import MARK, TEXT, WRITTEN, contrast

pytestmark = pytest.mark.unit


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where it is remembered."""
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
        await d.press("T")
        assert d.grid.keys == tuple(f"theme:{name}" for name in NAMES)
        await d.press(*"nord", "enter")
        assert d.app.theme == "nord"
        await d.press("T", "escape")
        assert d.app.theme == "nord"
    async with dashboard(preferences=Preferences(place)) as d:
        assert d.app.theme == "nord"
        await d.give()
        await d.press("t")
        assert d.app.theme == LIGHT
    async with dashboard(preferences=Preferences(place)) as d:
        assert d.app.theme == LIGHT
    async with dashboard(preferences=Preferences(place, use_theme=False)) as d:
        assert d.app.theme == DARK
    async with dashboard(plain=True, preferences=Preferences(place)) as d:
        await d.give()
        await d.press("T", *"nord", "enter")
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
        assert Preferences(place).of(d.app.shown.target).interval_s == 5.0
