"""The base class of screens that a key opens over another screen to show one queue in detail."""

from __future__ import annotations

from textual.app import ComposeResult

from qmon.model.view import QueueView
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.spans import LinePart, spread_parts
from qmon.tui.widgets.dialog import leave_screen
from qmon.tui.widgets.lines import Lines


class QueueDetailScreen(DashboardScreen):
    """A screen over the screen on which the user has chosen the queue. ``esc`` goes back to that screen.

    Args:
        queue: the queue's name.
    """

    def __init__(self, queue: str) -> None:
        super().__init__()
        self.queue = queue

    def compose_body(self) -> ComposeResult:
        yield Lines(id="title")

    def draw_title(self, about: str, *parts: LinePart) -> None:
        """Draw the title: the subject of the screen, the queue, and ``parts``."""
        name = shorten(clean(self.queue), 48)
        left = [LinePart(((f" {about} ", "muted"), ("of ", "text"), (name, "strong"))), *parts]
        self.query_one("#title", Lines).show(lambda cells, _: [spread_parts(left, [], cells)])

    @property
    def gone_text(self) -> str:
        """The text of a screen whose queue is no longer watched."""
        return ScreenText.QUEUE_GONE.render(queue=clean(self.queue))

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
