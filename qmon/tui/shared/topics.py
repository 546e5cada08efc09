"""The help texts for verdicts, figures, columns and waits on screen. The texts are in tables and in the manual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qmon import manual
from qmon.errors import QmonError
from qmon.model.figure import Severity
from qmon.model.queue_figures import FIGURES_BY_FIELD, QUEUE_FIGURES, QueueFigure
from qmon.model.view import QueueView
from qmon.model.waits.meanings import wait_meaning
from qmon.tui import figures
from qmon.tui.sanitize import clean
from qmon.tui.widgets.grid_table import GridColumn, GridRow


@dataclass(frozen=True, slots=True)
class Topic:
    """A term and its explanation, which may be empty."""

    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Topics under one title."""

    title: str
    topics: tuple[Topic, ...]


def queue_topics(queue: QueueView) -> list[TopicGroup]:
    """Return the worst verdict, unless it is fine, and the reason for each unknown figure."""
    names = [queue.verdict.code] if queue.verdict.severity > Severity.FINE else []
    names += dict.fromkeys(reason for _, reason in figures.unknown_figures(queue))
    return _with_title(clean(queue.layout.queue), _manual_topics(names))


def queue_figure_topics(queue: QueueView) -> list[TopicGroup]:
    """Return every known figure of the queue: its value, meaning, reasons for high or low values, and what to do."""
    topics = [
        Topic(
            f"{each.screen_name} {_figure_text(each, queue)}",
            _join_sentences(each.about, _manual_paragraph(each.screen_name)),
        )
        for each in QUEUE_FIGURES
        if each.figure_for(queue).value is not None
    ]
    return _with_title(f"figures of {clean(queue.layout.queue)}", topics)


def column_topics(column: GridColumn, row: GridRow | None) -> list[TopicGroup]:
    """Return the topic of a column, and why its figure is unknown or incomplete in the row under the cursor."""
    at = "" if row is None else f" of {clean(row.name)}"
    figure = FIGURES_BY_FIELD.get(column.key)
    topics = [Topic(column.about, _manual_paragraph(figure.screen_name) if figure is not None else "")]
    if row is not None and (reason := clean(row.notes.get(column.key, ""))):
        topics.append(Topic(reason, _manual_paragraph(reason)))
    return _with_title(f"{column.title or column.key}{at}", [each for each in topics if each.name])


def figure_topics(field: str) -> list[TopicGroup]:
    """Return the topics of a figure. ``field``: the name of its field in ``QueueView``."""
    figure = FIGURES_BY_FIELD.get(field)
    return (
        []
        if figure is None
        else _with_title(figure.screen_name, [Topic(figure.about, _manual_paragraph(figure.screen_name))])
    )


def wait_topics(name: str, waits_for: str, kind: str, event: str) -> list[TopicGroup]:
    """Return the meaning of a wait for queues, with cause and fix.

    ``waits_for``: the thing that the sessions wait for.
    """
    known = wait_meaning(kind, event)
    topics = [Topic(waits_for)]
    if known is not None:
        topics += [Topic(word, said) for word, said in (("cause", known.cause), ("fix", known.fix)) if said]
    return _with_title(clean(name), topics)


def _with_title(title: str, topics: list[Topic]) -> list[TopicGroup]:
    return [TopicGroup(title, tuple(topics))] if topics else []


def word_topics(name: str) -> TopicGroup:
    """Return the manual's text about the topic with this name."""
    text = _manual_paragraph(name) or (manual.find_topic(name) or "").replace("`", "").replace("#", "")
    return TopicGroup("WORD", (Topic(name, " ".join(text.split())),))


def _manual_topics(names: list[str]) -> list[Topic]:
    """Return the topics that the manual explains. Each text is included once."""
    return list(_without_repeats(Topic(clean(name), _manual_paragraph(name)) for name in names))


def _without_repeats(topics: Iterator[Topic]) -> Iterator[Topic]:
    seen: set[str] = set()
    for topic in topics:
        if topic.text and topic.text not in seen:
            seen.add(topic.text)
            yield topic


def _manual_paragraph(term: str) -> str:
    try:
        return manual.explanation_text(term)
    except QmonError:  # the manual is missing from the installation, but the list of keys is still useful
        return ""


def _join_sentences(first: str, rest: str) -> str:
    return f"{first[:1].upper()}{first[1:]}. {rest}".rstrip()


def _figure_text(figure: QueueFigure, queue: QueueView) -> str:
    value = figure.figure_for(queue)
    return f"{value.text(figure.value_text)}{figure.unit_suffix}"
