"""A text that can be scrolled, searched and selected. Long lines are broken. Only the visible rows are drawn."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from qmon.texts import Text
from qmon.tui.keys import PAGER
from qmon.tui.sanitize import text_width
from qmon.tui.widgets.toned import TonedWidget


class PagerText(Text):
    """The position in a text."""

    LINES = "lines {first:,}–{last:,} of {count:,}"


@dataclass(frozen=True, slots=True)
class PagerLine:
    """One line, safe for a terminal.

    ``muted``: the text is qmon's own and not a value. ``name``: the number of characters at the start that name the
    value.
    """

    text: str
    muted: bool = False
    name: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    """A part of a line that is drawn as one row."""

    line: int
    start: int
    end: int


class Pager(TonedWidget, can_focus=True):
    """Shows lines in a scrolling view. ``search`` marks matches."""

    BINDINGS = PAGER
    ALLOW_SELECT = True

    class Moved(Message):
        """The visible lines have changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[PagerLine, ...] = ()
        self._rows: list[_Row] = []
        self._top = 0
        self._matches: list[_Row] = []
        self._match_index = 0
        self._search_text = ""

    def show(self, lines: Sequence[PagerLine], *, stale: bool = False) -> None:
        """Show these lines. If they differ from the previous lines, go to the first line."""
        if stale != self._stale:
            self._stale = stale
            self.refresh()
        if tuple(lines) != self._lines:
            self._lines, self._top = tuple(lines), 0
            self._break_lines()
            self.search(self._search_text)

    # ----------------------------------------------------------------------------------------------------- searching

    def search(self, text: str) -> None:
        """Mark all matches, ignoring case, and go to the first match from the current row on.

        An empty text removes all marks.
        """
        self._search_text, self._matches, self._match_index = text, [], 0
        if text:
            pattern = re.compile(re.escape(text), re.IGNORECASE)
            self._matches = [
                _Row(n, match.start(), match.end())
                for n, line in enumerate(self._lines)
                for match in pattern.finditer(line.text)
            ]
            here = self._rows[self._top] if self._rows else _Row(0, 0, 0)
            self._match_index = next(
                (i for i, f in enumerate(self._matches) if (f.line, f.start) >= (here.line, here.start)), 0
            )
            self._scroll_to_match()
        self.refresh()

    def go_to_match(self, by: int) -> None:
        """Go to the next match (``1``) or the previous match (``-1``)."""
        if self._matches:
            self._match_index = (self._match_index + by) % len(self._matches)
            self._scroll_to_match()
            self.refresh()

    @property
    def match_position(self) -> tuple[int, int]:
        """The number of the current match (the first is 1), and the number of matches."""
        return (self._match_index + 1 if self._matches else 0, len(self._matches))

    def _scroll_to_match(self) -> None:
        if self._matches:
            row = self._row_index_for(self._matches[self._match_index].line, self._matches[self._match_index].start)
            if not self._top <= row < self._top + self.size.height:
                self._scroll_to_row(row - self.size.height // 3)

    def _row_index_for(self, line: int, start: int) -> int:
        return max(0, bisect_right(self._rows, (line, start), key=lambda row: (row.line, row.start)) - 1)

    # ----------------------------------------------------------------------------------------------------- scrolling

    @property
    def position_text(self) -> str:
        """The visible lines: ``lines 1–20 of 100``. An empty text if all lines are visible."""
        rows, height = len(self._rows), self.size.height
        if rows <= height or not height:
            return ""
        first, last = self._rows[self._top], self._rows[min(rows, self._top + height) - 1]
        return PagerText.LINES.render(first=first.line + 1, last=last.line + 1, count=len(self._lines))

    def _scroll_to_row(self, top: int) -> None:
        top = min(max(0, top), max(0, len(self._rows) - self.size.height))
        if top != self._top:
            self._top = top
            self.refresh()
            self.post_message(self.Moved())

    def action_move(self, by: int) -> None:
        """Scroll down by this number of rows."""
        self._scroll_to_row(self._top + by)

    def action_page(self, by: int) -> None:
        """Scroll down by this number of screenfuls."""
        self._scroll_to_row(self._top + by * max(1, self.size.height - 1))

    def action_end(self, end: int) -> None:
        """Go to the first row (``-1``) or the last row (``1``)."""
        self._scroll_to_row(0 if end < 0 else len(self._rows))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-3)

    # ------------------------------------------------------------------------------------------------------- drawing

    def _on_resize(self, event: events.Resize) -> None:
        here = self._rows[self._top] if self._rows else None
        self._break_lines()
        self._top = 0
        if here is not None:
            self._scroll_to_row(self._row_index_for(here.line, here.start))
        self.refresh()
        self.post_message(self.Moved())

    def _break_lines(self) -> None:
        cells = max(1, self.size.width - 1)
        self._rows = [row for number, line in enumerate(self._lines) for row in _break_line(number, line, cells)]

    @property
    def plain_rows(self) -> list[str]:
        """The rows on screen, as plain text."""
        rows = self._rows[self._top : self._top + self.size.height]
        return [self._lines[row.line].text[row.start : row.end] for row in rows]

    def render_line(self, y: int) -> Strip:
        """Draw one row with its matches and the selection."""
        cells, styles, index = self.size.width, self.tones, self._top + y
        if index >= len(self._rows):
            return Strip([Segment(" " * cells, self.base)], cells)
        row = self._rows[index]
        line = self._lines[row.line]
        marks = [(f.start, f.end, "badge" if i == self._match_index else "tag") for i, f in self._matches_in(row)]
        if (selected := self.text_selection) is not None and (span := selected.get_span(index)) is not None:
            end = row.end if span[1] < 0 else row.start + span[1]
            marks = [(row.start + span[0], end, "cursor")]
        if row.start < line.name:
            first = min((start for start, _, _ in marks), default=line.name)
            marks.insert(0, (row.start, min(line.name, first), "muted"))
        segments, at = [], row.start
        tone = styles["muted" if line.muted else "text"]
        for start, end, mark in marks:
            start, end = max(start, at), min(end, row.end)
            if start < end:
                segments += [Segment(line.text[at:start], tone), Segment(line.text[start:end], tone + styles[mark])]
                at = end
        segments.append(Segment(line.text[at : row.end], tone))
        segments.append(Segment(" " * max(0, cells - 1 - text_width(line.text[row.start : row.end])), self.base))
        return Strip.join([Strip([Segment(" ", self.base)]), Strip(segments).apply_offsets(0, index)])

    def _matches_in(self, row: _Row) -> list[tuple[int, _Row]]:
        first = bisect_right(self._matches, (row.line, row.start), key=lambda match: (match.line, match.end))
        out = []
        for number in range(first, len(self._matches)):
            found = self._matches[number]
            if (found.line, found.start) >= (row.line, row.end):
                break
            out.append((number, found))
        return out

    # ----------------------------------------------------------------------------------------------------- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text with its original line breaks."""
        if not self._rows:
            return None
        first, last = (
            self._text_position(selection.start, 0),
            self._text_position(selection.end, len(self._rows) - 1, last=True),
        )
        texts = [line.text for line in self._lines[first[0] : last[0] + 1]]
        texts[-1] = texts[-1][: last[1]]
        texts[0] = texts[0][first[1] :]
        return "\n".join(texts), "\n"

    def _text_position(self, offset: Offset | None, otherwise: int, *, last: bool = False) -> tuple[int, int]:
        row = self._rows[min(max(0, otherwise if offset is None else offset.y), len(self._rows) - 1)]
        if offset is None:
            return row.line, row.end if last else row.start
        return row.line, min(row.end, row.start + max(0, offset.x))

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def _break_line(number: int, line: PagerLine, cells: int) -> list[_Row]:
    """Break a line into rows of ``cells`` cells. Break qmon's own text at blanks."""
    text = line.text
    if text.isascii() and not line.muted:
        return [_Row(number, at, min(len(text), at + cells)) for at in range(0, max(1, len(text)), cells)]
    rows, start, used, blank = [], 0, 0, 0
    for at, character in enumerate(text):
        taken = text_width(character)
        if used + taken > cells and at > start:
            end = blank if line.muted and blank > start else at
            rows.append(_Row(number, start, end))
            start, used = end, text_width(text[end:at])
        used += taken
        if character == " ":
            blank = at + 1
    return [*rows, _Row(number, start, len(text))]
