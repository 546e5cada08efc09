"""The key line at the bottom: the screens, the current filter, and the keys of this screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textual import events
from textual.binding import Binding

from qmon.tui.keys import ACTING
from qmon.tui.sanitize import clean, text_width
from qmon.tui.screen_list import ENTRIES, ScreenEntry
from qmon.tui.spans import Line, LinePart, Span, fit_parts
from qmon.tui.widgets.lines import Lines

_ALWAYS = ("help", "palette", "quit")
# All screens are named if that leaves this many cells for keys; keys that act are worth more than names of screens.
# Otherwise only the current screen is named.
_KEY_CELLS = 66


def key_name(binding: Binding) -> str:
    """Return the name of the key as users know it."""
    return binding.key_display or binding.key.partition(",")[0]


def keybar_lines(
    bindings: Iterable[Binding],
    current: str,
    filter_text: str,
    cells: int,
    off: Mapping[str, str] | None = None,
    off_word: str = "",
    entries: Sequence[ScreenEntry] = ENTRIES,
) -> list[Line]:
    """Return the key line.

    Narrow lines drop the last keys first, but never help, palette and quit.

    Args:
        bindings: the keys, in order.
        current: the name of the screen.
        filter_text: the current filter, or empty.
        cells: the width of the line.
        off: the reasons why keys are disabled, by binding id; these keys are dimmed.
        off_word: one word for all of these reasons.
        entries: the screens that exist.
    """
    off = off or {}
    places: list[Span] = []
    names_fit = sum(text_width(f" {entry.digit} {entry.title}") for entry in entries) + _KEY_CELLS <= cells
    for entry in entries:
        is_here = entry.name == current
        title = entry.title if is_here or names_fit else ""
        places += [(f" {entry.digit} ", "strong" if is_here else "key"), (title, "text" if is_here else "muted")]
    parts = [LinePart(tuple(places), 0)]
    if filter_text:
        parts.append(
            LinePart(
                (
                    ("search " if current == "message" else "filter ", "muted"),
                    (f" {clean(filter_text)} ", "tag"),
                    (" esc clears it", "muted"),
                ),
                0,
            )
        )
    shown = [b for b in bindings if b.show]
    acting = [b for b in shown if b.group is ACTING and b.id in off]
    for rank, binding in enumerate(shown, start=1):
        dim = binding.id in off
        spans = (
            (f"{key_name(binding)} ", "faint" if dim else "key"),
            (binding.description, "faint" if dim else "muted"),
        )
        parts.append(LinePart(spans, 0 if binding.id in _ALWAYS else rank))
        if off_word and acting and binding is acting[-1]:
            parts.append(LinePart.from_text(f"({off_word})", "faint", rank))
    return [fit_parts(parts, cells, "  ")]


class KeyLine(Lines):
    """The key line as a widget: click a key to press it."""

    def show_keys(
        self,
        bindings: Sequence[Binding],
        off: Mapping[str, str],
        off_word: str,
        current: str,
        filter_text: str,
        entries: Sequence[ScreenEntry] = ENTRIES,
    ) -> None:
        """Show these keys. The arguments are those of ``keybar_lines``."""
        self._clickable_keys = [(f" {entry.digit} ", entry.digit) for entry in entries]
        self._clickable_keys += [
            (f"{key_name(b)} {b.description}", b.key.partition(",")[0]) for b in bindings if b.show
        ]
        self.show(lambda cells, _: keybar_lines(bindings, current, filter_text, cells, off, off_word, entries))

    def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        line, after = self.plain_lines[0] if self.plain_lines else "", 0
        for words, key in self._clickable_keys:
            at = line.find(words, after)
            if at >= 0:
                after = at + len(words)
                start = text_width(line[:at])
                if start <= event.x < start + text_width(words):
                    self.app.simulate_key(key)
                    return
