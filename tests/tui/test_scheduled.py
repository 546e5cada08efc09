"""Scheduled and dead messages on the overview and in ``status``: shown once they are not 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.cli.commands.status import status_rows
from qmon.model.figure import Figure
from qmon.model.view import View
from tests.tui.driving import dashboard
from tests.tui.scripted import queue, twelve, view

pytestmark = pytest.mark.unit

SIZES = [(80, 24), (120, 40), (200, 50)]


def given(scheduled: Figure, dead: Figure, sequence: int = 7) -> View:
    later = replace(queue("later", ready=12), scheduled=scheduled, dead=dead)
    return view((*twelve(), later), sequence=sequence, at=2.0 * sequence)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_what_is_0_or_unknown_has_no_column(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        await d.give(given(Figure(0.0), Figure.unknown("no index leads to them")))
        assert not {"SCHED", "DEAD"} & set(d.grid.visible_titles)
        assert "scheduled" not in d.lines("target")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_what_is_not_0_is_shown_and_stays(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        await d.give(given(Figure(829.0), Figure(1000.0, at_least=True)))
        assert "scheduled 829   dead ≥1,000" in d.lines("target")
        if size[0] == 80:
            assert {"READY", "OLDEST", "VERDICT▾"} <= set(d.text().split())
            return
        assert {"SCHED", "DEAD"} <= set(d.grid.visible_titles)
        d.grid.select("later")
        assert cells(d.grid) == ("829", "≥1,000")
        d.grid.select("orders")
        assert cells(d.grid)[0] == "–", "unknown is not 0"
        await d.give(given(Figure(0.0), Figure(0.0), 8))
        assert {"SCHED", "DEAD"} <= set(d.grid.visible_titles)


async def test_chosen_columns_stay_as_they_are_and_the_line_has_the_rest() -> None:
    async with dashboard((120, 40)) as d:
        await d.give(given(Figure(0.0), Figure(0.0)))
        await d.press("C", "down", "space", "escape")
        titles = d.grid.visible_titles
        await d.give(given(Figure(829.0), Figure(0.0), 8))
        assert d.grid.visible_titles == titles
        assert "scheduled 829" in d.lines("target")


def test_status_has_both() -> None:
    headers, rows = status_rows(given(Figure(829.0), Figure.unknown("no index leads to them")))
    of = dict(zip(headers, next(row for row in rows if row[0] == "later"), strict=True))
    assert (of["SCHED"], of["DEAD"]) == ("829", "–")


def cells(grid: object) -> tuple[str, str]:
    row, columns = grid.cursor_row, [column.key for column in grid.columns]  # type: ignore[attr-defined]
    return row.cells[columns.index("scheduled")][0], row.cells[columns.index("dead")][0]
