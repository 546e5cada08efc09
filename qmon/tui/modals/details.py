"""One operation in full."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from qmon.model.operations import Operation
from qmon.tui import keys
from qmon.tui.panels.operations import details
from qmon.tui.widgets.lines import Lines


class Details(ModalScreen[bool], inherit_bindings=False):
    """Scrolls where it does not fit. The result is whether the operation is to be undone."""

    BINDINGS = keys.DETAILS
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, operation: Operation) -> None:
        super().__init__()
        self._operation = operation

    def compose(self) -> ComposeResult:
        """One text."""
        with Vertical():
            with VerticalScroll():
                yield Lines(id="details-lines")
            yield Lines(id="details-hint")

    def on_mount(self) -> None:
        """Write it."""
        self.query_one("#details-lines", Lines).show(lambda cells, _: details(self._operation, cells))
        self.query_one("#details-hint", Lines).show(lambda *_: [((" u undoes it · esc closes", "muted"),)])

    def action_close(self) -> None:
        """Close."""
        if self.is_current:
            self.dismiss(False)

    def action_undo(self) -> None:
        """Close, and undo it."""
        if self.is_current:
            self.dismiss(True)
