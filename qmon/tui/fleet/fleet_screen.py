"""The base class of screens that show every target. The target under the cursor is the current target."""

from __future__ import annotations

from textual import getters

from qmon.tui.fleet import target_health
from qmon.tui.fleet.fleet_app import FleetApp
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.watched_target import WatchedTarget
from qmon.tui.widgets.lines import Lines


class FleetScreen(DashboardScreen):
    """A screen that shows all targets."""

    app = getters.app(FleetApp)

    def on_mount(self) -> None:
        self.watch(self.app, "changes", self._figures_changed, init=False)

    def _figures_changed(self) -> None:
        if self in self.app.screen_stack:
            self.redraw()

    def _shown_changed(self) -> None:
        """Draw the alerts and the frozen badge. ``_figures_changed`` handles new figures."""
        if self in self.app.screen_stack and self.is_mounted and self.app.is_running:
            self._draw_frame(self.app.shown, self.app.clock())

    def redraw(self) -> None:
        """Draw everything, unless the display is frozen."""
        if not (self.is_mounted and self.app.is_running):
            return
        shown, now = self.app.shown, self.app.clock()
        if not shown.frozen:
            self.draw_figures(shown, now, stale=False)
        self._draw_frame(shown, now)

    def tick(self) -> None:
        """Update the ages, and show targets that stopped responding as lost."""
        self.redraw()

    def show_summary(self, now: float) -> list[WatchedTarget]:
        """Draw the summary line. Return the targets, worst first."""
        ranked = target_health.rank_members(self.app.members.values(), now)
        self.query_one("#summary", Lines).show(lambda cells, _: [target_health.fleet_summary_line(ranked, now, cells)])
        return ranked
