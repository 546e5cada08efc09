"""Keeps a screen at the size of the terminal when sizes change faster than screens are painted."""

from __future__ import annotations

from textual import events
from textual.screen import Screen, ScreenResultType


class TerminalSized(Screen[ScreenResultType], inherit_bindings=False):
    """A screen for which each resize event means the terminal's current size.

    After each change of its size, Textual's screen posts itself an event with that size. While the screen is busy, the
    terminal may already have another size. The event with the old size would then replace the newer event, or both
    events would follow each other for ever.
    """

    def on_resize(self, event: events.Resize) -> None:
        """Change the event before Textual's own handler gets it."""
        event.size = self.app.size
