"""A panel of lines that a plot is drawn on: the mouse points at columns, marks a stretch of them, and zooms."""

from __future__ import annotations

from textual import events
from textual.message import Message

from qmon.tui.widgets.lines import Lines


class PlotPanel(Lines):
    """Tells its screen which column is meant; ``left``: cells before the first one."""

    class Pressed(Message):
        """The button went down, or up again (``released``) after the mouse was ``dragged``, at a column."""

        def __init__(self, column: int, *, released: bool = False, dragged: bool = False) -> None:
            super().__init__()
            self.column = column
            self.released = released
            self.dragged = dragged

    class Wheeled(Message):
        """The wheel was turned over a column: ``by`` 1 away from the plot, -1 closer."""

        def __init__(self, column: int, by: int) -> None:
            super().__init__()
            self.column = column
            self.by = by

    def __init__(self, left: int, *, id: str) -> None:
        super().__init__(id=id)
        self._left = left
        self._from: int | None = None
        self._dragged = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Point at a column."""
        self.capture_mouse()
        self._from, self._dragged = event.x, False
        self.post_message(self.Pressed(event.x - self._left))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """With the button down, mark a stretch."""
        if self._from is not None and event.x != self._from:
            self._dragged = True
            self.post_message(self.Pressed(event.x - self._left, dragged=True))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """The end of what is marked."""
        self.release_mouse()
        if self._from is not None:
            self.post_message(self.Pressed(event.x - self._left, released=True, dragged=self._dragged))
        self._from = None

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Away: a longer range."""
        event.stop()
        self.post_message(self.Wheeled(event.x - self._left, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Closer: a shorter range."""
        event.stop()
        self.post_message(self.Wheeled(event.x - self._left, -1))
