"""The line of a table above its queues in the overview: its content, and that the cursor skips it."""

from __future__ import annotations

import pytest

from qmon.model.figure import Severity, Verdict
from qmon.model.view import View
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import figure, part, queue, view


def shop() -> View:
    """Two tables with several queues each, a table with one, and a separate queue; two have problems."""
    critical = Verdict("stuck in progress", "3 in progress for more than 1 m 00 s", Severity.CRITICAL)
    warning = Verdict("no consumers", "12 ready and no worker that serves it has reported", Severity.WARNING)
    empty = figure(None, "nothing is ready")
    return view(
        (
            part("oban/mails", ready=214, in_progress=4, stuck=3, oldest=80, push=18.2, pop=17.9, verdict=critical),
            part("oban/invoices", ready=40, in_progress=1, oldest=2.5, push=4.1, pop=4.1),
            part("oban/reports", ready=0, in_progress=0, oldest=empty, push=0.0, pop=0.0),
            part("graphile-worker/send", ready=12, oldest=31, push=None, pop=None, verdict=warning),
            part("graphile-worker/resize", ready=7, in_progress=2, oldest=1.2, push=None, pop=None),
            part("river/default", ready=3, in_progress=1),
            queue("orders", "fifo", ready=figure(5_004, estimated=True), push=91.0, pop=90.0, gap=5_100),
        )
    )


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_tables_stand_above_their_queues(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot(found=shop())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


async def test_the_cursor_passes_over_it() -> None:
    async with dashboard((120, 40)) as d:
        await d.give(shop())
        grid = d.app.screen.query_one("#queues")
        lines = [line for line in d.text().split("\n") if line.startswith((" oban ", " grap…orker "))]
        assert [line.split()[:4] for line in lines] == [["oban", "254", "5", "3"], ["grap…orker", "19", "2", "0"]]
        assert all("queues" in line for line in lines)
        seen = [grid.cursor]  # type: ignore[attr-defined]
        for _ in range(6):
            await d.press("down")
            seen.append(grid.cursor)  # type: ignore[attr-defined]
        assert sorted(seen) == sorted(each.name for each in shop().queues)
        for _ in range(8):
            await d.press("up")
        assert grid.cursor == seen[0]  # type: ignore[attr-defined]
        await d.press("end", "pageup", "pagedown", "home")
        assert grid.cursor == seen[0]  # type: ignore[attr-defined]


async def test_a_filter_keeps_the_table_of_the_queues_that_match_with_all_its_queues() -> None:
    async with dashboard((120, 40)) as d:
        await d.give(shop())
        await d.press("slash", *"invoices", "enter")
        lines = [line.split() for line in d.text().split("\n")]
        assert ["oban", "254"] in [line[:2] for line in lines]
        assert not [line for line in lines if line[:1] == ["grap…orker"]]
