"""Which columns fit, and how wide they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.figure import Verdict
from qmon.tui.overview import queue_rows as overview
from qmon.tui.widgets.grid_table import GridColumn, GridRow, natural_widths, place_columns
from tests.tui.scripted import twelve

pytestmark = pytest.mark.unit


def titles(cells: int) -> list[str]:
    rows = overview.rows_for(twelve(), cells)
    return [p.column.title for p in place_columns(overview.COLUMNS, natural_widths(overview.COLUMNS, rows, ()), cells)]


def test_what_is_essential_stays_at_80_cells() -> None:
    assert titles(80) == ["QUEUE", "READY", "STUCK", "OLDEST", "PUSH/s", "POP/s", "VERDICT"]


def test_at_120_cells_the_trend_is_there_too() -> None:
    assert set(titles(80)) | {"IN PROG", "GAP", "DEPTH", "FORECAST"} == set(titles(120))


def test_at_200_cells_everything_is_there() -> None:
    assert titles(200) == [c.title for c in overview.COLUMNS]


@given(st.integers(20, 250))
def test_columns_neither_overlap_nor_overflow(cells: int) -> None:
    rows = overview.rows_for(twelve(), cells)
    placed = place_columns(overview.COLUMNS, natural_widths(overview.COLUMNS, rows, ()), cells)
    end = 0
    for p in placed:
        assert p.x > end or end == 0
        end = p.x + p.width
    assert end <= cells - 1 or len(placed) == 1


def test_columns_do_not_shrink_back() -> None:
    columns = (GridColumn("a", "A", right=True),)
    wide = natural_widths(columns, [GridRow("1", (("123456", "text"),))], ())
    assert natural_widths(columns, [GridRow("1", (("1", "text"),))], wide) == wide


def test_a_row_is_made_anew_only_where_its_queue_was_read() -> None:
    known: overview.RowCache = {}
    queues = twelve()
    first = overview.rows_for(queues, 120, cache=known)
    assert [row.cells for row in first] == [row.cells for row in overview.rows_for(queues, 120)]
    again = overview.rows_for([replace(queue) if n % 2 else queue for n, queue in enumerate(queues)], 120, cache=known)
    assert [one is other for one, other in zip(first, again, strict=True)] == [n % 2 == 0 for n in range(len(queues))]
    judged = [replace(queue, verdicts=tuple([queue.verdict]), verdict=Verdict("stuck", "since")) for queue in queues]
    assert all("stuck" in str(row.cells) for row in overview.rows_for(judged, 120, cache=known))
    wide = overview.rows_for(queues, 200, cache=known)
    assert [row.cells for row in wide] == [row.cells for row in overview.rows_for(queues, 200)]
