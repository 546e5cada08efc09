"""The rows of the queue screen: messages in progress, with stuck messages first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.default_list import begins_at_head
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui.sanitize import clean
from qmon.tui.widgets.grid_table import GridColumn, GridRow, sorted_by_value, text_cell

COLUMNS: Final = (
    GridColumn("id", "ID", least=6, most=36, about="the message's id"),
    GridColumn("state", "STATE", rank=5, least=11, most=14, about="▲ stuck: in progress for longer than the timeout"),
    GridColumn(
        "age",
        "AGE",
        True,
        1,
        least=9,
        most=10,
        about="time since the message's start, or since its push if it was not started",
    ),
    GridColumn("owner", "OWNER", rank=2, least=8, most=32, shrinks_to=14, about="consumer that took the message"),
    GridColumn("attempts", "ATTEMPTS", True, 4, most=9, about="number of times the message was taken"),
    GridColumn("payload", "PAYLOAD", rank=3, least=16, grows=True, sortable=False, about="beginning of the message"),
)
# The column for the last error, which is shown if a message has an error. Narrow tables drop this column first.
_ERROR: Final = GridColumn(
    "error", "ERROR", rank=6, least=8, most=60, shrinks_to=20, sortable=False, about="the message's last error"
)

# The number of characters of a payload that lists read.
PAYLOAD_CHARACTERS: Final = 200

SORT_COLUMNS: Final = ("age", "id", "state", "owner", "attempts")
DEFAULT_SORT: Final = ("age", True)


class MessageRowText(Text):
    """Why the age of a message is unknown."""

    NO_AGE = "this table has no start time, so the age of a row is unknown"


class ListTitle(Text):
    """The titles of lists of messages, by state. ``AT_HEAD``: rows of a table without messages in progress."""

    READY = "ready messages"
    SCHEDULED = "scheduled messages"
    IN_PROGRESS = "messages in progress"
    STUCK = "stuck messages"
    BLOCKED = "blocked messages"
    DEAD = "dead messages"
    DONE = "done messages"
    AT_HEAD = "messages at the head"


class OneMessage(Text):
    """A message in a state."""

    READY = "ready message"
    SCHEDULED = "scheduled message"
    IN_PROGRESS = "message in progress"
    STUCK = "stuck message"
    BLOCKED = "blocked message"
    DEAD = "dead message"
    DONE = "message that is done"


def rows_title(queue: QueueView, *, stuck_only: bool) -> ListTitle:
    """Return the title of the rows."""
    if stuck_only:
        return ListTitle.STUCK
    return ListTitle.AT_HEAD if begins_at_head(queue.layout) else ListTitle.IN_PROGRESS


def columns(messages: Sequence[MessageSample]) -> tuple[GridColumn, ...]:
    """Return the columns for these messages: ``COLUMNS``, and the last error if at least one message has an error."""
    return (*COLUMNS, _ERROR) if any(m.error is not None for m in messages) else COLUMNS


def rows_for(queue: QueueView, messages: Sequence[MessageSample], marked: Collection[str] = ()) -> tuple[GridRow, ...]:
    """Return a row for each message, in the order given, with a cell for each of ``columns(messages)``.

    If a message is marked, all ids are indented.
    """
    wide = columns(messages)[-1] is _ERROR
    return tuple(_row(queue, m, "" if not marked else "◆ " if m.id in marked else "  ", wide) for m in messages)


def _row(queue: QueueView, message: MessageSample, mark: str, wide: bool) -> GridRow:
    stuck = queue.is_stuck(message)
    state = "▲ stuck" if stuck else f"{clean(message.state.replace('_', ' '))}"
    return GridRow(
        message.id,
        (
            (mark + clean(message.id), "strong" if mark.strip() else "text"),
            (state, "alarm" if stuck else "muted"),
            text_cell(None if message.age_s is None else formatting.duration(message.age_s)),
            text_cell(None if message.owner is None else clean(message.owner)),
            text_cell(None if message.attempts is None else formatting.count(message.attempts)),
            text_cell(None if message.payload is None else clean(message.payload), "muted"),
            *([("" if message.error is None else clean(message.error), "text")] if wide else []),
        ),
        {} if message.age_s is not None else {"age": MessageRowText.NO_AGE},
        id=clean(message.id),
    )


_VALUES: Final[dict[str, Callable[[MessageSample], float | str | None]]] = {
    "state": lambda message: message.state,
    "age": lambda message: message.age_s,
    "owner": lambda message: message.owner,
    "attempts": lambda message: message.attempts,
}


def natural_key(id: str) -> tuple[int, int, str]:
    """Return a sort key: numbers are sorted by value; words follow in alphabetical order."""
    return (0, int(id), id) if id.isdecimal() else (1, 0, id)


def sort_messages(
    queue: QueueView, messages: Sequence[MessageSample], by: str, descending: bool
) -> list[MessageSample]:
    """Return the messages sorted by one column, then by id. Messages without a value are last.

    If they are sorted by age, stuck messages always come first.
    """
    if by == "id":
        return sorted(messages, key=lambda message: natural_key(message.id), reverse=descending)
    found = sorted_by_value(
        sorted(messages, key=lambda message: natural_key(message.id)), _VALUES[by], descending=descending
    )
    if by == "age":
        found.sort(key=lambda message: message.age_s is None or not queue.is_stuck(message))
    return found


def searchable_text(message: MessageSample) -> str:
    """Return the text that the filter searches."""
    texts = (message.owner, message.payload, message.error)
    return " ".join((message.id, message.state.replace("_", " "), *(each or "" for each in texts)))
