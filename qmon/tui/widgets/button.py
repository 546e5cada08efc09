"""A one-line button. Brackets and arrows show the focus, so that the focus is visible without colours."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from qmon.tui.themes import tones


class Button(Widget, can_focus=True):
    """A button for enter, space or the mouse. ``changes_data``: pressing it changes data."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "choose", id="button.press")]

    class Pressed(Message):
        """The button was pressed."""

        def __init__(self, button: Button) -> None:
            super().__init__()
            self.button = button

        @property
        def control(self) -> Button:
            """The button, for selectors."""
            return self.button

    def __init__(self, label: str, *, changes_data: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.label = label
        self._changes_data = changes_data

    def set_label(self, label: str) -> None:
        """Change the label."""
        if label != self.label:
            self.label = label
            self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the width of the label with its brackets."""
        return len(self.label) + 6

    def render_line(self, y: int) -> Strip:
        """Draw ``[ Purge ]``, or ``[> Purge <]`` if the button has the focus."""
        styles = tones(self.app.theme)
        if self.has_focus:
            style = styles["badge"] if self._changes_data else styles["strong"] + Style(reverse=True)
            return Strip([Segment(f"[> {self.label} <]", style)])
        return Strip([Segment(f"[  {self.label}  ]", styles["accent" if self._changes_data else "text"])])

    def action_press(self) -> None:
        self.post_message(self.Pressed(self))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_press()
