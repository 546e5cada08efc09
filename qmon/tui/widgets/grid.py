"""A table of keyed rows that repaints only what has changed.

The cursor is on the first row until the user moves it. Then the cursor stays on its row, even if the row moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from qmon.tui.keys import GRID, bindings_in
from qmon.tui.sanitize import pad, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.themes import Tones, tones
from qmon.tui.widgets.grid_table import GridColumn, GridRow, PlacedColumn, natural_widths, place_columns
from qmon.tui.widgets.toned import TonedWidget

_ARROWS = {True: "▾", False: "▴"}


# qmon does not use Textual's DataTable, because it is much slower. A view in which a tenth of the rows have changed
# took 1.8 ms here and 51.8 ms there with 20 rows, and 3.6 ms and 146 ms with 200 rows.
class Grid(TonedWidget, can_focus=True):
    """A header line with rows below it.

    The rows must already be sorted and filtered, because the grid receives texts, not values.
    """

    BINDINGS = GRID

    class Selected(Message):
        """The cursor has moved to another row; ``key`` is ``None`` if there are no rows."""

        def __init__(self, key: str | None) -> None:
            super().__init__()
            self.key = key

    class Opened(Message):
        """A row was opened with enter or a double click."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Beyond(Message):
        """The user paged past the last row (``direction`` is 1) or the first row (``direction`` is -1)."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    class SortAsked(Message):
        """A header was clicked."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    def __init__(self, columns: Sequence[GridColumn], *, opens: bool = True, id: str | None = None) -> None:
        """``opens``: rows can be opened."""
        super().__init__(id=id)
        self.columns = tuple(columns)
        self.opens = opens
        self.cursor: str | None = None
        self._is_cursor_moved = False
        self._empty = ""
        self._rows: tuple[GridRow, ...] = ()
        self._widths: tuple[int, ...] = ()
        self._placed: tuple[PlacedColumn, ...] = ()
        self._sorted: tuple[str, bool] = ("", True)
        self._top = 0
        self._tooltip_text = ""
        self._chosen_key = ""

    @property
    def offered_bindings(self) -> list[Binding]:
        """The keys that have an effect in this table."""
        return [b for b in bindings_in(GRID) if self.check_action(b.action, ())]

    @property
    def row_keys(self) -> tuple[str, ...]:
        """The keys of the rows that the cursor can be on, from the top."""
        return _row_keys(self._rows)

    @property
    def visible_row_keys(self) -> tuple[str, ...]:
        """The keys of the rows on screen."""
        return _row_keys(self._rows[self._top : self._top + max(0, self.size.height - 1)])

    @property
    def chosen_column(self) -> GridColumn | None:
        """The column chosen with ``←`` and ``→``, if it is on screen."""
        return next((p.column for p in self._placed if p.column.key == self._chosen_key), None)

    @property
    def visible_titles(self) -> tuple[str, ...]:
        """The titles of the columns on screen."""
        return tuple(p.column.title for p in self._placed)

    @property
    def visible_text(self) -> str:
        """The text on screen, without the cuts that narrow columns make."""
        rows = self._rows[self._top : self._top + max(0, self.size.height - 1)]
        cells = (row.cells[p.index][0] for row in rows for p in self._placed)
        return "\n".join((*self.visible_titles, *cells))

    def use_columns(self, columns: Sequence[GridColumn]) -> None:
        """Use these columns from the next ``show`` on. Each row must then have a cell for each of these columns."""
        if tuple(columns) != self.columns:
            self.columns, self._widths = tuple(columns), ()

    def show(
        self, rows: Sequence[GridRow], *, sorted_by: tuple[str, bool] = ("", True), stale: bool = False, empty: str = ""
    ) -> None:
        """Show these rows in this order.

        ``sorted_by``: the key of the sort column, and whether the order is descending. ``stale``: draw the rows grey.
        ``empty``: the text to show if there are no rows.
        """
        old, old_top, height = self._rows, self._top, len(self._rows)
        look = (self._placed, self._sorted, self._stale, self._empty)
        self._rows, self._sorted, self._stale = tuple(rows), sorted_by, stale
        self._empty = empty or self._empty
        # Columns never get narrower, so old rows need not be measured again.
        known = set(map(id, old)) if self._widths else set()
        self._place_columns([row for row in self._rows if id(row) not in known])
        cursor = self.cursor
        if not self._is_cursor_moved:
            self._set_cursor(next(iter(self.row_keys), None))
        elif self.cursor not in self.row_keys:
            self._set_cursor(self._nearest_key(old))
        self._scroll_to_cursor()
        if len(self._rows) != height and self.styles.is_auto_height:
            self.refresh(layout=True)
        elif look != (self._placed, self._sorted, self._stale, self._empty) or old_top != self._top:
            self.refresh()
        else:
            self._paint_changes(old, cursor)

    def _nearest_key(self, old: Sequence[GridRow]) -> str | None:
        """Return the row for the cursor if its row no longer exists: the row that is now at the same place."""
        keys, before = self.row_keys, _row_keys(old)
        at = before.index(self.cursor) if self.cursor in before else 0
        return keys[min(at, len(keys) - 1)] if keys else None

    def _paint_changes(self, old: Sequence[GridRow], old_cursor: str | None) -> None:
        """Repaint only the cells that differ."""
        cells, rows = self.size
        changed: list[Region] = []
        for line in range(rows - 1):
            index = self._top + line
            before = old[index] if index < len(old) else None
            after = self._rows[index] if index < len(self._rows) else None
            if before is None and after is None:
                break
            if before is None or after is None or (before.key == old_cursor) != (after.key == self.cursor):
                changed.append(Region(0, line + 1, cells, 1))
            elif before.cells != after.cells:
                differ = [p for p in self._placed if before.cells[p.index] != after.cells[p.index]]
                if differ:  # two regions would cost more than the cells in between
                    left, right = differ[0].x, min(differ[-1].x + differ[-1].width, cells)
                    changed.append(Region(left, line + 1, right - left, 1))
        if changed:
            self.refresh(*changed)

    def _place_columns(self, unmeasured: Sequence[GridRow]) -> None:
        self._widths = natural_widths(self.columns, unmeasured, self._widths)
        self._placed = place_columns(self.columns, self._widths, self.size.width)

    def _scroll_to_cursor(self) -> None:
        """Scroll so that the cursor is visible and no line stays empty."""
        visible = max(1, self.size.height - 1)
        at = self._cursor_index()
        above = 1 if visible > 1 and at > 0 and self._rows[at - 1].heading else 0
        self._top = min(max(self._top, at - visible + 1), at - above)
        self._top = max(0, min(self._top, len(self._rows) - visible))

    def _cursor_index(self) -> int:
        return next((i for i, row in enumerate(self._rows) if row.key == self.cursor), 0)

    def _set_cursor(self, key: str | None) -> None:
        if key != self.cursor:
            self.cursor = key
            self.post_message(self.Selected(key))

    @property
    def rows(self) -> tuple[GridRow, ...]:
        """All rows, including rows that are not on the screen."""
        return self._rows

    def select(self, key: str) -> None:
        """Put the cursor on the row with this key, if it exists."""
        if key in self.row_keys:
            self._is_cursor_moved = True
            self._set_cursor(key)
            self._scroll_to_cursor()
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height of the header and all rows. An empty table has one line below its header."""
        return 1 + max(1, len(self._rows))

    # ------------------------------------------------------------------------------------------------- painting

    def render_line(self, y: int) -> Strip:
        """Draw the header, a row, or the text of an empty table."""
        cells, styles = self.size.width, self.tones
        if y == 0:
            return self._header_strip(styles, cells)
        index = self._top + y - 1
        if not self._rows and y == 1:
            return Strip([Segment(pad(f" {self._empty}", cells), styles["muted"])], cells)
        if index >= len(self._rows):
            return Strip.blank(cells, self.base)
        row = self._rows[index]
        cursor = tones(self.app.theme, stale=self._stale)["cursor"] if row.key == self.cursor else None
        under = self.base if cursor is None else styles["cursor"]
        segments, x = [], 0
        for p in self._placed:
            text, tone = row.cells[p.index]
            segments.append(Segment(" " * (p.x - x), under))
            style = styles[tone] if cursor is None else styles["muted" if tone == "faint" else tone] + cursor
            segments.append(Segment(pad(text, p.width, right=p.column.right, shorten=p.column.shorten), style))
            x = p.x + p.width
        segments.append(Segment(" " * max(0, cells - x - 1), under))
        segments.append(self._scrollbar_segment(y, styles, under))
        return Strip(segments).adjust_cell_length(cells, self.base)

    def _header_strip(self, styles: Tones, cells: int) -> Strip:
        segments, x = [], 0
        for p in self._placed:
            by, descending = self._sorted
            is_sorted = by == p.column.key
            segments.append(Segment(" " * (p.x - x), self.base))
            style = styles["strong" if is_sorted else "title"]
            if p.column.key == self._chosen_key:
                style = styles["strong"] + tones(self.app.theme)["cursor"] + Style(underline=True)
            # The arrow of a right-aligned title is in the gap, so that titles do not move.
            title, x = pad(p.column.title, p.width, right=p.column.right), p.x + p.width
            if is_sorted and p.column.right:
                title, x = title + _ARROWS[descending], x + 1
            elif is_sorted:
                title = pad(p.column.title + _ARROWS[descending], p.width)
            segments.append(Segment(title, style))
        return Strip(segments).adjust_cell_length(cells, self.base)

    def _scrollbar_segment(self, y: int, styles: Tones, under: Style) -> Segment:
        """Return the last cell of a line: part of the scroll bar if not all rows fit."""
        visible, total = self.size.height - 1, len(self._rows)
        if total <= visible or visible <= 0:
            return Segment(" ", under)
        length = max(1, visible * visible // total)
        start = round(self._top * (visible - length) / max(1, total - visible))
        on = start <= y - 1 < start + length
        return Segment("┃" if on else "│", styles["muted" if on else "faint"])

    # --------------------------------------------------------------------------------------- keys and the mouse

    def _move_cursor(self, index: int) -> None:
        places = [place for place, row in enumerate(self._rows) if not row.heading]
        if not places:
            return
        self._is_cursor_moved = True
        before, top = self._cursor_index(), self._top
        beyond = [place for place in places if (place >= index if index >= before else place <= index)]
        now = (beyond[0] if index >= before else beyond[-1]) if beyond else places[-1 if index >= before else 0]
        self._set_cursor(self._rows[now].key)
        self._scroll_to_cursor()
        if top != self._top:
            self.refresh()
        elif before != now:
            for line in (before, now):
                self.refresh(Region(0, line - self._top + 1, self.size.width, 1))

    def action_cursor(self, by: int) -> None:
        """Choose the next or previous column, which the help then explains. Past either end, no column is chosen."""
        keys = ["", *(p.column.key for p in self._placed)]
        at = keys.index(self._chosen_key) if self._chosen_key in keys else 0
        self._chosen_key = keys[(at + by) % len(keys)]
        self.refresh(Region(0, 0, self.size.width, 1))

    def action_move(self, by: int) -> None:
        """Move the cursor by ``by`` rows."""
        self._move_cursor(self._cursor_index() + by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by one screenful. Past the first or last row, post ``Beyond`` to load more rows."""
        edge = self.row_keys[-1 if direction > 0 else 0] if self.row_keys else None
        if self.cursor == edge:
            self.post_message(self.Beyond(direction))
        self._move_cursor(self._cursor_index() + direction * max(1, self.size.height - 2))

    def action_end(self, direction: int) -> None:
        """Move the cursor to the first row (``-1``) or the last row (``1``)."""
        self._move_cursor(0 if direction < 0 else len(self._rows) - 1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that have no effect in this table."""
        return self.opens or action != "open"

    def action_open(self) -> None:
        if self.opens and self.cursor is not None and self._rows:
            self.post_message(self.Opened(self.cursor))

    def action_copy(self) -> None:
        """Copy the name of the object that the row under the cursor describes."""
        if (row := self.cursor_row) is not None:
            self._copy_text(row.name, row.name)

    def action_copy_row(self) -> None:
        """Copy the row under the cursor, with one line per column."""
        if (row := self.cursor_row) is not None:
            cells = [(column.title, text.strip()) for column, (text, _) in zip(self.columns, row.cells, strict=True)]
            self._copy_text(
                "\n".join(f"{title}: {text}" for title, text in cells if text), ScreenText.ROW_OF.render(name=row.name)
            )

    @property
    def cursor_row(self) -> GridRow | None:
        """The row under the cursor."""
        return next((row for row in self._rows if row.key == self.cursor), None)

    def _copy_text(self, text: str, content: str) -> None:
        """Copy with OSC 52, which works over SSH. Not every terminal supports it."""
        self.app.copy_to_clipboard(text)
        self.app.notify(ScreenText.COPIED.render(what=shorten(content, 40)), timeout=3, markup=False)

    def _on_resize(self, event: events.Resize) -> None:
        self._widths = ()
        self._place_columns(self._rows)
        self._scroll_to_cursor()
        self.refresh()

    def _column_at(self, x: int) -> PlacedColumn | None:
        return next((p for p in self._placed if p.x - 1 <= x < p.x + p.width + 1), None)

    def on_click(self, event: events.Click) -> None:
        """Select the clicked row, or open it after a double click. A click on the header sorts the rows."""
        if event.y == 0:
            placed = self._column_at(event.x)
            if placed is not None and placed.column.sortable:
                self.post_message(self.SortAsked(placed.column.key))
            return
        index = self._top + event.y - 1
        if index < len(self._rows) and not self._rows[index].heading:
            self._move_cursor(index)
            if event.chain == 2:
                self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-1)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Set the tooltip: the explanation of the column, or why a figure is unknown."""
        placed = self._column_at(event.x)
        index = self._top + event.y - 1
        note = ""
        if placed is not None and event.y == 0:
            note = placed.column.about
        elif placed is not None and 0 <= index < len(self._rows):
            note = self._rows[index].notes.get(placed.column.key, "")
        if note != self._tooltip_text:
            self._tooltip_text = note
            self.tooltip = Text(note) if note else None


def _row_keys(rows: Sequence[GridRow]) -> tuple[str, ...]:
    return tuple(row.key for row in rows if not row.heading)
