"""Keeps a screen at the size of the terminal when sizes change faster than screens are painted."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.screen import Screen


def use_current_size(screen: Screen[Any], event: events.Resize) -> None:
    """Write the terminal's current size into a resize event. Must be called before Textual handles the event.

    After each change of its size, Textual's screen posts an event with the new size to itself. If the screen is busy,
    the terminal may already have another size when the event is handled. The event with the old size would then replace
    the newer event, or both events would alternate for ever.
    """
    event.size = screen.app.size
