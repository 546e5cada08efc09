"""Keeps a screen at the size of the terminal when sizes change faster than screens are painted."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.screen import Screen


def use_current_size(screen: Screen[Any], event: events.Resize) -> None:
    """Let a resize event of a screen mean the terminal's current size. Call it before Textual handles the event.

    After each change of its size, Textual's screen posts itself an event with that size. While the screen is busy, the
    terminal may already have another size. The event with the old size would then replace the newer event, or both
    events would follow each other for ever.
    """
    event.size = screen.app.size
