"""A dashboard that reads from a ``qmon serve`` shows its source. Keys that need more data show the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.formatting import duration
from qmon.monitor.source import Phase
from qmon.tui.actions.availability import DisabledText
from qmon.tui.app import AppText
from qmon.tui.history.history_panel import HistoryPanelText
from qmon.tui.shared.header import HeaderText
from qmon.tui.shared.palette import PaletteHint
from tests.tui.driving import dashboard
from tests.tui.histories import read
from tests.tui.scripted import TAKEN_AT, queue, view
from tests.wordings import has

PLACE = "ops-1:9777"
WHY = AppText.FROM_SERVE.render(address=PLACE)


@pytest.mark.parametrize("cells", [80, 120, 200])
async def test_the_title_says_where_it_is_read_from_and_by_whom_it_is_polled(cells: int) -> None:
    async with dashboard((cells, 40), prod=False, read_only=False, served=PLACE) as d:
        await d.give()
        served = HeaderText.FROM_SERVE.render(address=PLACE)
        assert f"orders-prod {served}   " in d.lines("header")
        assert HeaderText.LIVE in d.lines("header")
        assert duration(d.source.interval_s) in d.lines("header") or cells < 120
        await d.say(Phase.LOST, f"nothing came from {PLACE} for 15 s", retry_at=1e9)
        assert f"{served}   " in d.lines("header")
        assert HeaderText.LOST in d.lines("header")


async def test_what_the_serve_does_not_do_for_us_has_its_reason() -> None:
    async with dashboard((120, 40), read_only=False, served=PLACE) as d:
        await d.give(view([replace(queue("mails"), messages=None)]))
        for key in ("e", "n", "plus", "minus"):
            d.app.clear_notifications()
            await d.press(key)
            assert d.said() == WHY
        assert d.app.shown.interval_s == d.source.interval_s
        d.app.clear_notifications()
        await d.press("r")
        assert d.said() == DisabledText.VIEW_ONLY
        await d.press("enter")
        assert WHY in d.text(), "the messages"
        await d.press("colon", *"exact")
        assert PaletteHint.NOT_NOW.render(why=WHY[:20]) in d.text()
        await d.press("escape", "5")
        screen = await read(d)
        screen.range.show_between(TAKEN_AT - 9_000, TAKEN_AT - 8_000)
        screen._read_range()
        await read(d)
        assert has(d.lines("past"), HistoryPanelText.RECORD_AT_SERVE, address=PLACE)
