"""Screen 2: one queue with its figures, throughput and depth over time, messages, and unknown figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from qmon.model import formatting
from qmon.model.operation_records import Choice, OperationResult
from qmon.model.probe_table import is_probe_of
from qmon.model.samples.listing_samples import PageRequest
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView, View
from qmon.monitor.source import ReadScope
from qmon.operate.plan.selection import STATES
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.message.message_screen import MessageScreen
from qmon.tui.overview.trend_panel import span_text
from qmon.tui.plots.history_series import peak_value
from qmon.tui.plots.throughput import throughput_lines
from qmon.tui.queue import message_lists as lists
from qmon.tui.queue import message_rows as messages
from qmon.tui.queue import queue_panel
from qmon.tui.queue.message_lists import ListsText
from qmon.tui.queue.queue_panel import SHORT_VERDICT_ROWS, TALL_VERDICT_ROWS, ledger_lines
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared import topics
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.shared.header import waiting_lines
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line
from qmon.tui.themes import is_plain
from qmon.tui.waits import horizon_panel
from qmon.tui.widgets.filter_bar import FilterBar, filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class QueueScreenText(Text):
    """The texts of the screen."""

    ROWS_NOT_READ = "the next poll reads the rows"
    PAGE_NOT_READ = "the next poll reads this page"
    NONE_IN_PROGRESS = "no message is in progress"
    NONE_STUCK = "no message is stuck"
    PLOT = "throughput and depth"
    PEAK_DEPTH = "{time}, peak depth {count}"
    MARKED = "{count} marked, esc clears"
    MARKED_GONE = "{messages} no longer listed"
    SORTED_BY = "{messages} · this page sorted by {column}"
    FILTER_KEYS = "enter searches all messages of the list · !text excludes · esc clears"
    GO_BACK = "{why}; esc goes back to the overview"


# Screens of at least this many rows show other verdicts in addition to the worst.
TALL_ROWS = 36
# The list of messages is never lower than this many rows.
_MIN_ROWS = 3


class QueueScreen(DashboardScreen):
    """The screen of one queue: the queue under the cursor of the overview."""

    NAME = "queue"
    BINDINGS = keys.QUEUE_SCREEN
    SORT_COLUMNS = messages.SORT_COLUMNS
    FILTER = ("filter", QueueScreenText.FILTER_KEYS)

    def __init__(self) -> None:
        super().__init__()
        self.sorted_by = messages.DEFAULT_SORT
        self.stuck_only = False
        self.marks = MarkedMessages()
        self.lists = lists.MessageLists()
        self._listed_messages: list[MessageSample] = []
        # The queue and list on screen, and the most rows that this list has had.
        self._most_rows: tuple[tuple[str, str | None] | None, int] = (None, _MIN_ROWS)

    def compose_body(self) -> ComposeResult:
        yield Lines(id="title")
        yield Lines(id="readings")
        yield Lines(id="tables", most=2)
        yield Lines(id="because", most=TALL_VERDICT_ROWS)
        with Horizontal(id="middle"):
            with Vertical(id="plot-side"):
                yield Lines(id="plot-heading")
                yield Lines(id="plot")
            with Vertical(id="unknown-side"):
                yield Lines(id="ledger", most=6)
                yield Lines(id="unknown-heading")
                yield Lines(id="unknown-list")
        yield Lines(id="rows-heading")
        yield Grid(messages.COLUMNS, id="rows")
        yield Lines(id="unknown-lines", most=2)
        yield Lines(id="waiting")

    @property
    def _verdict_rows(self) -> int:
        """The maximum number of lines for verdicts."""
        return TALL_VERDICT_ROWS if self.size.height >= TALL_ROWS else SHORT_VERDICT_ROWS

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        """Draw the queue. If there are no figures, or the queue no longer exists, draw a text."""
        view, found = shown.view, self.current_queue()
        if view is None or found is None:
            self.add_class("-waiting")
            missing = _missing_lines(view, self.app.selected)
            self.query_one("#waiting", Lines).show(
                lambda cells, rows: missing or waiting_lines(shown, now, cells, rows)
            )
            return
        self._draw_queue(found, view, stale=stale)
        self._draw_rows(found, stale=stale)

    def _draw_queue(self, queue: QueueView, view: View, *, stale: bool) -> None:
        plain, tall = is_plain(self.app.theme), self.size.height >= TALL_ROWS
        self.update_classes({"-waiting": False, "-no-use": queue.use is None, "-no-ledger": queue.ledger is None})
        writers: dict[str, Callable[[int, int], list[Line]]] = {
            "#title": lambda cells, _: queue_panel.title_lines(queue, cells),
            "#readings": lambda cells, _: queue_panel.reading_lines(queue, cells, view.since_read_s(queue)),
            "#tables": lambda cells, rows: horizon_panel.queue_lines(queue, view, cells, rows if tall else 1),
            "#because": lambda cells, rows: queue_panel.verdict_lines(
                queue, view, cells, min(rows, self._verdict_rows)
            ),
            "#plot": lambda cells, rows: throughput_lines(queue.history, cells, rows, plain=plain),
            "#ledger": lambda cells, _: ledger_lines(queue, cells),
            "#unknown-list": lambda cells, rows: queue_panel.unknown_column(queue, cells, rows),
            "#unknown-lines": lambda cells, rows: queue_panel.unknown_lines(queue, cells, min(rows, 2)),
        }
        for id, writer in writers.items():
            self.query_one(id, Lines).show(writer, stale=stale)

    @property
    def _page_request(self) -> PageRequest | None:
        """The chosen page; ``None`` if the user has chosen no list."""
        return None if self.app.fixed_reason else self.lists.listing_for(self.app.selected)

    @property
    def _row_order(self) -> tuple[str, bool]:
        """The sort column, and whether the order is descending."""
        return (
            messages.DEFAULT_SORT
            if self._page_request is None and self.sorted_by == lists.LIST_ORDER
            else self.sorted_by
        )

    def _read_messages(self, queue: QueueView) -> tuple[MessageSample, ...] | None:
        """Return the messages of the chosen list; ``None`` if they have not been read."""
        return queue.messages if lists.is_chosen_list(queue, self._page_request, self.app.fixed_reason) else None

    def _row_filter(self, queue: QueueView) -> str:
        """Return the filter of the rows on screen; empty if the server has already searched for its text."""
        page = lists.shown_page(queue, self._page_request, self.app.fixed_reason)
        return "" if page is not None and page.listing.search == self.filter_text.strip() else self.filter_text

    def _draw_rows(self, queue: QueueView, *, stale: bool) -> None:
        listed = [m for m in self._read_messages(queue) or () if not self.stuck_only or queue.is_stuck(m)]
        kept = filter_items(listed, self._row_filter(queue), messages.searchable_text)
        kept = messages.sort_messages(queue, kept, *self._row_order) if self._row_order[0] else list(kept)
        self._listed_messages = kept = self.marks.keep_order(
            queue.name, kept, self._read_messages(queue), self.lists.page_number
        )
        self.grid.use_columns(messages.columns(kept))
        self.grid.show(
            messages.rows_for(queue, kept, self.marks.ids_in(queue.name)),
            sorted_by=self._row_order,
            stale=stale,
            empty=self._empty_text(queue, bool(listed)),
        )
        self._give_spare_rows_to_plot(queue.name)

    def _give_spare_rows_to_plot(self, name: str) -> None:
        """Give the rows that the list does not use to the plot.

        The list never gets lower while it is on screen, so that the plot does not jump when messages come and go.
        """
        shown = (name, self._page_request.state if self._page_request is not None else None)
        least = self._most_rows[1] if self._most_rows[0] == shown else _MIN_ROWS
        self._most_rows = (shown, max(least, len(self.grid.row_keys)))
        self.grid.styles.max_height = None if self.has_class("-folded") else 1 + self._most_rows[1]

    def _empty_text(self, queue: QueueView, any_listed: bool) -> str:
        """Return why the table is empty."""
        listing = self._page_request
        probes = ("messages",) if listing is None else ("messages_page", "group_page")
        failed = next((f.text for f in queue.failures if is_probe_of(f.probe, probes)), None)
        if failed is not None:
            return clean(failed)
        page = lists.shown_page(queue, listing, self.app.fixed_reason)
        if page is None and self._read_messages(queue) is None:
            why = queue.in_progress.reason if listing is None and queue.in_progress.value is None else ""
            return why or self.app.fixed_reason or QueueScreenText.ROWS_NOT_READ
        if any_listed:
            return self.no_match_text("message")
        if page is not None:
            return clean(page.why) or lists.empty_text(page, paged=listing is not None)
        return QueueScreenText.NONE_STUCK if self.stuck_only else QueueScreenText.NONE_IN_PROGRESS

    def draw_headings(self, shown: ShownState, now: float) -> None:
        found = self.current_queue()
        if found is None:
            return
        peak = peak_value(found.history, "ready", found.ready.value)
        shown_peak = formatting.UNKNOWN if peak is None else formatting.count(peak)
        extra = QueueScreenText.PEAK_DEPTH.render(time=span_text(found), count=shown_peak)
        title, count = self._rows_heading(found)
        if self._row_filter(found):
            count = ListsText.ONLY_READ.render(
                shown=formatting.count(len(self.grid.row_keys)),
                count=formatting.count(len(self._read_messages(found) or ())),
                characters=messages.PAYLOAD_CHARACTERS,
            )
        if marked := self.marks.ids_in(found.name):
            count += f" · {QueueScreenText.MARKED.render(count=len(marked))}"
        if self.marks.gone_count:
            gone = formatting.count_text(self.marks.gone_count, "marked message")
            count += f" · {QueueScreenText.MARKED_GONE.render(messages=gone)}"
        self.show_heading("plot-heading", QueueScreenText.PLOT, extra)
        self.show_heading("unknown-heading", "unknown", aged=False)
        self.show_heading("rows-heading", title, count)

    def _rows_heading(self, queue: QueueView) -> tuple[str, str]:
        """Return the title of the rows and their number."""
        listing, listed = self._page_request, self._read_messages(queue) or ()
        page = lists.shown_page(queue, listing, self.app.fixed_reason)
        if page is None and listing is not None:
            return messages.ListTitle[listing.state.upper()], ""
        shown = len(self.grid.row_keys)
        if page is None:
            title = messages.rows_title(queue, stuck_only=self.stuck_only)
            return title, "" if self._read_messages(queue) is None else lists.first_list_count_text(
                queue, title, shown, len(listed)
            )
        count = lists.page_count_text(queue, page, None if listing is None else self.lists, shown, len(listed))
        if by := self._row_order[0]:
            count = QueueScreenText.SORTED_BY.render(messages=count, column=by)
        return messages.ListTitle[page.listing.state.upper()], count

    def read_scope(self) -> ReadScope:
        shown = self.app.selected
        visible = frozenset() if shown is None else frozenset({shown})
        return ReadScope(rows_of=shown, listing=self._page_request, visible=visible)

    def current_queue(self) -> QueueView | None:
        """Return this queue, with the last messages if messages are polled less often."""
        view = self.app.shown.view
        found = view.queue(self.app.selected) if view is not None and self.app.selected is not None else None
        return None if found is None else self.lists.fill_messages(found, self._page_request)

    def help_topics(self) -> list[topics.TopicGroup]:
        """Add the figures of the queue."""
        queue = self.current_queue()
        return [*super().help_topics(), *(topics.queue_figure_topics(queue) if queue is not None else [])]

    def message_choice(self) -> Choice:
        """Return the marked messages in the shown state. Without marks, the choice is empty."""
        marked, found = self.marks.ids_in(self.app.selected or ""), self.current_queue()
        listed = self._read_messages(found) or () if found is not None else ()
        states = {m.state for m in listed if m.id in marked}
        one = states.pop() if len(states) == 1 else None
        return Choice(ids=tuple(sorted(marked, key=messages.natural_key)), state=one if one in STATES else None)

    def handle_result(self, result: OperationResult | None) -> None:
        """Remove the marks after the action."""
        if result is not None:
            self.marks.clear()
            self.redraw()

    def action_mark(self) -> None:
        """Mark or unmark the message under the cursor. While messages are marked, the list keeps its order."""
        if self.grid.cursor is not None and self.grid.row_keys and self.app.selected is not None:
            listed = [message.id for message in self._listed_messages]
            self.marks.toggle(self.app.selected, self.grid.cursor, listed, self.lists.page_number)
            self.redraw()

    def action_back(self) -> None:
        """Remove the marks if there are any, otherwise the filter, otherwise go back."""
        if not self.filter_text and self.marks.ids_in(self.app.selected or ""):
            self.marks.clear()
            self.redraw()
        else:
            super().action_back()
            self._search(self.filter_text)

    def action_only_stuck(self) -> None:
        """List only stuck messages, or all messages in progress."""
        self.stuck_only = not self.stuck_only
        self.redraw()

    def action_list(self, by: int) -> None:
        """Go to the next or previous list of messages of this queue."""
        found, why = self.current_queue(), self.disabled_reasons().get("list")
        if why is not None or found is None:
            self.app.notify_briefly(why or ScreenText.NO_QUEUE_SELECTED)
            return
        if left_out := self.lists.choose_list(found.layout, by):
            self.app.notify_briefly(left_out)
        self.marks.clear()
        self.stuck_only, self.filter_text = False, ""
        self.sorted_by = messages.DEFAULT_SORT if self._page_request is None else lists.LIST_ORDER
        self._reload_list()

    def action_turn(self, by: int) -> None:
        """Go to the next or previous page of the list."""
        found, why = self.current_queue(), self.disabled_reasons().get("next-page", "")
        page = None if found is None else lists.shown_page(found, self._page_request, self.app.fixed_reason)
        if not why and found is not None:
            listed = len(self._read_messages(found) or ())
            why = QueueScreenText.PAGE_NOT_READ if page is None else self.lists.turn_page(page, listed, by)
        if why:
            self.app.notify_briefly(why)
        else:
            self._reload_list()

    @on(FilterBar.Done)
    def _search_list(self) -> None:
        """Let the server search the whole list for the text of the filter, or end the search with the filter."""
        self._search(self.filter_text)

    def _search(self, text: str) -> None:
        found = self.current_queue()
        wanted = "" if text.startswith("!") or self.marks.ids_in(self.app.selected or "") else text.strip()
        if found is None or self.app.fixed_reason:
            return
        before = self._page_request
        if why := self.lists.search(found.layout, wanted):
            self.app.notify_briefly(ListsText.SEARCHES_READ_ROWS.render(why=why))
        if self._page_request != before:
            self.sorted_by = messages.DEFAULT_SORT if self._page_request is None else lists.LIST_ORDER
            self._reload_list()

    def _reload_list(self) -> None:
        self.set_read_scope()
        self.redraw()

    @on(Grid.Beyond)
    def _turn_page(self, message: Grid.Beyond) -> None:
        if self._page_request is not None:
            self.action_turn(message.direction)

    def action_sort(self) -> None:
        """Sort by the next column. After the last column, return a page to the order of its list."""
        if self._page_request is not None and self.sorted_by[0] == self.SORT_COLUMNS[-1]:
            self.sorted_by = lists.LIST_ORDER
            self.redraw()
        else:
            super().action_sort()

    def action_reverse(self) -> None:
        """Reverse the order of the whole list. If the page is sorted by a column, reverse the order of the column."""
        if self._page_request is not None and self.sorted_by == lists.LIST_ORDER:
            self.lists.reverse_order()
            self._reload_list()
        else:
            super().action_reverse()

    def disabled_reasons(self) -> dict[str, str]:
        found = self.current_queue()
        return super().disabled_reasons() | lists.disabled_list_keys(found, self._page_request, self.app.fixed_reason)

    def action_neighbour(self, by: int) -> None:
        """Go to the next or previous queue by name."""
        view = self.app.shown.view
        if view is None or not view.queues:
            return
        names = sorted((q.name for q in view.queues), key=str.casefold)
        self.app.selected = self.neighbour_queue(by, names, self.app.selected)
        self.filter_text, self.sorted_by = "", messages.DEFAULT_SORT
        self._search("")
        self.set_read_scope()
        self.redraw()

    @on(Grid.Opened)
    def _open_row(self, message: Grid.Opened) -> None:
        at = next((i for i, each in enumerate(self._listed_messages) if each.id == message.key), None)
        if at is not None and self.app.selected is not None:
            self.app.push_screen(MessageScreen(self.app.selected, self._listed_messages, at, self._page_request))

    def action_count_exactly(self) -> None:
        self.app.count_exactly(self.app.selected)


def _missing_lines(view: View | None, name: str | None) -> list[Line]:
    """Return the text for a view that does not contain this queue."""
    if view is None:
        return []
    why: str = ScreenText.NO_QUEUE_SELECTED
    if name is not None:
        why = ScreenText.QUEUE_GONE.render(queue=shorten(clean(name), 40))
    return [(), ((f"  {QueueScreenText.GO_BACK.render(why=why)}", "text"),)]


class MarkedMessages:
    """The ids of the marked messages of one queue. A mark in another queue removes all earlier marks.

    ``gone_count``: how many marked messages are no longer listed.
    """

    def __init__(self) -> None:
        self._queue = ""
        self._ids: dict[str, int] = {}
        self._order: dict[str, int] = {}
        self.gone_count = 0

    def ids_in(self, queue: str) -> frozenset[str]:
        """Return the ids that are marked in this queue."""
        return frozenset(self._ids) if queue == self._queue else frozenset()

    def toggle(self, queue: str, id: str, listed: Sequence[str], page: int) -> None:
        """Mark or unmark an id on a page of the list. ``listed``: the ids of this page, in the order to keep."""
        if queue != self._queue:
            self.clear()
            self._queue = queue
        if not self._ids:
            self.gone_count = 0
        self._order = {each: place for place, each in enumerate(listed)}
        if self._ids.pop(id, None) is None:
            self._ids[id] = page

    def keep_order(
        self, queue: str, messages: list[MessageSample], read: Sequence[MessageSample] | None, page: int
    ) -> list[MessageSample]:
        """Return the page in the order that it had when a message was last marked, with new messages last.

        Unmark messages not in ``read``.

        ``read``: all messages of the page; ``None`` if it was not read yet.
        """
        if queue != self._queue or not self._ids:
            return messages
        if read is not None:
            there = {message.id for message in read}
            left = {id: place for id, place in self._ids.items() if place != page or id in there}
            self.gone_count += len(self._ids) - len(left)
            self._ids = left
        return sorted(messages, key=lambda message: self._order.get(message.id, len(self._order)))

    def clear(self) -> None:
        """Remove all marks."""
        self._ids.clear()
        self.gone_count = 0
