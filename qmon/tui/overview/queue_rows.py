"""The rows of the overview: one row per queue, and one row above the queues that share a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qmon.model.baseline_bands import Anomaly
from qmon.model.combined_figures import GROUP_FIGURES, GroupView
from qmon.model.queue_figures import FIGURES_BY_FIELD, QUEUE_FIGURES
from qmon.model.view import QueueView
from qmon.tui import figures
from qmon.tui.actions.availability import verdict_keys
from qmon.tui.overview import anomalies
from qmon.tui.plots.sparklines import depth_sparkline
from qmon.tui.sanitize import clean, shorten_middle, shorten_words
from qmon.tui.widgets.grid_table import Cell, GridColumn, GridRow, sorted_by_value

TREND_CELLS: Final = 6
# Width in cells of the peak to the right of a trend, with a blank.
_PEAK_CELLS: Final = 5

# Widths follow from the formats, so columns do not move while values change: a count has up to nine cells (`~999,999`,
# `~999k·59m`), an age six (`23h59m`). `rank` is the order in which narrow tables drop columns: BECAUSE first, then
# DESIGN, USUAL, DEPTH, FORECAST, IN PROG, the columns that the user added, and GAP. All columns up to FORECAST fit into
# 120 cells, and all columns up to GAP into 100. `docs/screens.md` and a test contain this order.
COLUMNS: Final = (
    GridColumn(
        "queue",
        "QUEUE",
        least=10,
        most=24,
        shrinks_to=10,
        shorten=shorten_middle,
        about="name of the queue in its layout",
    ),
    GridColumn("design", "DESIGN", rank=11, most=14, about="table design of the queue"),
    figures.figure_column("ready", 1, 9),
    figures.figure_column("in_progress", 7, 7),
    figures.figure_column("stuck", 3, 6),
    figures.figure_column("oldest", 4, 6),
    figures.figure_column("push_rate", 2, 8),
    figures.figure_column("pop_rate", 2, 8),
    figures.figure_column("gap", 5, 8),
    GridColumn(
        "trend",
        "DEPTH, PEAK",
        rank=9,
        width=TREND_CELLS + _PEAK_CELLS,
        sortable=False,
        from_width=120,
        about="ready messages over the last ten minutes, and the greatest number in this time",
    ),
    GridColumn(
        "forecast",
        "FORECAST",
        rank=8,
        width=10,
        sortable=False,
        about="↓ drains in about this time, ↑ grows at this rate",
    ),
    GridColumn(
        "verdict",
        "VERDICT",
        rank=0,
        width=34,
        shrinks_to=25,
        shorten=figures.shorten_verdict,
        about="verdict: ■ critical ▲ warning ‖ paused ◦ notice · fine",
    ),
    GridColumn(
        "proof",
        "BECAUSE",
        rank=12,
        least=30,
        shorten=shorten_words,
        grows=True,
        sortable=False,
        from_width=170,
        about="the figures behind the verdict",
    ),
)

# The columns that `s` cycles through.
SORT_COLUMNS: Final = ("verdict", "queue", "ready", "stuck", "oldest", "push_rate", "pop_rate")

# The rank of the queue, worst first.
DEFAULT_SORT: Final = ("verdict", True)

_BY_KEY: Final = {column.key: column for column in COLUMNS}
_USUAL_AT: Final = next(place for place, column in enumerate(COLUMNS) if column.key == "verdict")
# The columns if the target has baselines.
WITH_USUAL: Final = (*COLUMNS[:_USUAL_AT], anomalies.COLUMN, *COLUMNS[_USUAL_AT:])


# Whether the trend is drawn, and the proof, if not the proof of the worst verdict.
_RowStyle = tuple[bool, str | None]
# A queue and a style, and the row built from the two.
_CachedRow = tuple[QueueView, _RowStyle, GridRow]
# The cached rows, keyed by queue name.
RowCache = dict[str, _CachedRow]


def rows_for(
    queues: Sequence[QueueView],
    cells: int,
    unusual: anomalies.UnusualByQueue | None = None,
    cache: RowCache | None = None,
    groups: Sequence[GroupView] = (),
    own_proofs: Mapping[str, str] | None = None,
) -> tuple[GridRow, ...]:
    """Return one row per queue, in the given order. A row of sums is above the first queue of each of ``groups``.

    The trend is only drawn if the table may have room for the column of trends.

    Args:
        unusual: the figures outside their bands, for rows of ``WITH_USUAL``.
        cache: the rows that earlier calls built. This call updates the cache.
        own_proofs: the proofs of queues that share a cause, see ``causes``.
    """
    wide = cells >= _BY_KEY["trend"].from_width
    cache, own_proofs = {} if cache is None else cache, own_proofs or {}
    made = {
        queue.name: _reuse_or_build_row(queue, (wide, own_proofs.get(queue.name)), cache.get(queue.name))
        for queue in queues
    }
    cache.clear()
    cache.update(made)
    first = {next((name for name in made if name in group.queues), ""): group for group in groups}
    above = {name: (_group_row(group),) for name, group in first.items()}
    plain = tuple(row for name, (_, _, its) in made.items() for row in (*above.get(name, ()), its))
    if unusual is None:
        return plain
    by_name = {queue.name: queue for queue in queues}
    return tuple(_add_anomaly_cell(row, by_name.get(row.key), unusual.get(row.key, ())) for row in plain)


def _add_anomaly_cell(row: GridRow, queue: QueueView | None, known_anomalies: Sequence[Anomaly]) -> GridRow:
    marked = list(row.cells)
    for place, column in enumerate(COLUMNS):
        mark = anomalies.figure_mark(column.key, known_anomalies)
        if mark and queue is not None:
            marked[place] = figures.column_cell(queue.figure(column.key), column, "accent", mark=mark)
    cells = (*marked[:_USUAL_AT], anomalies.anomaly_cell(known_anomalies), *marked[_USUAL_AT:])
    return GridRow(row.key, cells, row.notes, row.heading)


def _group_row(group: GroupView) -> GridRow:
    """Return the row of sums of a group. It has no verdict, because verdicts are shown per queue."""
    cells = {key: figures.column_cell(figure, _BY_KEY[key]) for key, figure in group.figures.items() if key in _BY_KEY}
    cells |= {
        "queue": (clean(group.name), "title"),
        "design": ("table", "muted"),
        "verdict": (f"{len(group.queues)} queues", "muted"),
    }
    return GridRow(
        f"\0{group.name}",
        tuple(cells.get(column.key, ("", "muted")) for column in COLUMNS),
        {each.field: clean(reason) for each in GROUP_FIGURES if (reason := group.figures[each.field].reason)},
        heading=True,
    )


def _reuse_or_build_row(queue: QueueView, look: _RowStyle, before: _CachedRow | None) -> _CachedRow:
    """Return the cached row if its queue has not been read since the row was built."""
    if before is not None and before[0] is queue and before[1] == look:
        return before
    return queue, look, _row(queue, *look)


def _row(queue: QueueView, with_trend: bool, own_proof: str | None) -> GridRow:
    def cell(key: str, tone: str = "text") -> Cell:
        return figures.column_cell(queue.figure(key), _BY_KEY[key], tone)

    stuck_tone = "alarm" if queue.stuck.value else "text"
    severity = queue.verdict.severity
    proof = clean(queue.verdict.proof) if own_proof is None else own_proof
    return GridRow(
        queue.name,
        (
            (clean(queue.name), "strong" if severity > 1 else "text"),
            (_design_text(queue), "muted"),
            cell("ready"),
            cell("in_progress"),
            cell("stuck", stuck_tone),
            cell("oldest"),
            cell("push_rate"),
            cell("pop_rate"),
            cell("gap"),
            (_trend_text(queue) if with_trend else "", "depth fill"),
            figures.short_forecast_cell(queue),
            figures.verdict_cell(queue, verdict_keys(queue)),
            (proof, "text" if severity > 1 else "muted"),
        ),
        {each.field: clean(reason) for each in QUEUE_FIGURES if (reason := queue.figure(each.field).reason)},
    )


def _design_text(queue: QueueView) -> str:
    """Return the design.

    For a library's queue, return ``library``, because the queue's name already begins with the name of the library.
    """
    return queue.layout.design if queue.layout.part is None else "library"


def _trend_text(queue: QueueView) -> str:
    depth = depth_sparkline(queue, TREND_CELLS)
    return f"{depth.bars()} {depth.peak_text()}" if queue.history else ""


def _sort_value(queue: QueueView, column: str) -> Any:
    """Return the value by which a column is sorted. All values of a column have one type, or are ``None``."""
    if column in FIGURES_BY_FIELD:
        return FIGURES_BY_FIELD[column].figure_for(queue).value
    return _design_text(queue) if column == "design" else queue.name.casefold()


def sort_queues(ranked: Sequence[QueueView], by: str, descending: bool) -> list[QueueView]:
    """Return the queues sorted by one column, then by name. Queues without a value are always last.

    ``ranked``: the queues, worst first.
    """
    if by == DEFAULT_SORT[0]:
        return list(ranked if descending else reversed(ranked))
    by_name = sorted(ranked, key=lambda queue: queue.name.casefold())
    return sorted_by_value(by_name, lambda queue: _sort_value(queue, by), descending=descending)


def searchable_text(queue: QueueView) -> str:
    """Return the text that the filter searches."""
    tables = f"{queue.layout.table} {queue.layout.data_table or ''}"
    return f"{queue.name} {queue.layout.design} {tables} {queue.verdict.code}"
