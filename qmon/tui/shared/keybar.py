"""The key lines at the bottom: the screens, the current filter, and the keys of this screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textual import events
from textual.binding import Binding

from qmon.texts import Text
from qmon.tui.keys import ACTING
from qmon.tui.sanitize import clean, text_width
from qmon.tui.screen_list import ENTRIES, ScreenEntry
from qmon.tui.spans import Line, LinePart, Span, fit_parts
from qmon.tui.widgets.lines import Lines

_ALWAYS = ("help", "palette", "quit")
# The screens and the keys share a line if at least this many cells are left for keys. Otherwise, the screens have a
# separate line.
_KEY_CELLS = 66
# Narrower terminals have one line, which only names the current screen.
_TWO_LINES_FROM = 100


class KeyLineText(Text):
    """A hint in the key lines."""

    CLEAR_FILTER = "esc clears it"


def key_name(binding: Binding) -> str:
    """Return the name of the key that users see."""
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
    """Return the key lines: one line, or two if the names of the screens need a separate line.

    Narrow lines drop the last keys first, but never the keys for help, palette and quit.

    Args:
        bindings: the keys, in order.
        current: the name of the screen.
        filter_text: the current filter, or empty.
        cells: the width of the lines.
        off: the reasons why keys are disabled, keyed by binding id. Disabled keys are dimmed.
        off_word: one word for all of these reasons.
        entries: the screens that exist.
    """
    off = off or {}
    named_cells = sum(text_width(f" {entry.digit} {entry.title}") for entry in entries)
    fits_one_line = named_cells + _KEY_CELLS <= cells
    screens = _screen_spans(entries, current, with_titles=fits_one_line or cells >= _TWO_LINES_FROM)
    parts: list[LinePart] = []
    if filter_text:
        parts.append(
            LinePart(
                (
                    ("search " if current == "message" else "filter ", "muted"),
                    (f" {clean(filter_text)} ", "tag"),
                    (f" {KeyLineText.CLEAR_FILTER}", "muted"),
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
    if cells < _TWO_LINES_FROM or fits_one_line:
        return [fit_parts([LinePart(screens), *parts], cells, "  ")]
    keys_line = fit_parts([LinePart(((" ", "text"), *part.spans), part.rank) for part in parts], cells, " ")
    return [fit_parts([LinePart(screens)], cells), keys_line]


def _screen_spans(entries: Iterable[ScreenEntry], current: str, *, with_titles: bool) -> Line:
    """Return the digits of the screens, with all titles or only the title of the current screen."""
    spans: list[Span] = []
    for entry in entries:
        is_here = entry.name == current
        title = entry.title if is_here or with_titles else ""
        spans += [(f" {entry.digit} ", "strong" if is_here else "key"), (title, "text" if is_here else "muted")]
    return tuple(spans)


class KeyLine(Lines):
    """The key lines as a widget. Clicking a key or a screen presses its key."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, most=2)
        self._given: tuple[object, ...] | None = None

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
        given = (bindings, off, off_word, current, filter_text, entries)
        if given == self._given:  # the usual case: keys change less often than figures
            return
        self._given = given
        self._clickable_keys = {f" {entry.digit} ": entry.digit for entry in entries}
        self._clickable_keys |= {f"{key_name(b)} ": b.key.partition(",")[0] for b in bindings if b.show}
        self.show(lambda cells, _: keybar_lines(bindings, current, filter_text, cells, off, off_word, entries))

    def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse. A click on the name of a key presses this key."""
        before, left = "", event.x
        for text, _ in self._lines[event.y] if event.y < len(self._lines) else ():
            if left < text_width(text):
                if key := self._clickable_keys.get(text) or self._clickable_keys.get(before):
                    self.app.simulate_key(key)
                return
            before, left = text, left - text_width(text)
