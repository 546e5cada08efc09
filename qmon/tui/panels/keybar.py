"""The line at the bottom: the keys that matter here, and the filter where there is one."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding

from qmon.tui.clean import clean
from qmon.tui.screens.catalogue import ENTRIES
from qmon.tui.spans import Line, Part, Span, fit

_ALWAYS = ("palette", "quit")


def key_name(binding: Binding) -> str:
    """The key as people know it."""
    return binding.key_display or binding.key.partition(",")[0]


def keybar(bindings: Iterable[Binding], here: str, filter_text: str, cells: int) -> list[Line]:
    """``here``: the name of the screen. Keys further along the line go first; two of them always stay."""
    places: list[Span] = []
    for entry in ENTRIES:
        is_here = entry.name == here
        places += [(f" {entry.digit} ", "strong" if is_here else "key"), (entry.title, "text" if is_here else "muted")]
    parts = [Part(tuple(places), 0)]
    if filter_text:
        parts.append(Part((("filter ", "muted"), (f" {clean(filter_text)} ", "tag"), (" esc drops it", "muted")), 0))
    for rank, binding in enumerate((b for b in bindings if b.show), start=1):
        spans = ((f"{key_name(binding)} ", "key"), (binding.description, "muted"))
        parts.append(Part(spans, 0 if binding.id in _ALWAYS else rank))
    return [fit(parts, cells, "  ")]
