"""The rows of the consumers screen, and the details of one consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.consumer_list import ListedConsumer, Unknown
from qmon.model.view import View
from qmon.operate.actions.end_sessions import SessionSample
from qmon.texts import Text
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets.grid_table import GridColumn, GridRow, sorted_by_value, text_cell


class ConsumerText(Text):
    """The texts about the session of a consumer and its messages."""

    GONE = "gone"
    WAITS = "waits: {wait}"
    SENDS_NOTHING = "its program, which sends no statement"
    LOCK = "a lock"
    SLEEPS = "time to pass, because it sleeps"
    DATA_FILES = "reading or writing of data files"
    INTERNAL_LOCK = "an internal lock of the server"
    SESSION = "{session} ({who})"
    FOR_TIME = "{what} for {duration}"
    TRANSACTION = "transaction for {duration}"
    UNKNOWN = "unknown: {reason}"
    NO_MESSAGE = "no message"
    MORE_MESSAGES = "and {count:,} more"
    HOLDER = "session {session}"
    PREPARED_HOLDER = "prepared transaction {name}"
    LOCKED_BY = "{holders}; 4 shows the chain"
    LOCKED_BY_WITH = "{holders} ({lock}); 4 shows the chain"


COLUMNS: Final = (
    GridColumn("name", "CONSUMER", least=8, most=40, shrinks_to=12, about="application, worker, or owner of messages"),
    GridColumn("session", "SESSION", True, 4, least=7, most=10, about="number of the session on the server"),
    GridColumn("host", "HOST", rank=5, least=4, most=32, shrinks_to=8, about="machine of the consumer"),
    GridColumn("state", "STATE", rank=3, least=5, most=20, about="current activity of the session"),
    GridColumn("holds", "HOLDS", True, least=5, most=9, about="messages in progress that the consumer holds"),
    GridColumn("oldest", "OLDEST", True, 2, least=6, most=10, about="how long it has held its oldest message"),
    GridColumn("since", "SINCE", True, 6, least=5, most=10, about="time since its session or worker started"),
    GridColumn(
        "rate",
        "PER MIN",
        True,
        1,
        least=7,
        most=10,
        about="messages taken per minute; ≥: only messages that polls have seen in progress",
    ),
    GridColumn("first", "MESSAGE", rank=7, least=8, grows=True, sortable=False, about="its oldest message"),
)
SORT_COLUMNS: Final = ("holds", "name", "session", "host", "oldest", "since", "rate")
DEFAULT_SORT: Final = ("holds", True)
# The reason why a session waits, keyed by the class of its wait.
_WAITS: Final = {
    "Client": ConsumerText.SENDS_NOTHING,
    "Lock": ConsumerText.LOCK,
    "Timeout": ConsumerText.SLEEPS,
    "IO": ConsumerText.DATA_FILES,
    "LWLock": ConsumerText.INTERNAL_LOCK,
}
# A rate in messages per minute, and whether it is exact.
Rate = tuple[float, bool] | None
RateFor = Callable[[ListedConsumer], Rate]


def rows_for(consumers: Sequence[ListedConsumer], rate_for: RateFor) -> tuple[GridRow, ...]:
    """Return one row per consumer, in the given order."""
    return tuple(_row(consumer, rate_for(consumer)) for consumer in consumers)


def _row(consumer: ListedConsumer, rate: Rate) -> GridRow:
    unknown: dict[str, str] = {name: reason.value for name, reason in consumer.unknown.items()}
    if rate is None:
        unknown["rate"] = consumer.unknown.get("holds", Unknown.NO_RATE_YET).value
    if consumer.client is None:
        unknown["state"] = consumer.unknown.get("session", Unknown.NO_STATE).value
    first = consumer.messages[0] if consumer.messages else None
    sign = "≥" if consumer.at_least else ""
    return GridRow(
        consumer.key,
        (
            (clean(consumer.name), "strong" if consumer.is_alive else "alarm"),
            text_cell(None if consumer.client is None else str(consumer.client.session)),
            text_cell(consumer.host and clean(consumer.host)),
            text_cell(_state_text(consumer)),
            text_cell(None if consumer.holds is None else f"{sign}{formatting.count(consumer.holds)}"),
            text_cell(None if consumer.oldest_s is None else formatting.duration(consumer.oldest_s)),
            text_cell(None if consumer.since_s is None else formatting.duration(consumer.since_s)),
            text_cell(None if rate is None else f"{'' if rate[1] else '≥'}{formatting.rate(rate[0])}"),
            ("" if first is None else clean(f"{first.id} {first.payload or ''}"), "muted"),
        ),
        unknown,
        id=clean(consumer.name),
    )


def _state_text(consumer: ListedConsumer) -> str | None:
    """Return the activity of the session, or that a worker is gone; ``None`` if it is unknown."""
    client = consumer.client
    if not consumer.is_alive:
        return ConsumerText.GONE
    if client is None or not client.state:
        return None
    if client.wait_kind and client.state == "active":
        return ConsumerText.WAITS.render(wait=clean(client.wait_kind))
    return clean(client.state)


def sort_consumers(
    consumers: Sequence[ListedConsumer], by: str, descending: bool, rate_for: RateFor
) -> list[ListedConsumer]:
    """Return the consumers sorted by one column. Consumers without a value are last."""

    def value(consumer: ListedConsumer) -> float | str | None:
        rate = rate_for(consumer)
        values: dict[str, float | str | None] = {
            "name": consumer.name.casefold(),
            "session": None if consumer.client is None else consumer.client.session,
            "host": consumer.host,
            "holds": consumer.holds,
            "oldest": consumer.oldest_s,
            "since": consumer.since_s,
            "rate": None if rate is None else rate[0],
        }
        return values[by]

    return sorted_by_value(consumers, value, descending=descending)


def searchable_text(consumer: ListedConsumer) -> str:
    """Return the text that the filter searches."""
    client = consumer.client
    texts = (consumer.name, consumer.host, "" if client is None else f"{client.session} {client.login} {client.state}")
    held = (text for message in consumer.messages for text in (message.id, message.payload, message.error) if text)
    return " ".join((*(text or "" for text in texts), *held))


def detail_lines(
    consumer: ListedConsumer, session: SessionSample | None, notice: str, view: View | None, cells: int
) -> list[Line]:
    """Return the activity and the wait of a consumer's session, and the messages that the consumer holds.

    ``session``: the session as read last. ``notice``: why the session is unknown, or an empty text.
    """
    lines: list[Line] = [(), *entry_lines("consumer", consumer.name, cells, "strong")]
    if session is not None:
        who = ", ".join(part for part in (session.application, session.login, session.host) if part)
        name = ConsumerText.SESSION.render(session=session.session, who=who) if who else str(session.session)
        lines += entry_lines("session", name, cells)
        lines += entry_lines("state", _timed_text(session.state or "unknown", session.state_s), cells)
        if session.transaction_s is not None:
            opened = ConsumerText.TRANSACTION.render(duration=formatting.duration(session.transaction_s))
            lines += entry_lines("open", opened, cells)
        lines += _wait_lines(consumer, view, cells)
        lines += entry_lines("statement", session.statement or "none", cells, most=12)
    else:
        lines += entry_lines("session", notice, cells, "muted", most=3)
        lines += entry_lines("state", _state_text(consumer) or "unknown", cells)
        lines += _wait_lines(consumer, view, cells) if consumer.client is not None else []
    if consumer.holds is None:
        unknown = ConsumerText.UNKNOWN.render(reason=consumer.unknown["holds"].value)
        lines += entry_lines("holds", unknown, cells, "muted", most=3)
    elif not consumer.messages:
        lines += entry_lines("holds", ConsumerText.NO_MESSAGE, cells, "muted")
    for number, message in enumerate(consumer.messages[:20]):
        text = f"{_timed_text(message.id, message.age_s)}  {message.payload or ''}"
        lines += entry_lines("holds" if number == 0 else "", text, cells, most=1)
    if len(consumer.messages) > 20:
        lines += entry_lines("", ConsumerText.MORE_MESSAGES.render(count=len(consumer.messages) - 20), cells, "muted")
    return [*lines, ()]


def _timed_text(text: str, seconds: float | None) -> str:
    if seconds is None:
        return text
    return ConsumerText.FOR_TIME.render(what=text, duration=formatting.duration(seconds))


def _wait_lines(consumer: ListedConsumer, view: View | None, cells: int) -> list[Line]:
    """Return the wait of the session: a lock with the sessions that hold it, or the class of the wait."""
    chains = view.server.blocking if view is not None else None
    number = None if consumer.client is None else consumer.client.session
    place = next(
        (each for each in (chains.places if chains is not None else ()) if each.session.session == number),
        None,
    )
    if place is not None and place.blockers:
        who = ", ".join(
            ConsumerText.HOLDER.render(session=number) if number else ConsumerText.PREPARED_HOLDER.render(name=gid)
            for number, gid in place.blockers
        )
        what = " ".join(part for part in (place.session.mode, place.session.object) if part)
        words = (
            ConsumerText.LOCKED_BY_WITH.render(holders=who, lock=what)
            if what
            else ConsumerText.LOCKED_BY.render(holders=who)
        )
        return entry_lines("waits for", words, cells, "alarm")
    kind = consumer.client.wait_kind if consumer.client is not None else ""
    return entry_lines("waits for", _WAITS.get(kind, kind) or "nothing", cells, "text" if kind else "muted")
