"""Screen 3: waits with their meaning for queues, server health, the horizon, and the cost of pops."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.app import ComposeResult

from qmon.model.operation_records import OperationResult
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample
from qmon.model.view import QueueView
from qmon.model.waits.horizon_holders import long_holder
from qmon.model.waits.wait_rates import WaitRate
from qmon.monitor.source import ReadScope
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.availability import read_only_reason
from qmon.tui.actions.request import ActionRequest, end_session_request
from qmon.tui.shared import topics
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.shown_state import ShownState
from qmon.tui.themes import is_plain
from qmon.tui.waits import horizon_panel, server_health_panel, usage_panel, wait_plot, waits_panel
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class WaitsScreenText(Text):
    """Why the holder of the horizon cannot be ended."""

    NO_HOLDER = "no session holds the horizon for long"
    NOT_A_SESSION = "{holder} is not a session"


_SERVER_ROWS: Final = 6
# The maximum number of server health lines on a short screen.
_SERVER_ROWS_SHORT: Final = 2


class WaitsScreen(DashboardScreen):
    """Shows waits on top, then server health, the horizon, and the tables and indexes of one queue.

    On short screens, server health is only shown if there is a problem. ``i`` shows it on the whole screen.
    """

    NAME = "waits"
    BINDINGS = keys.WAITS

    def __init__(self) -> None:
        super().__init__()
        self._shows_server_only = False

    def compose_body(self) -> ComposeResult:
        yield Lines(id="waits-heading")
        yield Lines(id="counters")
        yield Grid(waits_panel.COLUMNS, opens=False, id="waits")
        yield Lines(id="wait-past")
        yield Lines(id="meaning", most=4)
        yield Lines(id="state-heading")
        yield Lines(id="state")
        yield Lines(id="horizon-heading")
        yield Lines(id="horizon", most=7)
        yield Lines(id="use-heading")
        yield Lines(id="use", most=12)

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        view, most = shown.view, self.size.height
        found = view.server.waiting if view is not None else None
        self.set_class(view is not None and view.server.counters is not None, "-counted")
        self.query_one("#counters", Lines).show(lambda cells, _: waits_panel.counter_lines(view, cells), stale=stale)
        self.grid.columns = waits_panel.columns_for(found)
        made = waits_panel.rows_for(found, self.filter_text, waits_panel.past_values(self.app.memory))
        self.grid.show(made, stale=stale, empty=waits_panel.empty_text(view, self.filter_text))
        self._draw_meaning(stale=stale)
        tall = most >= 32
        self._draw_server_health(shown, tall=tall, stale=stale)
        self.query_one("#horizon", Lines).show(
            lambda cells, rows: horizon_panel.horizon_lines(view, cells, min(rows, 7 if tall else 3)), stale=stale
        )
        self.query_one("#use", Lines).show(
            lambda cells, rows: usage_panel.usage_lines(self._shown_queue(shown), cells, min(rows, 12 if tall else 4)),
            stale=stale,
        )

    def _draw_server_health(self, shown: ShownState, *, tall: bool, stale: bool) -> None:
        """Draw server health."""
        view = shown.view
        self.set_class(self._shows_server_only, "-whole")
        self.set_class(
            self._shows_server_only
            or server_health_panel.has_bad_reading(view)
            or (tall and server_health_panel.has_readings(view)),
            "-stated",
        )
        most = 100 if self._shows_server_only else _SERVER_ROWS if tall else _SERVER_ROWS_SHORT
        self.query_one("#state", Lines).show(
            lambda cells, rows: server_health_panel.server_lines(
                view, cells, min(rows, most), in_full=self._shows_server_only
            ),
            stale=stale,
        )

    def action_server_health(self) -> None:
        """Show server health on the whole screen, or the waits again."""
        self._shows_server_only = not self._shows_server_only
        self.redraw()

    def _selected_wait(self) -> WaitRate | None:
        """Return the wait under the cursor."""
        found = self.app.shown.view.server.waiting if self.app.shown.view is not None else None
        rates = (*found.rates, *found.latches) if found is not None else ()
        return next((each for each in rates if each.key == self.grid.cursor), None)

    def help_topics(self) -> list[topics.TopicGroup]:
        """Return the meaning of the wait under the cursor, and what helps."""
        rate, row = self._selected_wait(), self.grid.cursor_row
        if rate is None or row is None:
            return []
        return topics.wait_topics(rate.name, row.cells[-1][0], rate.kind, rate.event)

    def _draw_meaning(self, *, stale: bool) -> None:
        """Draw the plot and the meaning of the wait under the cursor. If this is no wait, plot the sum of all waits."""
        rate, most = self._selected_wait(), 4 if self.size.height >= 32 else 2
        memory, plain, past = self.app.memory, is_plain(self.app.theme), self.query_one("#wait-past", Lines)
        there = self.grid.size.height + past.size.height - len(self.grid.row_keys) - 1
        self.set_class(memory is not None and there >= wait_plot.MIN_ROWS, "-plotted")
        past.show(lambda cells, rows: wait_plot.wait_plot_lines(rate, memory, cells, rows, plain=plain), stale=stale)
        self.query_one("#meaning", Lines).show(
            lambda cells, rows: waits_panel.meaning_lines(rate, cells, min(rows, most)), stale=stale
        )

    def _shown_queue(self, shown: ShownState) -> QueueView | None:
        """Return the selected queue, or the queue whose pops touch the most rows."""
        view = shown.view
        if view is None or not view.queues:
            return None
        chosen = view.queue(self.app.selected) if self.app.selected is not None else None
        costs = {q.name: q.use.touched_per_pop.value or 0.0 for q in view.queues if q.use is not None}
        return chosen or max(view.queues, key=lambda queue: costs.get(queue.name, -1.0))

    def draw_headings(self, shown: ShownState, now: float) -> None:
        queue = self._shown_queue(shown)
        found = shown.view.server.waiting if shown.view is not None else None
        self.show_heading("waits-heading", "waits", waits_panel.waits_summary(found))
        self.show_heading("state-heading", "server", server_health_panel.age_text(shown.view))
        self.show_heading("horizon-heading", "horizon")
        self.show_heading("use-heading", usage_panel.usage_title(queue), usage_panel.usage_summary(queue))

    def read_scope(self) -> ReadScope:
        """Return a focus that samples waits more often."""
        return ReadScope(closely=True)

    # ------------------------------------------------------------------------------------------------------- keys

    def _horizon_holder(self) -> HorizonSample | None:
        view = self.app.shown.view
        return long_holder(view.server.horizon) if view is not None else None

    def disabled_reasons(self) -> dict[str, str]:
        """Return why the holder of the horizon cannot be ended: it is not a session, or changes are disabled."""
        why, holder = read_only_reason(self.app.runner, self.app.shown.view), self._horizon_holder()
        if why is None and holder is None:
            why = WaitsScreenText.NO_HOLDER
        elif why is None and holder is not None and holder.kind != HolderKind.SESSION:
            why = WaitsScreenText.NOT_A_SESSION.render(holder=horizon_panel.holder_name(holder))
        return {"end-session": why} if why is not None else {}

    def request_for(self, action: str) -> ActionRequest | None:
        """Return the request to end the session that holds the horizon."""
        holder = self._horizon_holder()
        return end_session_request(holder.session, holder.started_at) if holder is not None else None

    def handle_result(self, result: OperationResult | None) -> None:
        """Poll immediately, to show the new holder of the horizon."""
        self.app.source.poll_now()

    def action_neighbour(self, by: int) -> None:
        """Show the tables of the next or previous queue."""
        view, queue = self.app.shown.view, self._shown_queue(self.app.shown)
        if view is None or queue is None:
            return
        names = sorted((q.name for q in view.queues), key=str.casefold)
        self.app.selected = self.neighbour_queue(by, names, queue.name)
        self.redraw()

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self._draw_meaning(stale=self.is_stale)
