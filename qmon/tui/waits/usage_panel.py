"""Shows how a queue's tables and indexes are used: in a line on the queue screen and a table on the waits screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.model import formatting
from qmon.model.formatting import sparkline
from qmon.model.rates.queue_use import IndexUse, QueueUse
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, pad, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.spans import Line, LinePart, Span, cut_line


class UsageText(Text):
    """The parts of the texts about the use of tables and indexes."""

    PER_POP = "{unit} per pop"
    BEFORE = ", {count} before"
    TITLE = "tables and indexes"
    TITLE_OF_QUEUE = "tables and indexes of {queue}"
    NOT_READ = "not read in this poll"
    FRAGMENTATION_AGE = "FRAG as of {age} ago"
    FRAGMENTATION_UNKNOWN = "{index}: fragmentation is {reason}"


_KB: Final = 1024.0
_NAME_CELLS: Final = 26
_NUMBER_CELLS: Final = 9
_Getter = Callable[[IndexUse], float | None]

# The columns of numbers: title, value and format. The glossary explains the titles.
COLUMNS: Final[tuple[tuple[str, _Getter, Callable[[float], str]], ...]] = (
    ("ROWS/s", lambda part: part.rows, figures.aligned_rate),
    ("BUFFERS/s", lambda part: part.pages, figures.aligned_rate),
    ("SCANS/s", lambda part: part.scans, figures.aligned_rate),
    ("LATCH/s", lambda part: part.latch_waits, figures.aligned_rate),
    ("LOCK/s", lambda part: part.lock_waits, figures.aligned_rate),
    ("SPLIT/s", lambda part: part.splits, figures.aligned_rate),
    ("GHOST/s", lambda part: part.ghosted, figures.aligned_rate),
    ("FWD/s", lambda part: part.forwarded, figures.aligned_rate),
    ("IO/s", lambda part: part.io_waits, figures.aligned_rate),
    ("ESC/s", lambda part: part.escalations, figures.aligned_rate),
    ("TRIED/s", lambda part: part.escalations_tried, figures.aligned_rate),
    ("FRAG", lambda part: part.fragmented, formatting.percent),
    ("OLD ROWS", lambda part: part.ghosts, formatting.count),
)


def per_pop_spans(use: QueueUse) -> Line:
    """Return ``412 rows touched per pop, 1.2 before``, or on SQL Server ``38 logical reads per pop``."""
    rows = use.touched_per_pop
    unit = UsageText.PER_POP.render(unit=use.touched_unit)
    spans: list[Span] = [(rows.text(formatting.rate), "strong"), (f" {unit}", "muted")]
    if use.before is not None and rows.value is not None and rows.value >= 2 * max(use.before, 1.0):
        spans.append((UsageText.BEFORE.render(count=formatting.rate(use.before)), "muted"))
    return tuple(spans)


def trend_text(use: QueueUse, cells: int) -> str:
    """Return the rows touched per pop over the last minutes as a sparkline."""
    values = list(use.trend)[-cells:]
    return sparkline(values, max((v for v in values if v is not None), default=0.0))


def queue_parts(queue: QueueView, cells: int) -> list[LinePart]:
    """Return the parts of a line about the queue's tables, for the queue screen. Narrow lines drop parts by rank."""
    use = queue.use
    if use is None:
        return []
    parts = [
        LinePart(per_pop_spans(use) if cells < 100 else (*per_pop_spans(use), (f" {trend_text(use, 12)}", "muted")), 3)
    ]
    if use.touched_per_pop.value is None:
        parts = []
    if use.pages_per_pop.value is not None:
        parts.append(LinePart((("buffers ", "muted"), (use.pages_per_pop.text(formatting.rate), "text")), 5))
    if use.dead is not None:
        parts.append(
            LinePart((("dead rows ", "muted"), (formatting.count(use.dead), "text" if use.dead else "muted")), 4)
        )
    if use.hot_share.value is not None:
        parts.append(LinePart((("HOT ", "muted"), (formatting.percent(use.hot_share.value), "text")), 6))
    total = sum(part.bytes or 0 for part in use.parts)
    grows = sum(part.growth or 0.0 for part in use.parts)
    more = f" {'+' if grows > 0 else '-'}{formatting.size(abs(grows) * 60)}/min" if abs(grows) * 60 >= _KB else ""
    parts.append(LinePart((("size ", "muted"), (f"{formatting.size(total)}{more}", "text")), 7))
    return parts


def usage_title(queue: QueueView | None) -> str:
    """Return the panel's title."""
    if queue is None:
        return UsageText.TITLE
    return UsageText.TITLE_OF_QUEUE.render(queue=shorten(clean(queue.name), 30))


def usage_summary(queue: QueueView | None) -> str:
    """Return a text for the panel's title: the number of rows and buffers that each pop reads."""
    use = queue.use if queue is not None else None
    if use is None:
        return ""
    return (
        "".join(piece for piece, _ in per_pop_spans(use))
        if use.touched_per_pop.value is not None
        else use.touched_per_pop.reason
    )


def usage_lines(queue: QueueView | None, cells: int, rows: int) -> list[Line]:
    """Return one line per table and index. Columns that do not fit or that this server cannot fill are left out."""
    if queue is None:
        return [((f" {ScreenText.NO_QUEUE_SELECTED}", "muted"),)]
    use = queue.use
    if use is None:
        return [((f" {UsageText.NOT_READ}", "muted"),)]
    known = [column for column in COLUMNS if any(column[1](part) is not None for part in use.parts)]
    name = min(_NAME_CELLS, max(12, cells - 24 - _NUMBER_CELLS * 3))
    room = max(0, (cells - name - 12 - 2 * (_NUMBER_CELLS + 1) - 1) // (_NUMBER_CELLS + 1))
    kept = known[:room]
    heads = ["SIZE", "GROWTH", *(title for title, _, _ in kept)]
    head: Line = (
        (f" {pad('TABLE OR INDEX', name)} {pad('ROLE', 8)}", "title"),
        *((f" {pad(each, _NUMBER_CELLS, right=True)}", "title") for each in heads),
    )
    out = [cut_line(head, cells), *(cut_line(_index_line(part, name, kept), cells) for part in use.parts)]
    return [*out, *(cut_line(line, cells) for line in _fragmentation_lines(use))][:rows]


def _fragmentation_lines(use: QueueUse) -> list[Line]:
    """Return lines about the age of fragmentation figures, and about indexes without such a figure."""
    ages = [part.fragmented_s for part in use.parts if part.fragmented_s is not None]
    told = [UsageText.FRAGMENTATION_AGE.render(age=formatting.duration(max(ages)))] if ages else []
    told += [
        UsageText.FRAGMENTATION_UNKNOWN.render(index=shorten(clean(part.name), _NAME_CELLS), reason=part.unread)
        for part in use.parts
        if part.unread
    ]
    return [((f" {each}", "muted"),) for each in told]


def _index_line(part: IndexUse, name: int, columns: list[tuple[str, _Getter, Callable[[float], str]]]) -> Line:
    table = part.role == "table"
    spans: list[Span] = [
        (f" {pad(shorten(clean(part.name), name), name)}", "strong" if table else "text"),
        (f" {pad(part.role, 8)}", "muted"),
        _number_cell(part.bytes, formatting.size),
        _number_cell(None if part.growth is None else part.growth * 60, _growth_text),
    ]
    return (*spans, *(_number_cell(of(part), write) for _, of, write in columns))


def _growth_text(per_minute: float) -> str:
    return "0" if abs(per_minute) < _KB else f"{formatting.size(per_minute)}/m"


def _number_cell(value: float | None, write: Callable[[float], str]) -> Span:
    if value is None:
        return (f" {pad(formatting.UNKNOWN, _NUMBER_CELLS, right=True)}", "faint")
    return (f" {pad(write(value), _NUMBER_CELLS, right=True)}", "text" if value else "muted")
