"""The texts of the message screen: title, times, owner, and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from qmon.model import formatting
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView
from qmon.operate.message import Message, MessageColumn
from qmon.texts import Text
from qmon.tui.message.payload import ShownPayload
from qmon.tui.sanitize import clean, clean_uncached, shorten
from qmon.tui.spans import Line, LinePart, entry_lines, fit_parts, spread_parts
from qmon.tui.widgets.grid_table import GridColumn, GridRow, Table
from qmon.tui.widgets.pager import PagerLine

# Matches the name of a value at the start of a line of indented JSON.
_NAME: Final = re.compile(r'\s*"(?:[^"\\]|\\.)*":')


class MessagePanelText(Text):
    """The texts about parts of a message."""

    NO_PAYLOAD_COLUMN = "this queue has no payload column; see the columns"
    OF_QUEUE = "of {queue}"
    NO_OWNER = "none"
    NO_OWNER_COLUMN = "unknown: the table has no owner column"
    OWNER = "{owner}: {activity}"
    CUT = ", cut: only the beginning is shown"
    PAYLOAD = "the payload"
    NOT_ALLOWED = "your role may not read this column; to fix: {grant}"
    TOO_LARGE = "{size}: too large to show"


def title_lines(queue: QueueView, sample: MessageSample, place: str, cells: int, *, gone: bool) -> list[Line]:
    """Return the id and state of the message, and its position in the list."""
    stuck = not gone and queue.is_stuck(sample)
    state = "gone" if gone else clean(sample.state.replace("_", " "))
    left = [
        LinePart(((" message ", "muted"), (shorten(clean(sample.id), 48), "strong"))),
        LinePart.from_text(MessagePanelText.OF_QUEUE.render(queue=shorten(clean(queue.name), 40)), "text", 1),
        LinePart.from_text("▲ stuck" if stuck else state, "alarm" if stuck else "muted", 1),
    ]
    return [spread_parts(left, [LinePart.from_text(f"{place} ", "muted")], cells)]


def fact_lines(
    queue: QueueView, sample: MessageSample, message: Message | None, cells: int, rows: int, since_read_s: float = 0.0
) -> list[Line]:
    """Return one line of times, then a line with the owner and the state of the owner's session.

    ``since_read_s``: seconds since the message was read.
    """
    lines = [
        ((" ", "text"), *fit_parts([LinePart(part) for part in _time_parts(sample, message, since_read_s)], cells - 2))
    ]
    owner = message.owner if message is not None else sample.owner
    if owner is None:
        lines += entry_lines(
            "owner",
            MessagePanelText.NO_OWNER if sample.state != "in_progress" else MessagePanelText.NO_OWNER_COLUMN,
            cells,
            "muted",
            1,
        )
    else:
        doing = message.doing if message is not None else ""
        words = MessagePanelText.OWNER.render(owner=owner, activity=doing) if doing else owner
        lines += entry_lines("owner", words, cells, most=max(1, rows - 1))
    return lines


def _time_parts(
    sample: MessageSample, message: Message | None, since_read_s: float
) -> Iterator[tuple[tuple[str, str], ...]]:
    busy = sample.state == "in_progress"
    pushed = message.pushed_s + since_read_s if message is not None and message.pushed_s is not None else None
    popped = sample.age_s if busy else None
    if busy and message is not None and message.popped_s is not None:
        popped = message.popped_s + since_read_s
    if pushed is not None:
        in_queue = pushed if popped is None else pushed - popped
        yield ("in queue ", "muted"), (formatting.duration(in_queue), "text")
    if popped is not None:
        yield ("in progress ", "muted"), (formatting.duration(popped), "text")
    if not busy and pushed is None and sample.age_s is not None:
        yield ("age ", "muted"), (formatting.duration(sample.age_s), "text")
    if sample.attempts is not None:
        yield ("attempts ", "muted"), (formatting.count(sample.attempts), "text")


def payload_summary(column: MessageColumn | None, shown: ShownPayload | None) -> str:
    """Return the kind and size of a payload, and whether only its beginning is shown."""
    if column is None or column.size is None:
        return ""
    kind = "" if shown is None else f"{shown.kind}, "
    cut = MessagePanelText.CUT if column.cut else ""
    return f"{kind}{formatting.size(column.size)}{cut}"


def payload_lines(column: MessageColumn | None, shown: ShownPayload | None) -> list[PagerLine]:
    """Return the payload, or why no payload can be shown."""
    if shown is not None:
        names = [_NAME.match(line) if shown.kind == "JSON" else None for line in shown.lines]
        return [
            PagerLine(line, name=0 if name is None else name.end())
            for line, name in zip(shown.lines, names, strict=True)
        ]
    return [PagerLine(MessagePanelText.NO_PAYLOAD_COLUMN if column is None else _missing_text(column), muted=True)]


def column_lines(message: Message) -> list[PagerLine]:
    """Return two lines per column: a line with name and type, and a line with the value. Skip the payload's value."""
    lines: list[PagerLine] = []
    shown = None if message.payload is None or message.payload.value is None else message.payload.name
    for each in message.columns:
        size = f", {formatting.size(each.size)}" if each.cut and each.size is not None else ""
        lines.append(PagerLine(f"{clean(each.name)}  {clean(each.type_name)}{size}", muted=True))
        value = each.value.hex(" ") if isinstance(each.value, bytes) else each.value
        if each.name == shown:
            lines.append(PagerLine(f"  {MessagePanelText.PAYLOAD}", muted=True))
        elif value is None:
            lines.append(PagerLine(f"  {_missing_text(each)}", muted=True))
        else:
            lines.append(PagerLine(f"  {clean_uncached(value)}{'…' if each.cut else ''}"))
    return lines


def column_table(message: Message) -> Table:
    """Return the columns of a message as a table, one per row."""

    def value(column: MessageColumn) -> str:
        read = column.value.hex(" ") if isinstance(column.value, bytes) else column.value
        return "" if read is None else clean_uncached(read)

    rows = (GridRow(c.name, ((clean(c.name), ""), (clean(c.type_name), ""), (value(c), ""))) for c in message.columns)
    return Table((GridColumn("column", ""), GridColumn("type", ""), GridColumn("value", "")), tuple(rows))


def known_lines(sample: MessageSample) -> list[PagerLine]:
    """Return the values that the last list contained for this message."""
    known = {
        "id": sample.id,
        "state": sample.state.replace("_", " "),
        "owner": sample.owner,
        "age": None if sample.age_s is None else formatting.duration(sample.age_s),
        "attempts": None if sample.attempts is None else formatting.count(sample.attempts),
        "payload start": sample.payload,
        "last error": sample.error,
    }
    pairs = ((PagerLine(name, muted=True), PagerLine(f"  {clean(value)}")) for name, value in known.items() if value)
    return [line for pair in pairs for line in pair]


def _missing_text(column: MessageColumn) -> str:
    if column.grant:
        return MessagePanelText.NOT_ALLOWED.render(grant=clean(column.grant))
    return "NULL" if column.size is None else MessagePanelText.TOO_LARGE.render(size=formatting.size(column.size))
