"""The help texts for what is on screen: verdicts, figures, columns, waits. They come from the tables and the manual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from qmon import manual
from qmon.errors import QmonError
from qmon.model import text
from qmon.model.figure import Severity
from qmon.model.queue_figures import BYTES, GROWTH, QUEUE_FIGURES, RATE, SECONDS, SHARE, QueueFigure
from qmon.model.view import QueueView
from qmon.model.waits.known import meaning
from qmon.tui import figures
from qmon.tui.sanitize import clean
from qmon.tui.widgets.columns import GridColumn, GridRow

_BY_FIELD: Final[Mapping[str, QueueFigure]] = {each.field: each for each in QUEUE_FIGURES}
_WRITTEN: Final = {SECONDS: text.duration, SHARE: text.percent, BYTES: text.size}


@dataclass(frozen=True, slots=True)
class Topic:
    """A term and its explanation, which may be empty."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Explained:
    """Topics under one title."""

    title: str
    topics: tuple[Topic, ...]


def of_queue(queue: QueueView) -> list[Explained]:
    """Return the worst verdict, unless it is fine, and the reason for each unknown figure."""
    names = [queue.verdict.code] if queue.verdict.severity > Severity.FINE else []
    names += dict.fromkeys(reason for _, reason in figures.unknown(queue))
    return _titled(clean(queue.layout.queue), _told(names))


def of_figures(queue: QueueView) -> list[Explained]:
    """Return every known figure of the queue: its value, its meaning, reasons for high or low values, what to do."""
    topics = [
        Topic(f"{each.words} {_written(each, queue)}", _sentences(each.about, _manual(each.words)))
        for each in QUEUE_FIGURES
        if each.of(queue).value is not None
    ]
    return _titled(f"figures of {clean(queue.layout.queue)}", topics)


def of_column(column: GridColumn, row: GridRow | None) -> list[Explained]:
    """Return a column and why its figure is unknown or incomplete in the row under the cursor."""
    at = "" if row is None else f" of {clean(row.name)}"
    figure = _BY_FIELD.get(column.key)
    topics = [Topic(column.about, _manual(figure.words) if figure is not None else "")]
    if row is not None and (reason := clean(row.notes.get(column.key, ""))):
        topics.append(Topic(reason, _manual(reason)))
    return _titled(f"{column.title or column.key}{at}", [each for each in topics if each.name])


def of_figure(field: str) -> list[Explained]:
    """Return a figure by the name of its field in ``QueueView``."""
    figure = _BY_FIELD.get(field)
    return [] if figure is None else _titled(figure.words, [Topic(figure.about, _manual(figure.words))])


def of_wait(name: str, what: str, kind: str, event: str) -> list[Explained]:
    """Return the meaning of a wait for queues, with cause and fix. ``what``: what is being waited for."""
    known = meaning(kind, event)
    topics = [Topic(what)]
    if known is not None:
        topics += [Topic(word, said) for word, said in (("cause", known.why), ("fix", known.do)) if said]
    return _titled(clean(name), topics)


def _titled(title: str, topics: list[Topic]) -> list[Explained]:
    return [Explained(title, tuple(topics))] if topics else []


def _told(names: list[str]) -> list[Topic]:
    """Return the names that the manual explains, each text once."""
    return list(_once(Topic(clean(name), _manual(name)) for name in names))


def _once(topics: Iterator[Topic]) -> Iterator[Topic]:
    seen: set[str] = set()
    for topic in topics:
        if topic.text and topic.text not in seen:
            seen.add(topic.text)
            yield topic


def _manual(words: str) -> str:
    try:
        return manual.paragraph(words)
    except QmonError:  # the installation is broken, but the list of keys is still useful
        return ""


def _sentences(first: str, rest: str) -> str:
    return f"{first[:1].upper()}{first[1:]}. {rest}".rstrip()


def _written(figure: QueueFigure, queue: QueueView) -> str:
    value = figure.of(queue)
    if figure.unit == GROWTH:
        return f"{'-' if (value.value or 0) < 0 else ''}{value.text(lambda grows: text.size(abs(grows)))}/s"
    if figure.unit == RATE:
        return f"{value.text(text.rate)}/s"
    return value.text(_WRITTEN.get(figure.unit, text.count))
