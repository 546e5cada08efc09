"""The line of keys at the bottom; a click on a key presses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.binding import Binding

from qmon.tui.catalogue import ENTRIES
from qmon.tui.shared.keybar import key_name, keybar
from qmon.tui.shared.sanitize import width
from qmon.tui.widgets.lines import Lines


class KeyLine(Lines):
    """The digits of the screens and the keys that matter here."""

    def show_keys(
        self, bindings: Sequence[Binding], off: Mapping[str, str], why: str, here: str, filter_text: str
    ) -> None:
        """Show these; ``off``: by the id of a key why it can do nothing now, ``why``: in a word for all of them."""
        self._places = [(f" {entry.digit} ", entry.digit) for entry in ENTRIES]
        self._places += [(f"{key_name(b)} {b.description}", b.key.partition(",")[0]) for b in bindings if b.show]
        self.show(lambda cells, _: keybar(bindings, here, filter_text, cells, off, why))

    def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        line, after = self.written[0] if self.written else "", 0
        for words, key in self._places:
            at = line.find(words, after)
            if at >= 0:
                after = at + len(words)
                start = width(line[:at])
                if start <= event.x < start + width(words):
                    self.app.simulate_key(key)
                    return
