"""Screen 0: all targets, worst first, with the sums and the worst problem of each target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult

from qmon.model import formatting
from qmon.model.figure import Figure
from qmon.model.queue_figures import FIGURES_BY_FIELD
from qmon.model.verdicts.access_verdicts import unreachable_verdict
from qmon.tui import figures, keys
from qmon.tui.fleet import target_health
from qmon.tui.fleet.fleet_screen import FleetScreen
from qmon.tui.overview.overview_lines import why_lines
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.shared.header import ENGINES
from qmon.tui.shown_state import ShownState
from qmon.tui.watched_target import Health, WatchedTarget
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import Cell, GridColumn, GridRow, sorted_by_value
from qmon.tui.widgets.lines import Lines

COLUMNS: Final = (
    GridColumn("target", "TARGET", least=10, most=30, shrinks_to=12, about="name of the target"),
    GridColumn("environment", "ENV", rank=2, most=12, about="environment; in PROD, actions need more confirmation"),
    GridColumn("server", "SERVER", rank=7, most=20, about="the server and its version"),
    GridColumn(
        "state",
        "STATE",
        rank=1,
        least=14,
        most=18,
        sortable=False,
        about="connection state and age of the figures",
    ),
    GridColumn("queues", "QUEUES", True, 6, most=8, about="number of watched queues"),
    GridColumn(
        "ready", "READY", True, 2, width=9, about="ready messages in all its queues; ≥: some queues are unknown"
    ),
    figures.figure_column("stuck", 5, 6),
    figures.figure_column("dead", 9, 6),
    figures.figure_column("oldest", 3, 6),
    figures.figure_column("push_rate", 4, 8),
    figures.figure_column("pop_rate", 4, 8),
    GridColumn(
        "worst", "WORST", rank=0, least=24, shorten=shorten_words, grows=True, about="the worst queue and its verdict"
    ),
)
_WITHOUT_ENVIRONMENT: Final = tuple(column for column in COLUMNS if column.key != "environment")
DEFAULT_SORT: Final = ("worst", True)
_SUM_COLUMNS: Final = tuple(column for column in COLUMNS if column.key in FIGURES_BY_FIELD)
_SUMMED: Final = tuple(column.key for column in _SUM_COLUMNS)
_NO_FIGURE: Final = Figure()


class TargetsScreen(FleetScreen):
    """All targets."""

    NAME = "targets"
    BINDINGS = keys.TARGETS
    SORT_COLUMNS = ("worst", "target", "queues", "ready", "stuck", "oldest", "push_rate", "pop_rate")

    def __init__(self) -> None:
        super().__init__()
        self.sorted_by = DEFAULT_SORT

    def compose_body(self) -> ComposeResult:
        yield Lines(id="summary")
        yield Grid(COLUMNS, id="targets")
        yield Lines(id="why", most=3)

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        ranked = self.show_summary(now)
        kept = sort_members(
            filter_items(ranked, self.filter_text, lambda each: searchable_text(each, now)), *self.sorted_by
        )
        named = any(each.shown.prod or each.shown.environment for each in ranked)
        self.grid.columns = COLUMNS if named else _WITHOUT_ENVIRONMENT
        rows = [target_row(each, now, self.grid.columns) for each in kept]
        self.grid.show(rows, sorted_by=self.sorted_by, empty=self.no_match_text("target"))
        self._draw_why(now)

    def _draw_why(self, now: float) -> None:
        member = self.app.members.get(self.grid.cursor or "")
        view = member.shown.view if member is not None else None
        if member is None or view is None:
            reason = clean(member.reason) if member is not None else ""
            self.query_one("#why", Lines).show(lambda cells, _: [((f" {reason}", "text"),)] if reason else [])
            return
        gone = unreachable_verdict(member.reason) if member.lost_at is not None else None
        self.query_one("#why", Lines).show(
            lambda cells, rows: why_lines(view, member.queues, None, cells, min(rows, 3), lost=gone),
            stale=member.is_lost(now),
        )

    @on(Grid.Selected)
    def _cursor_moved(self, message: Grid.Selected) -> None:
        if message.key is not None and self.is_active:
            self.app.select_target(message.key)
            self._draw_why(self.app.clock())

    @on(Grid.Opened)
    async def _open_row(self, message: Grid.Opened) -> None:
        await self.app.go_to_target(message.key)

    def prepare_to_show(self) -> None:
        """Put the cursor on the target that was last shown on another screen."""
        super().prepare_to_show()
        if self.app.has_shown_target:
            self.grid.select(self.app.current.name)


def target_row(member: WatchedTarget, now: float, columns: Sequence[GridColumn] = COLUMNS) -> GridRow:
    """Return the row of a target. Figures of a lost target are grey."""
    symbol, tone = target_health.MARKS[member.health(now)]
    name_tone = tone if member.health(now) > Health.NOTICE else "text"
    known, lost = member.shown.view is not None, member.is_lost(now)
    sums = {field: member.totals.get(field, _NO_FIGURE) for field in _SUMMED}
    cells: dict[str, Cell] = {
        "target": (f"{symbol} {clean(member.name)}", name_tone),
        "environment": ("PROD", "strong") if member.shown.prod else (clean(member.shown.environment), "muted"),
        "server": (_server_text(member), "muted"),
        "state": target_health.state_cell(member, now),
        "queues": (f"{len(member.queues)}" if known else formatting.UNKNOWN, "text" if known else "faint"),
        "worst": target_health.worst_cell(member, now),
        **{column.key: figures.column_cell(sums[column.key], column, aged=False) for column in _SUM_COLUMNS},
    }
    if lost:
        cells |= {field: (cells[field][0], "faint") for field in ("queues", *_SUMMED)}
    notes = {field: clean(figure.reason) for field, figure in sums.items() if figure.reason}
    return GridRow(member.name, tuple(cells[column.key] for column in columns), notes, id=clean(member.name))


def _server_text(member: WatchedTarget) -> str:
    view = member.shown.view
    return clean(f"{ENGINES.get(view.engine, view.engine)} {view.server_version}") if view is not None else ""


def searchable_text(member: WatchedTarget, now: float) -> str:
    """Return the text that the filter searches."""
    return " ".join(
        (
            member.name,
            member.shown.environment,
            _server_text(member),
            target_health.state_cell(member, now)[0],
            target_health.worst_cell(member, now)[0],
        )
    )


def sort_members(ranked: list[WatchedTarget], by: str, descending: bool) -> list[WatchedTarget]:
    """Return the targets sorted by one column.

    Targets without a value are always last. ``ranked``: the targets, worst first.
    """
    if by == DEFAULT_SORT[0]:
        return ranked if descending else ranked[::-1]
    return sorted_by_value(ranked, lambda member: _sort_value(member, by), descending=descending)


def _sort_value(member: WatchedTarget, column: str) -> float | str | None:
    if column in _SUMMED:
        return member.totals.get(column, _NO_FIGURE).value
    if column == "queues":
        return len(member.queues) if member.shown.view is not None else None
    return {"target": member.name, "environment": member.shown.environment, "server": _server_text(member)}[
        column
    ].casefold()
