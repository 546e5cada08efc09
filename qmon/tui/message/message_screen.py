"""One message of the list on screen 2. It is read completely from the server when the user opens it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.message import Message as Posted
from textual.widget import Widget

from qmon.model import formatting
from qmon.model.operation_records import Choice
from qmon.model.samples.listing_samples import PageRequest
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from qmon.operate.message import Message
from qmon.operate.plan.selection import STATES
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.message import message_panel
from qmon.tui.message.payload import ShownPayload, payload_text
from qmon.tui.sanitize import clean, clean_uncached
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.shown_state import ShownState
from qmon.tui.widgets.dialog import leave_screen
from qmon.tui.widgets.grid_table import Table
from qmon.tui.widgets.lines import Lines
from qmon.tui.widgets.pager import Pager, PagerLine


class MessageScreenText(Text):
    """The texts of the screen."""

    GONE = "the message is gone (popped, moved or deleted); this is the data from the last list"
    IN_REPLAY = "a replay: messages are read only from a live target; this is the data from the list"
    VIEW_ONLY = "view only: messages are read only from a live target; this is the data from the list"
    READING = "reading the message"
    POSITION = "{number} of {count} listed"
    AS_LISTED = "as listed"
    FOUND = "{number} of {count:,} found"
    SEARCH_KEYS = "> next match · < previous match · esc clears"
    FIRST = "this is the first message of the list"
    LAST = "this is the last message of the list"
    NO_PAYLOAD = "there is no payload to copy"
    ID = "id {id}"
    PAYLOAD = "the payload"
    PART_OF_PAYLOAD = "the payload, only the part that was read"


class MessageRead(Posted):
    """The message was read, or reading failed with ``problem``. If the message is gone, ``message`` is ``None``."""

    def __init__(self, number: int, message: Message | None, payload: ShownPayload | None, problem: str) -> None:
        super().__init__()
        self.number, self.message, self.payload, self.problem = number, message, payload, problem


class MessageScreen(DashboardScreen):
    """Shows the message that was under the cursor of the list. Keys go to neighbouring messages in the list.

    Args:
        queue: the queue's name.
        listed: the list when the message was opened.
        at: the index of the message in the list.
        listing: the page of the list. ``None``: messages in progress, or the next messages to pop if none can be in
            progress.
    """

    NAME = "message"
    BINDINGS = keys.MESSAGE
    AUTO_FOCUS = "#payload"
    FILTER = ("search", MessageScreenText.SEARCH_KEYS)

    def __init__(
        self, queue: str, listed: Sequence[MessageSample], at: int, listing: PageRequest | None = None
    ) -> None:
        super().__init__()
        self._page_request = listing
        self._queue, self._listed, self._list_index = queue, tuple(listed), at
        self._found: Message | None = None
        self._payload: ShownPayload | None = None
        # The reason why no message can be shown.
        self._notice_text = ""
        # True if the last reading did not find the message.
        self._is_gone = False
        self._number = 0
        self._read_at: float | None = None
        self._searched_text = ""

    def compose_body(self) -> ComposeResult:
        yield Lines(id="title")
        yield Lines(id="facts", most=4)
        with Container(id="whole"):
            with Vertical(id="payload-side"):
                yield Lines(id="payload-heading")
                yield Pager(id="payload")
            with Vertical(id="columns-side"):
                yield Lines(id="columns-heading")
                yield Pager(id="columns")

    def on_mount(self) -> None:
        self._read_message()

    # ------------------------------------------------------------------------------------------------------- reading

    @property
    def sample(self) -> MessageSample:
        """The message from the newest list that contains it."""
        last, queue = self._listed[self._list_index], self.current_queue()
        now = queue.messages if queue is not None else None
        return next((each for each in now or () if each.id == last.id), last)

    def _read_message(self) -> None:
        runner, queue, sample = self.app.runner, self.current_queue(), self.sample
        self._number += 1
        number = self._number
        self._is_gone = False
        if runner is None:
            self._notice_text = MessageScreenText.IN_REPLAY if self.app.shown.replay else MessageScreenText.VIEW_ONLY
        elif queue is None:
            self._notice_text = ScreenText.QUEUE_GONE.render(queue=clean(self._queue))
        else:
            layout = queue.layout
            self._notice_text = "" if self._found is not None else MessageScreenText.READING

            def answer(message: Message | None, problem: str) -> None:
                column = message.payload if message is not None else None
                value = None if column is None else column.value
                shown = None if column is None or value is None else payload_text(value, cut=column.cut)
                self.post_message(MessageRead(number, message, shown, problem))

            runner.ask_operator(lambda operator: operator.read_message(layout, sample.id, sample.owner), answer)
        self.redraw()

    def on_message_read(self, message: MessageRead) -> None:
        """Show the new reading. If the message is gone or could not be read, remove the old reading."""
        if message.number != self._number:
            return
        self._found, self._payload, self._read_at = message.message, message.payload, self.app.clock()
        self._is_gone = message.message is None and not message.problem
        self._notice_text = MessageScreenText.GONE if self._is_gone else clean(message.problem)
        self.redraw()

    def shown_table(self) -> Table | None:
        """Return the columns of the message, one per row."""
        return None if self._found is None else message_panel.column_table(self._found)

    # ------------------------------------------------------------------------------------------------------- drawing

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        """Draw the message. If the search text has changed, search the message again."""
        queue, sample, found = self.current_queue(), self.sample, self._found
        since_read_s = 0.0 if self._read_at is None else now - self._read_at
        if queue is not None:
            place = MessageScreenText.POSITION.render(number=self._list_index + 1, count=len(self._listed))
            self.query_one("#title", Lines).show(
                lambda cells, _: message_panel.title_lines(queue, sample, place, cells, gone=self._is_gone)
            )
            self.query_one("#facts", Lines).show(
                lambda cells, rows: message_panel.fact_lines(
                    queue, sample, found, cells, 2 if self.size.height < 32 else rows, since_read_s
                )
            )
        payload = (
            message_panel.payload_lines(found.payload, self._payload)
            if found is not None
            else [PagerLine(self._notice_text, muted=True)]
        )
        self.query_one("#payload", Pager).show(payload)
        self.query_one("#columns", Pager).show(
            message_panel.column_lines(found) if found is not None else message_panel.known_lines(sample)
        )
        if self.filter_text != self._searched_text:
            self._searched_text = self.filter_text
            for pager in self.query(Pager):
                pager.search(self._searched_text)

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Draw the titles: kind and size, matches, the visible lines, and the age."""
        payload, columns = self.query_one("#payload", Pager), self.query_one("#columns", Pager)
        found = self._found
        read = ""
        if self._read_at is not None:
            read = ScreenText.READ_AGO.render(age=formatting.whole_seconds(now - self._read_at))
        about = message_panel.payload_summary(found.payload, self._payload) if found is not None else ""
        self._show_title("payload", payload, about, read)
        count = f"{len(found.columns)}" if found is not None else MessageScreenText.AS_LISTED
        self._show_title("columns", columns, count)

    def _show_title(self, name: str, pager: Pager, *about: str) -> None:
        at, many = pager.match_position
        search = MessageScreenText.FOUND.render(number=at, count=many) if self._searched_text else ""
        self.show_heading(
            f"{name}-heading", name, " · ".join(p for p in (search, *about, pager.position_text) if p), aged=False
        )

    def on_pager_moved(self) -> None:
        """Update the visible lines in the title."""
        self.draw_headings(self.app.shown, self.app.clock())

    def read_scope(self) -> ReadScope:
        """Return a focus that polls the list, so that the state of the message stays current."""
        return ReadScope(rows_of=self._queue, listing=self._page_request, visible=frozenset({self._queue}))

    # ---------------------------------------------------------------------------------------------------------- keys

    def current_queue(self) -> QueueView | None:
        """Return the queue of the message."""
        view = self.app.shown.view
        return view.queue(self._queue) if view is not None else None

    def message_choice(self) -> Choice:
        """Return a choice with only this message."""
        sample = self.sample
        return Choice(ids=(sample.id,), state=sample.state if sample.state in STATES else None)

    def _bar_bindings(self) -> list[Binding]:
        return keys.bindings_in((*self.BINDINGS, *self.app.BINDINGS))

    @property
    def _main_widget(self) -> Widget:
        return self.query_one("#payload", Pager)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the key that reads again if there is no connection."""
        return super().check_action(action, parameters) and (action != "poll_now" or self.app.runner is not None)

    def action_poll_now(self) -> None:
        """Poll now and read the message again."""
        self.app.action_poll_now()
        self._read_message()

    def action_neighbour(self, by: int) -> None:
        """Go to the next or previous message of the list."""
        at = self._list_index + by
        if not 0 <= at < len(self._listed):
            self.app.notify_briefly(MessageScreenText.LAST if by > 0 else MessageScreenText.FIRST)
            return
        self._list_index, self._found, self._payload, self._read_at = at, None, None, None
        self._read_message()

    def action_jump(self, by: int) -> None:
        """Go to the next or previous match."""
        pager = self.focused if isinstance(self.focused, Pager) else self.query_one("#payload", Pager)
        pager.go_to_match(by)
        self.draw_headings(self.app.shown, self.app.clock())

    def action_copy(self) -> None:
        self._copy_text(clean(self.sample.id), MessageScreenText.ID.render(id=clean(self.sample.id)))

    def action_copy_row(self) -> None:
        """Copy the payload as it was sent, but with symbols in place of control characters."""
        column = self._found.payload if self._found is not None else None
        value = None if column is None else column.value
        if column is None or value is None:
            self.app.notify_briefly(MessageScreenText.NO_PAYLOAD)
            return
        if isinstance(value, bytes):
            copied = value.hex()
        else:
            copied = "\n".join("\t".join(map(clean_uncached, line.split("\t"))) for line in value.split("\n"))
        self._copy_text(copied, MessageScreenText.PART_OF_PAYLOAD if column.cut else MessageScreenText.PAYLOAD)

    def _copy_text(self, copied: str, content: str) -> None:
        self.app.copy_to_clipboard(copied)
        self.app.notify_briefly(ScreenText.COPIED.render(what=content))

    def action_back(self) -> None:
        """Remove the search. If no search is active, go back to the list."""
        if self.filter_text:
            super().action_back()
        else:
            leave_screen(self)
