"""Screen 1: all queues, the verdict of the worst, and the trends of the queue under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.model.combined_figures import group_views
from qmon.model.figure import Verdict
from qmon.model.ranking import Ranking
from qmon.model.shared_causes import SharedCause, shared_causes
from qmon.model.verdicts.access_verdicts import unreachable_verdict
from qmon.model.view import QueueView, View
from qmon.monitor.source import Phase, ReadScope
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.overview import anomalies, broker_panel, causes
from qmon.tui.overview import queue_rows as overview
from qmon.tui.overview.overview_lines import target_lines, why_lines
from qmon.tui.overview.queue_list_screen import QueueListScreen
from qmon.tui.overview.summary import summary_line
from qmon.tui.overview.trend_panel import span_text, trend_lines
from qmon.tui.sanitize import clean, shorten
from qmon.tui.shared.header import waiting_lines
from qmon.tui.shown_state import Freshness, ShownState
from qmon.tui.themes import is_plain
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn
from qmon.tui.widgets.lines import Lines


class OverviewText(Text):
    """The texts of the screen."""

    GUESSED = "{count} only guessed"
    ONE_CANDIDATE = "1 more table may be a queue"
    CANDIDATES = "{count:,} more tables may be queues"
    PROPOSE_KEY = "W: {queues}"
    NO_QUEUE = "no queue is known on this target"
    NO_QUEUE_PRESS_W = "no queue is known on this target; W lists tables that may be queues"


@dataclass(frozen=True, slots=True)
class _RankedView:
    """The queues of a view, worst first, and the causes that several queues share."""

    view: View
    queues: tuple[QueueView, ...]
    causes: tuple[SharedCause, ...]


class OverviewScreen(QueueListScreen):
    """All queues of the target."""

    NAME = "overview"
    BINDINGS = keys.OVERVIEW
    SORT_COLUMNS = overview.SORT_COLUMNS
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-short"), (32, "-tall")]  # noqa: RUF012  # see DashboardScreen

    def __init__(self) -> None:
        self.unusual: anomalies.UnusualByQueue | None = None
        super().__init__()
        self.add_class("-waiting")
        self._row_cache: overview.RowCache = {}
        self._ranking = Ranking()
        self._ranked: _RankedView | None = None

    def compose_body(self) -> ComposeResult:
        yield Lines(id="summary")
        yield Lines(id="target")
        yield Lines(id="causes", most=causes.MAX_CAUSE_LINES)
        with Vertical(id="overview"):
            yield Lines(id="queues-heading")
            yield Grid(overview.COLUMNS, id="queues")
            yield Lines(id="broker-heading")
            yield Lines(id="broker", most=8)
            yield Lines(id="trends-heading")
            yield Lines(id="trends")
            yield Lines(id="why", most=3)
        yield Lines(id="waiting")

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        """Draw the view. Before the first view, show the current step of connecting."""
        view = shown.view
        if view is None:
            self.add_class("-waiting")
            self.query_one("#waiting", Lines).show(lambda cells, rows: waiting_lines(shown, now, cells, rows))
            return
        self.query_one("#target", Lines).show(lambda cells, _: target_lines(view, cells), stale=stale)
        ranked = self._ranked_view_for(view)
        # A single call, because each change of a screen's classes restyles all its widgets.
        known_broker = view.server.broker is not None
        self.update_classes({"-waiting": False, "-caused": bool(ranked.causes), "-broker": known_broker})
        if ranked.causes:
            self.query_one("#causes", Lines).show(
                lambda cells, _: causes.cause_lines(ranked.causes, len(view.queues), cells), stale=stale
            )
        kept = overview.sort_queues(
            filter_items(ranked.queues, self.filter_text, overview.searchable_text), *self.sorted_by
        )
        empty = self.no_match_text("queue") if view.queues else self._no_queue_text
        known = self.app.known_past.baselines
        self.unusual = anomalies.find_unusual(known, view.target, view.queues) if view.target in known.hours else None
        self.grid.use_columns(self.columns)
        proofs, groups = causes.own_proofs(ranked.causes, kept), group_views(view.queues)
        rows = overview.rows_for(kept, self.size.width, self.unusual, self._row_cache, groups, proofs)
        rows = self.row_arranger.arrange_rows(rows, self.base_columns, self.columns, view.queue)
        self.grid.show(rows, sorted_by=self.sorted_by, stale=stale, empty=empty)
        self._draw_broker(view, stale=stale)
        self._draw_selected(view, stale=stale, lost=_lost_verdict(shown))
        self.set_read_scope()

    def _draw_broker(self, view: View, *, stale: bool) -> None:
        if view.server.broker is not None:
            most = 8 if self.size.height >= 32 else 4
            self.query_one("#broker", Lines).show(
                lambda cells, rows: broker_panel.broker_lines(view, cells, min(rows, most)), stale=stale
            )

    def _ranked_view_for(self, view: View) -> _RankedView:
        """Rank the queues once per view."""
        if self._ranked is None or self._ranked.view is not view:
            queues = self._ranking.rank_queues(view)
            self._ranked = _RankedView(view, queues, shared_causes(queues))
        return self._ranked

    def _queue_at_cursor(self, view: View) -> QueueView | None:
        return view.queue(self.grid.cursor) if self.grid.cursor is not None else None

    def _draw_selected(self, view: View, *, stale: bool, lost: Verdict | None = None) -> None:
        """Draw the parts that depend on the cursor: the trends and the ``why:`` lines."""
        queue, worst = self._queue_at_cursor(view), self._ranked_view_for(view).queues
        plain = is_plain(self.app.theme)
        self.query_one("#why", Lines).show(
            lambda cells, rows: why_lines(view, worst, queue, cells, min(rows, 3), lost=lost), stale=stale
        )
        self.query_one("#trends", Lines).show(
            lambda cells, rows: trend_lines(queue, cells, rows, plain=plain) if queue is not None else [], stale=stale
        )

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Draw the summary and the titles of the panels."""
        view = shown.view
        if view is None:
            return
        fresh, worst = shown.freshness(now), self._ranked_view_for(view).queues
        age_s = None if fresh is Freshness.LIVE else shown.age_s(now)
        to_keep = self._guessed_queues_text(view)
        hint = "" if self.query_one("#queues-heading").display else to_keep  # short screens hide this title
        self.query_one("#summary", Lines).show(
            lambda cells, _: [summary_line(view, worst, cells, age_s, hint)], stale=fresh is Freshness.STALE
        )
        count = len(self.grid.row_keys)
        of = f"{count} of {len(view.queues)}" if self.filter_text else f"{count}"
        self.show_heading("queues-heading", "queues", f"{of} · {to_keep}" if to_keep else of)
        if view.server.broker is not None:
            self.show_heading("broker-heading", "Service Broker", broker_panel.broker_summary(view.server.broker))
        queue = self._queue_at_cursor(view)
        name = shorten(clean(queue.name), 30) if queue is not None else "trends"
        extra = span_text(queue) if queue is not None else ""
        if queue is not None and self.unusual and (anomaly := anomalies.anomaly_text(self.unusual.get(queue.name, ()))):
            extra += f" · {anomaly}"
        self.show_heading("trends-heading", name, extra)

    def read_scope(self) -> ReadScope:
        """Return a focus on the queue under the cursor and on the visible queues around it."""
        return ReadScope(cursor=self.grid.cursor, visible=frozenset(self.grid.visible_row_keys))

    def current_queue(self) -> QueueView | None:
        """Return the queue under the cursor."""
        view = self.app.shown.view
        return self._queue_at_cursor(view) if view is not None else None

    @on(Grid.Selected)
    def _cursor_moved(self, message: Grid.Selected) -> None:
        if not self.is_active:
            return  # another screen or a dialog is over this one, and shows its own queue
        self.app.selected = message.key
        shown = self.app.shown
        if shown.view is not None:
            self._draw_selected(shown.view, stale=self.is_stale, lost=_lost_verdict(shown))
            self._draw_frame(shown, self.app.clock())
        self.set_read_scope()

    @on(Grid.Opened)
    def _open_row(self, message: Grid.Opened) -> None:
        self.app.selected = message.key
        self.app.switch_mode("queue")

    def _guessed_queues_text(self, view: View) -> str:
        """Return a text with two numbers: watched queues that are only guessed, and other tables that may be queues.

        Empty if this dashboard cannot write the configuration.
        """
        guessed = sum(queue.layout.is_guess for queue in view.queues)
        watched = {table for queue in view.queues for table in (queue.layout.table, queue.layout.data_table)}
        more = len(self.app.candidate_tables - watched)
        parts = [OverviewText.GUESSED.render(count=guessed)] if guessed else []
        if more:
            parts.append(OverviewText.ONE_CANDIDATE if more == 1 else OverviewText.CANDIDATES.render(count=more))
        is_shown = parts and not self.app.unwritable_reason
        return OverviewText.PROPOSE_KEY.render(queues=", ".join(parts)) if is_shown else ""

    @property
    def _no_queue_text(self) -> str:
        return OverviewText.NO_QUEUE if self.app.unwritable_reason else OverviewText.NO_QUEUE_PRESS_W

    def action_count_exactly(self) -> None:
        self.app.count_exactly(self.grid.cursor)

    @property
    def base_columns(self) -> tuple[GridColumn, ...]:
        return overview.COLUMNS if self.unusual is None else overview.WITH_USUAL

    def prepare_to_show(self) -> None:
        """Put the cursor on the queue that was last shown on another screen."""
        super().prepare_to_show()
        if self.app.selected is not None:
            self.grid.select(self.app.selected)


def _lost_verdict(shown: ShownState) -> Verdict | None:
    """Return the verdict on a target that cannot be reached, or ``None``."""
    return unreachable_verdict(shown.state.reason) if shown.state is not None and shown.phase is Phase.LOST else None
