"""A panel for a plot. The mouse points at columns, marks ranges of columns, and zooms."""

from __future__ import annotations

from textual import events
from textual.message import Message

from qmon.tui.widgets.lines import Lines


class PlotPanel(Lines):
    """Posts messages with the column under the mouse. ``left_cells``: the number of cells before the first column."""

    class MouseUsed(Message):
        """The mouse was pressed, released (``released``) or dragged (``dragged``) at a column."""

        def __init__(self, column: int, *, released: bool = False, dragged: bool = False) -> None:
            super().__init__()
            self.column = column
            self.released = released
            self.dragged = dragged

    class Wheeled(Message):
        """The wheel was turned over a column. ``by``: 1 to zoom out, -1 to zoom in."""

        def __init__(self, column: int, by: int) -> None:
            super().__init__()
            self.column = column
            self.by = by

    def __init__(self, left_cells: int, *, id: str) -> None:
        super().__init__(id=id)
        self._left_cells = left_cells
        self._pressed_x: int | None = None
        self._dragged = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._pressed_x, self._dragged = event.x, False
        self.post_message(self.MouseUsed(event.x - self._left_cells))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark a range while the button is down."""
        if self._pressed_x is not None and event.x != self._pressed_x:
            self._dragged = True
            self.post_message(self.MouseUsed(event.x - self._left_cells, dragged=True))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        if self._pressed_x is not None:
            self.post_message(self.MouseUsed(event.x - self._left_cells, released=True, dragged=self._dragged))
        self._pressed_x = None

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out."""
        event.stop()
        self.post_message(self.Wheeled(event.x - self._left_cells, 1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in."""
        event.stop()
        self.post_message(self.Wheeled(event.x - self._left_cells, -1))
