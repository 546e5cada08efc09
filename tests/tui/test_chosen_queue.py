"""The screen shows the requested queue, wherever the overview's cursor moves by itself in the meantime."""

from __future__ import annotations

import pytest

from qmon.tui.app import QmonApp
from qmon.tui.sanitize import clean
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.grid import Grid
from tests.tui.driving import Driver, dashboard
from tests.tui.scripted import Clock, Scripted, view

NAMES = sorted(queue.name for queue in view().queues)


def shown_queue(d: Driver) -> str | None:
    """Return the name on the queue screen in front."""
    assert d.app.current_mode == "queue" and d.app.selected is not None
    assert clean(d.app.selected)[:20] in d.text()
    return d.app.selected


@pytest.mark.parametrize("name", NAMES)
async def test_the_first_queue_is_opened_although_the_overview_gets_its_cursor(name: str) -> None:
    async with dashboard(first_queue=name) as d:
        await d.give()
        assert shown_queue(d) == name
        await d.give()
        assert shown_queue(d) == name


@pytest.mark.parametrize("name", NAMES)
async def test_figures_that_arrive_while_the_first_queue_opens_do_not_change_it(name: str) -> None:
    source, clock = Scripted(), Clock()
    app = QmonApp(DashboardTarget(source, source.fold), clock=clock)
    app.first_queue = name
    async with app.run_test(size=(120, 40)) as pilot:
        source.give(view())
        d = Driver(app, source, clock, pilot)
        await d.settle()
        assert shown_queue(d) == name


async def test_a_cursor_move_that_is_still_under_way_does_not_change_the_queue_that_was_opened() -> None:
    async with dashboard() as d:
        await d.give()
        overview, first = d.app.screen, d.app.selected
        for name in NAMES:
            for other in NAMES:
                overview.post_message(Grid.Selected(other))
            await d.app.go_to_queue(name)
            for other in NAMES:
                overview.post_message(Grid.Selected(other))
            await d.settle()
            assert shown_queue(d) == name
        await d.press("1")
        assert d.grid.cursor == d.app.selected == NAMES[-1] != first
