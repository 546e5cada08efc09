"""The base class of screens that a key opens over another screen to show one queue in detail."""

from __future__ import annotations

from qmon.model.view import QueueView
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.widgets.dialog import leave_screen


class QueueDetailScreen(DashboardScreen):
    """A screen over the screen on which the user has chosen the queue. ``esc`` goes back to that screen.

    Args:
        queue: the queue's name.
    """

    def __init__(self, queue: str) -> None:
        super().__init__()
        self.queue = queue

    def current_queue(self) -> QueueView | None:
        """Return the queue, or ``None`` if it is no longer watched."""
        view = self.app.shown.view
        return view.queue(self.queue) if view is not None else None

    def action_back(self) -> None:
        """Remove the filter. If there is no filter, go back to the screen below."""
        if self.filter_text:
            super().action_back()
        else:
            leave_screen(self)
