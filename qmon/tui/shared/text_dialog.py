"""A dialog that shows a text in full and scrolls if needed."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll

from qmon.tui.spans import Line
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.lines import Lines


class TextDialog(Dialog[bool], inherit_bindings=False):
    """Show a text. The result is True if the user presses the key that acts on the shown object.

    Args:
        text: returns the current lines for a width in cells.
        hint: what the keys do.
    """

    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, text: Callable[[int], list[Line]], hint: str) -> None:
        super().__init__()
        self._lines_for, self._hint = text, hint

    def compose(self) -> ComposeResult:
        with Vertical():
            with VerticalScroll():
                yield Lines(id="details-lines", most=1_000)
            yield Lines(id="details-hint")

    def on_mount(self) -> None:
        """Write the text now, and again whenever figures arrive or a second passes."""
        self.watch(self.app, "shown", self._write, init=False)
        self.watch(self.app, "ticks", self._write, init=False)
        self._write()
        self.query_one("#details-hint", Lines).show(lambda *_: [((f" {self._hint}", "muted"),)])

    def _write(self) -> None:
        self.query_one("#details-lines", Lines).show(lambda cells, _: self._lines_for(cells))

    def action_close(self) -> None:
        self._answer(False)

    def action_act(self) -> None:
        """Close the dialog and act on the shown object."""
        self._answer(True)

    def _answer(self, act: bool) -> None:
        self.finish(act)
