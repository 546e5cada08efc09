"""The consumers of a queue, their messages, and their rates."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from qmon.model import formatting
from qmon.model.consumer_list import ConsumerList, ConsumerRates, ListedConsumer, list_consumers
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from qmon.operate.actions.end_sessions import SessionSample
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.dialog_text import KeyHint
from qmon.tui.consumers import consumer_rows
from qmon.tui.sanitize import clean
from qmon.tui.shared.queue_detail import QueueDetailScreen
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line, LinePart
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class ConsumersText(Text):
    """The texts of the screen and of the details of a consumer."""

    POP_RATE = "pop rate {rate}/s"
    IN_PROGRESS = "in progress {count}"
    NO_CONSUMER = "no consumer is connected, and no message is in progress"
    NONE_KNOWN = "no consumer is connected; qmon does not know who holds the messages in progress ({count})"
    BY_STATEMENT = "recognized by their last statement"
    MAY_BE_MORE = "there may be more: {why}"
    READING = "reading the session"
    ENTER_READS = "{session}; enter reads its statement"
    SELECTED = "selected consumer"
    NOT_LIVE = "{session}; its statement is read only from a live target"
    ENDED = "{session} has ended, or your role may not see it"


class ConsumersScreen(QueueDetailScreen):
    """The consumers of one queue."""

    NAME = "consumers"
    BINDINGS = keys.CONSUMERS
    SORT_COLUMNS = consumer_rows.SORT_COLUMNS

    def __init__(self, queue: str) -> None:
        super().__init__(queue)
        self.sorted_by = consumer_rows.DEFAULT_SORT
        self.found = ConsumerList(())
        self._rates = ConsumerRates()
        self._sequence = -1

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield Lines(id="consumers-heading")
        yield Grid(consumer_rows.COLUMNS, id="consumers")
        yield Lines(id="chosen-heading")
        yield Lines(id="chosen")

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        queue = self.current_queue()
        if shown.view is not None and queue is not None:
            if shown.view.sequence != self._sequence and (queue.messages is not None or self._sequence < 0):
                self.found = list_consumers(queue, shown.view.sampled_at)
                if queue.messages is not None:
                    self._rates.record(self.found, shown.view.sampled_at)
                    self._sequence = shown.view.sequence
            self.draw_title(
                "consumers",
                LinePart.from_text(ConsumersText.POP_RATE.render(rate=queue.pop_rate.text(formatting.rate)), "text", 1),
                LinePart.from_text(
                    ConsumersText.IN_PROGRESS.render(count=queue.in_progress.text(formatting.count)), "text", 2
                ),
            )
        kept = filter_items(self.found.consumers, self.filter_text, consumer_rows.searchable_text)
        kept = consumer_rows.sort_consumers(list(kept), *self.sorted_by, self._rate_for)
        self.grid.show(
            consumer_rows.rows_for(kept, self._rate_for),
            sorted_by=self.sorted_by,
            stale=stale,
            empty=self._empty_text(queue),
        )
        self._draw_selected(stale=stale)

    @property
    def _selected_consumer(self) -> ListedConsumer | None:
        return next((each for each in self.found.consumers if each.key == self.grid.cursor), None)

    def _draw_selected(self, *, stale: bool) -> None:
        """Draw the known facts about the consumer under the cursor."""
        consumer, view = self._selected_consumer, self.app.shown.view
        self.set_class(consumer is None, "-nothing-chosen")
        if consumer is None:
            return
        client = consumer.client
        notice = (
            consumer.unknown["session"].value
            if client is None
            else ConsumersText.ENTER_READS.render(session=client.session)
        )
        self.query_one("#chosen", Lines).show(
            lambda cells, _: consumer_rows.detail_lines(consumer, None, notice, view, cells)[1:-1], stale=stale
        )

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self._draw_selected(stale=self.is_stale)

    def _rate_for(self, consumer: ListedConsumer) -> consumer_rows.Rate:
        """Return the rate of a consumer per minute. The only consumer of a queue takes all messages of the queue."""
        queue = self.current_queue()
        if (
            queue is not None
            and self.found.is_complete
            and len(self.found.consumers) == 1
            and queue.pop_rate.value is not None
        ):
            return queue.pop_rate.value * 60.0, True
        rate = self._rates.per_minute(consumer)
        return None if rate is None else (rate, False)

    def _empty_text(self, queue: QueueView | None) -> str:
        """Return why the table is empty."""
        if queue is None:
            return self.gone_text
        if self.found.consumers:
            return self.no_match_text("consumer")
        if self.found.why:
            return clean(self.found.why)
        if queue.in_progress.value == 0:
            return ConsumersText.NO_CONSUMER
        return ConsumersText.NONE_KNOWN.render(count=queue.in_progress.text(formatting.count))

    def draw_headings(self, shown: ShownState, now: float) -> None:
        parts = [formatting.count_text(len(self.found.consumers), "consumer")] if self.found.consumers else []
        queue = self.current_queue()
        seen = None if queue is None else queue.consumers_seen
        if self.found.consumers and seen is not None and seen.identified_by == "table":
            parts.append(ConsumersText.BY_STATEMENT)
        if self.found.consumers and self.found.why:
            parts.append(ConsumersText.MAY_BE_MORE.render(why=clean(self.found.why)))
        self.show_heading("consumers-heading", "consumers", " · ".join(parts))
        self.show_heading("chosen-heading", ConsumersText.SELECTED, aged=False)

    def read_scope(self) -> ReadScope:
        return ReadScope(rows_of=self.queue, visible=frozenset({self.queue}), consumers=True, blocking=True)

    @on(Grid.Opened)
    def _open_row(self) -> None:
        consumer = self._selected_consumer
        if consumer is not None:
            self.app.push_screen(ConsumerDetails(self, consumer))


class SessionRead(Message):
    """The session of a consumer was read, or reading failed with ``problem``."""

    def __init__(self, session: SessionSample | None, problem: str) -> None:
        super().__init__()
        self.session, self.problem = session, problem


class ConsumerDetails(TextDialog):
    """The activity and the wait of one consumer's session, and the messages that the consumer holds."""

    BINDINGS = keys.TEXT_DIALOG

    def __init__(self, screen: ConsumersScreen, consumer: ListedConsumer) -> None:
        super().__init__(self._lines, KeyHint.CLOSE)
        self._over, self._consumer = screen, consumer
        self._session: SessionSample | None = None
        self._notice: str = ConsumersText.READING

    def on_mount(self) -> None:
        client, runner = self._consumer.client, self._over.app.runner
        if client is None:
            self._notice = self._consumer.unknown["session"].value
        elif runner is None:
            self._notice = ConsumersText.NOT_LIVE.render(session=client.session)
        else:
            number = client.session
            runner.ask_operator(lambda operator: operator.read_session(number), self._post)

    def _post(self, session: SessionSample | None, problem: str) -> None:
        self.post_message(SessionRead(session, problem))

    def on_session_read(self, message: SessionRead) -> None:
        """Show the session, unless another session has its number now."""
        found, client = message.session, self._consumer.client
        started_at = client.started_at if client is not None else None
        if found is not None and started_at is not None and found.started_us is not None:
            found = found if abs(found.started_us / 1e6 - started_at) < 1.0 else None
        self._session = found
        number = "" if client is None else str(client.session)
        self._notice = message.problem or ConsumersText.ENDED.render(session=number)
        self._write()

    def _lines(self, cells: int) -> list[Line]:
        newest = next((each for each in self._over.found.consumers if each.key == self._consumer.key), self._consumer)
        return consumer_rows.detail_lines(newest, self._session, clean(self._notice), self._over.app.shown.view, cells)
