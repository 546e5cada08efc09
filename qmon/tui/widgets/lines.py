"""A panel of lines, rewritten with each new view. Only changed lines are repainted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from qmon.tui.spans import Line, cut_line, line_width
from qmon.tui.widgets.toned import TonedWidget

# (cells, rows) -> lines. `rows` is the number of rows that fit.
Writer = Callable[[int, int], Sequence[Line]]


# qmon does not use Textual's Static, because it repaints the whole panel after each change. A new view for twelve
# panels took 3.7 ms here and 8.4 ms there.
class Lines(TonedWidget, can_focus=False):
    """Lines of spans.

    With ``height: auto``, the widget has one row for each line that the writer returns, but at most ``most`` rows.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None, most: int = 100) -> None:
        super().__init__(id=id, classes=classes)
        self._writer: Writer | None = None
        self._lines: list[Line] = []
        self._most = most

    def show(self, writer: Writer, *, stale: bool = False) -> None:
        """Draw the lines that ``writer`` returns for the current size. ``stale``: draw the lines grey."""
        self._writer = writer
        if stale != self._stale:
            self._stale = stale
            self.refresh()
        self._write_lines()

    @property
    def plain_lines(self) -> list[str]:
        """The lines on screen, as plain text."""
        return ["".join(text for text, _ in line) for line in self._lines]

    def _write_lines(self) -> None:
        cells, rows = self.size
        if self._writer is None or not cells:
            return
        old = self._lines
        if self.styles.is_auto_height:
            self._lines = list(self._writer(cells, self._most))[: self._most]
            if len(old) != len(self._lines):
                self.refresh(layout=True)
                return
        else:
            self._lines = list(self._writer(cells, rows))[:rows]
        changed = [
            Region(0, y, cells, 1) for y, (before, after) in enumerate(zip_longest(old, self._lines)) if before != after
        ]
        if changed:
            self.refresh(*changed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines that the writer needs for this width."""
        if self._writer is None:
            return 1
        return max(1, min(self._most, len(self._writer(width, self._most))))

    def _on_resize(self, event: events.Resize) -> None:
        self._write_lines()

    def render_line(self, y: int) -> Strip:
        """Draw one line, as wide as the widget."""
        cells, styles = self.size.width, self.tones
        line = cut_line(self._lines[y], cells) if y < len(self._lines) else ()
        segments = [Segment(text, styles[tone]) for text, tone in line]
        if (rest := cells - line_width(line)) > 0:
            segments.append(Segment(" " * rest, self.base))
        return Strip(segments, cells)
