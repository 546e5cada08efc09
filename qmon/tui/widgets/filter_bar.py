"""The line in which a filter is typed. The table updates with every key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from qmon.tui.sanitize import clean, shorten, text_width
from qmon.tui.themes import tones

T = TypeVar("T")


class FilterBar(Widget, can_focus=True):
    """One line of text that can only be edited at its end. Enter keeps the filter, and escape removes it."""

    ALLOW_SELECT = False

    class Typed(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Done(Message):
        """The user has finished typing. ``kept``: the user pressed enter, not escape."""

        def __init__(self, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, prompt: str, hint: str) -> None:
        super().__init__()
        self.text = ""
        self._prompt = f" {prompt}: "
        self._hint = hint

    def open(self, text: str) -> None:
        """Show the filter line, with ``text`` as the current filter."""
        self.text = text
        self.display = True
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Add every printable key to the text, even if the key has a meaning on the screen."""
        if event.key == "enter":
            self.post_message(self.Done(kept=True))
        elif event.key == "escape":
            self._set_text("")
            self.post_message(self.Done(kept=False))
        elif event.key in ("backspace", "ctrl+h"):
            self._set_text(self.text[:-1])
        elif event.key == "ctrl+u":
            self._set_text("")
        elif event.is_printable and event.character is not None:
            self._set_text(self.text + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Add the pasted text. Several lines are joined to one line."""
        event.stop()
        self._set_text(self.text + " ".join(event.text.split()))

    def _set_text(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.post_message(self.Typed(text))
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the prompt, the text, a cursor and the hint."""
        cells = self.size.width
        styles = tones(self.app.theme)
        shown = shorten(clean(self.text), max(1, cells - len(self._prompt) - 3))
        used = len(self._prompt) + text_width(shown) + 1
        hint = shorten(f"   {self._hint}", max(0, cells - used))
        return (
            Strip(
                [
                    Segment(self._prompt, styles["accent"]),
                    Segment(shown, styles["strong"]),
                    Segment(" ", Style(reverse=True)),
                    Segment(hint, styles["muted"]),
                ]
            )
            .adjust_cell_length(cells)
            .apply_style(self.rich_style)
        )


def matches_filter(filter_text: str, text: str) -> bool:
    """Return True if ``text`` contains ``filter_text``, ignoring case.

    For the filter ``!word``, return True if ``text`` does not contain the word. An empty filter matches all texts.
    """
    needle = filter_text.removeprefix("!").strip().casefold()
    return not needle or (needle in text.casefold()) is not filter_text.startswith("!")


def filter_items(items: Iterable[T], filter_text: str, to_text: Callable[[T], str]) -> list[T]:
    """Return the items whose text matches the filter. ``to_text`` returns the text of an item."""
    return [item for item in items if not filter_text or matches_filter(filter_text, to_text(item))]
