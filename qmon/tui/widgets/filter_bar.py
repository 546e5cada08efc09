"""The line in which a filter is typed; the table follows with every key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from qmon.tui.sanitize import clean, shorten, width
from qmon.tui.themes import tones

T = TypeVar("T")


class FilterBar(Widget, can_focus=True):
    """One line of text with its end as the only place to type: enter keeps the filter, escape drops it."""

    ALLOW_SELECT = False

    class Typed(Message):
        """The text has changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Done(Message):
        """No more typing; ``kept``: with enter, not with escape."""

        def __init__(self, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, prompt: str, hint: str) -> None:
        super().__init__()
        self.text = ""
        self._prompt = f" {prompt}: "
        self._hint = hint

    def open(self, text: str) -> None:
        """Appear, and go on typing after ``text``."""
        self.text = text
        self.display = True
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Every printable key is part of the text, whatever it does elsewhere."""
        if event.key == "enter":
            self.post_message(self.Done(kept=True))
        elif event.key == "escape":
            self._set("")
            self.post_message(self.Done(kept=False))
        elif event.key in ("backspace", "ctrl+h"):
            self._set(self.text[:-1])
        elif event.key == "ctrl+u":
            self._set("")
        elif event.is_printable and event.character is not None:
            self._set(self.text + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """A pasted text, on one line."""
        event.stop()
        self._set(self.text + " ".join(event.text.split()))

    def _set(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.post_message(self.Typed(text))
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The prompt, the text, a cursor, and what may be typed."""
        cells = self.size.width
        styles = tones(self.app.theme)
        shown = shorten(clean(self.text), max(1, cells - len(self._prompt) - 3))
        used = len(self._prompt) + width(shown) + 1
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


def fits(wanted: str, words: str) -> bool:
    """Whether ``words`` hold ``wanted``, whatever its case; ``!wanted``: whether they do not. Empty fits all."""
    needle = wanted.removeprefix("!").strip().casefold()
    return not needle or (needle in words.casefold()) is not wanted.startswith("!")


def keep(items: Iterable[T], wanted: str, words: Callable[[T], str]) -> list[T]:
    """The items whose words fit the filter."""
    return [item for item in items if not wanted or fits(wanted, words(item))]
