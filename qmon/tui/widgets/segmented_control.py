"""A choice among a few words. The keys space, left and right go through the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from qmon.tui.themes import tones


class SegmentedControl(Widget, can_focus=True):
    """Shows all words on one line and marks the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "move(1)", "next", id="cycle.next"),
        Binding("left", "move(-1)", "previous", id="cycle.previous"),
    ]

    class Changed(Message):
        """Another word was chosen; ``at`` is its index."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    def __init__(self, choices: Sequence[str], at: int = 0) -> None:
        super().__init__()
        self.words, self.at = tuple(choices), at

    def action_move(self, by: int) -> None:
        """Choose the next or previous word, wrapping around."""
        if self.words:
            self._choose_word((self.at + by) % len(self.words))

    def _choose_word(self, at: int) -> None:
        if at != self.at:
            self.at = at
            self.refresh()
            self.post_message(self.Changed(at))

    def render_line(self, y: int) -> Strip:
        """Draw ``‹dead›  dead or unknown  any``."""
        styles = tones(self.app.theme)
        segments = []
        for index, word in enumerate(self.words):
            on = index == self.at
            tone = ("badge" if self.has_focus else "strong") if on else "muted"
            segments.append(Segment(f"‹{word}›" if on else f" {word} ", styles[tone]))
            segments.append(Segment(" "))
        return Strip(segments).adjust_cell_length(self.size.width).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        x = 0
        for index, word in enumerate(self.words):
            if x <= event.x < x + len(word) + 2:
                self._choose_word(index)
            x += len(word) + 3
