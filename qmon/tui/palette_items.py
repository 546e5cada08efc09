"""The entries of the palette. An entry is an action, or a place to go to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial

from qmon import manual
from qmon.model.view import QueueView
from qmon.texts import Text


class PaletteText(Text):
    """The effects of entries."""

    GO_TO_QUEUE = "go to this queue: {verdict}"
    EXPLAIN = "explain: {topic}"


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """One entry of the palette. ``about``: its effect. ``off``: the reason if the entry is disabled now."""

    id: str
    key: str
    name: str
    about: str
    group: str
    run: Callable[[], Awaitable[object]]
    off: str | None = None


def queue_items(views: Iterable[QueueView], go_to_queue: Callable[[str], Awaitable[object]]) -> list[PaletteItem]:
    """Return an entry for every queue, with its verdict. ``go_to_queue`` is called with the queue's name."""
    return [
        PaletteItem(
            f"queue:{name}",
            "",
            name,
            PaletteText.GO_TO_QUEUE.render(verdict=each.verdict.code),
            "Queues",
            partial(go_to_queue, name),
        )
        for each in views
        for name in (each.layout.queue,)
    ]


def word_items(explain: Callable[[str], Awaitable[object]]) -> list[PaletteItem]:
    """Return an entry for every word of other queue systems. ``explain`` is called with the name of the topic."""
    return [
        PaletteItem(
            f"word:{word}", "?", word, PaletteText.EXPLAIN.render(topic=topic), "Words", partial(explain, topic)
        )
        for word, topic in manual.ALIASES.items()
    ]
