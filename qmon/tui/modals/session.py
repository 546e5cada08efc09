"""One session in full, with its whole statement."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from qmon.model.blocking import Place
from qmon.tui import keys
from qmon.tui.panels.blocking import details
from qmon.tui.widgets.lines import Lines


class SessionDetails(ModalScreen[bool], inherit_bindings=False):
    """Scrolls where it does not fit. The result is whether the session is to be ended."""

    BINDINGS = keys.SESSION
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def compose(self) -> ComposeResult:
        """One text."""
        with Vertical():
            with VerticalScroll():
                yield Lines(id="details-lines")
            yield Lines(id="details-hint")

    def on_mount(self) -> None:
        """Write it."""
        self.query_one("#details-lines", Lines).show(lambda cells, _: details(self._place, cells))
        self.query_one("#details-hint", Lines).show(lambda *_: [((" E ends it · esc closes", "muted"),)])

    def action_close(self) -> None:
        """Close."""
        self.dismiss(False)

    def action_end(self) -> None:
        """Close, and end it."""
        self.dismiss(True)
