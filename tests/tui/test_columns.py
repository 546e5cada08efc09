"""Which columns fit, how wide they are, and that they do not move while values change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.baseline_bands import Anomaly, Band
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.formatting import UNKNOWN
from qmon.model.queue_figures import BANDED_FIGURES
from qmon.model.verdicts import RULES
from qmon.model.view import QueueView
from qmon.tui import figures
from qmon.tui.overview import anomalies, column_choice
from qmon.tui.overview import queue_rows as overview
from qmon.tui.sanitize import shorten_words, text_width
from qmon.tui.widgets.grid_table import GridColumn, GridRow, PlacedColumn, natural_widths, place_columns
from tests.tui.scripted import draining, growing, queue, twelve

pytestmark = pytest.mark.unit

# The order in which narrow tables drop columns. `docs/screens.md` contains the same order.
DROPPED: Final = (
    "BECAUSE",
    "DESIGN",
    "USUAL",
    "DEPTH, PEAK",
    "FORECAST",
    "IN PROG",
    "DEAD",
    "GAP",
    "OLDEST",
    "STUCK",
    "POP/s",
    "PUSH/s",
    "READY",
)


def placed_columns(
    cells: int, queues: Sequence[QueueView] = (), columns: Sequence[GridColumn] = overview.COLUMNS
) -> tuple[PlacedColumn, ...]:
    rows = overview.rows_for(queues or twelve(), cells, {} if columns is overview.WITH_USUAL else None)
    return place_columns(columns, natural_widths(columns, rows, ()), cells)


def titles(cells: int) -> list[str]:
    return [p.column.title for p in placed_columns(cells)]


def test_what_is_essential_stays_at_80_cells() -> None:
    assert titles(80) == ["QUEUE", "READY", "STUCK", "OLDEST", "PUSH/s", "POP/s", "VERDICT"]


def test_the_gap_is_there_from_100_cells_on() -> None:
    assert set(titles(80)) | {"IN PROG", "GAP"} == set(titles(100))


def test_at_120_cells_the_trend_and_the_forecast_are_there_too() -> None:
    assert set(titles(100)) | {"DEPTH, PEAK", "FORECAST"} == set(titles(120))


def test_at_200_cells_everything_is_there() -> None:
    assert titles(200) == [c.title for c in overview.COLUMNS]


def test_narrow_tables_drop_columns_in_one_order() -> None:
    dead = next(column for column in column_choice.EXTRA_COLUMNS if column.key == "dead")
    columns = (*overview.WITH_USUAL, dead)
    widths = [max(column.width, column.least, column.shrinks_to, len(column.title)) for column in columns]
    gone: list[str] = []
    for cells in range(260, 46, -1):
        shown = {p.column.key for p in place_columns(columns, widths, cells)}
        now = [c for c in columns if c.key not in shown and c.title not in gone]
        gone += [c.title for c in sorted(now, key=lambda c: -c.rank)]
    assert tuple(gone) == DROPPED


@given(st.integers(20, 250))
def test_columns_neither_overlap_nor_overflow(cells: int) -> None:
    placed = placed_columns(cells)
    end = 0
    for p in placed:
        assert p.x > end or end == 0
        end = p.x + p.width
    assert end <= cells - 1 or len(placed) == 1


FIELDS: Final = ("ready", "in_progress", "stuck", "push_rate", "pop_rate", "dead")
FIGURES: Final = st.builds(
    Figure,
    st.none() | st.integers(0, 10**12).map(float) | st.floats(0, 1e12),
    estimated=st.booleans(),
    at_least=st.booleans(),
    age_s=st.just(0.0) | st.floats(0, 1e9),
    old=st.booleans(),
)
# At most 951 years.
AGES: Final = st.builds(replace, FIGURES, value=st.none() | st.floats(-1e5, 1e6) | st.floats(-1e9, 3e10))
GAPS: Final = st.builds(replace, FIGURES, value=st.none() | st.floats(-1e12, 1e12))
VERDICTS: Final = st.builds(
    Verdict,
    st.sampled_from([rule.code for rule in RULES]),
    st.just("because"),
    st.sampled_from(list(Severity)),
    key=st.sampled_from(["", "4", "3 4", "x r u"]),
)


@st.composite
def queues(draw: st.DrawFn) -> tuple[QueueView, ...]:
    """Draw three queues with fixed names and all kinds of values."""

    def one(name: str) -> QueueView:
        verdicts = draw(st.lists(VERDICTS, min_size=1, max_size=4, unique_by=lambda verdict: verdict.code))
        forecast = draw(
            st.sampled_from(["stable", "not moving", ""])
            | st.builds(draining, st.floats(0, 2_592_000), st.floats(0, 1))
            | st.builds(growing, st.floats(0.05, 1e9))
        )
        drawn: dict[str, Any] = {key: draw(FIGURES) for key in FIELDS}
        drawn |= {"oldest": draw(AGES), "gap": draw(GAPS), "verdict": verdicts[0], "verdicts": tuple(verdicts)}
        return replace(queue(name, forecast=forecast, points=()), **drawn)

    return tuple(map(one, ("mails", "orders", "a queue with a long name")))


def places(placed: Sequence[PlacedColumn]) -> list[tuple[str, int, int]]:
    return [(p.column.title, p.x, p.width) for p in placed]


@given(queues(), st.integers(40, 169))
def test_columns_do_not_move_while_values_change(drawn: tuple[QueueView, ...], cells: int) -> None:
    usual = tuple(queue(each.name) for each in drawn)
    assert places(placed_columns(cells, drawn)) == places(placed_columns(cells, usual))


@given(queues())
def test_the_gap_is_there_at_120_cells_for_all_values(drawn: tuple[QueueView, ...]) -> None:
    assert {"GAP", "DEPTH, PEAK", "FORECAST", "OLDEST", "VERDICT"} <= {
        p.column.title for p in placed_columns(120, drawn)
    }


@given(queues(), st.sampled_from([80, 100, 120, 200]), st.booleans())
def test_no_figure_is_cut(drawn: tuple[QueueView, ...], cells: int, is_above: bool) -> None:
    band = Band(0.0, 1.0, 0.5, 9, "Tue 14:00")
    unusual = {
        each.name: tuple(Anomaly(name, 9.0 if is_above else -1.0, band) for name in BANDED_FIGURES) for each in drawn
    }
    rows = overview.rows_for(drawn, cells, unusual)
    for p in place_columns(overview.WITH_USUAL, natural_widths(overview.WITH_USUAL, rows, ()), cells):
        if p.column.right:
            for row in rows:
                assert text_width(row.cells[p.index][0]) <= p.width, (p.column.title, row.cells[p.index])


def test_a_cell_has_the_longest_form_that_fits() -> None:
    column = next(column for column in overview.COLUMNS if column.key == "ready")
    old = Figure(40_112.0, estimated=True, age_s=12.0, old=True)
    each = (Figure(40_112.0), old, replace(old, value=112.0), Figure(123_456_789.0, at_least=True), Figure())
    shown = [figures.column_cell(figure, column)[0] for figure in each]
    assert shown == ["40,112", "~40k·12s", "~112 ·12s", "≥123.5 M", UNKNOWN]
    gap = next(column for column in overview.COLUMNS if column.key == "gap")
    assert figures.column_cell(Figure(-123_456.0, estimated=True), gap, mark=anomalies.ABOVE)[0] == "△~-123k"


def is_cut_between_words(text: str, shown: str) -> bool:
    """Return whether ``shown`` is a beginning of ``text`` that ends with a whole word."""
    kept = shown.removesuffix("…")
    return text == shown or (text.startswith(kept) and not text[len(kept)].isalnum())


@given(VERDICTS, st.integers(0, 3), st.integers(25, 34))
def test_no_verdict_is_cut_inside_a_word(verdict: Verdict, others: int, cells: int) -> None:
    more = tuple(Verdict(f"other {n}", "", Severity.WARNING) for n in range(others))
    text, _ = figures.verdict_cell(replace(queue("mails"), verdict=verdict, verdicts=(verdict, *more)), verdict.key)
    shown = figures.shorten_verdict(text, cells)
    assert text_width(shown) <= cells
    assert (f"+{others}" in shown) == bool(others), "other problems are always counted"
    assert is_cut_between_words(text, shown.removesuffix(f" +{others}"))


@given(st.text("ab ,:(é請", max_size=40).map("a".__add__), st.integers(0, 40))
def test_texts_are_cut_between_words(text: str, cells: int) -> None:
    shown = shorten_words(text, cells)
    assert text_width(shown) <= cells
    if text_width(text.partition(" ")[0]) < cells:
        assert is_cut_between_words(text, shown)


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
