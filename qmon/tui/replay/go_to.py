"""Where the time to go to is typed."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from qmon.tui.widgets.filter_bar import FilterBar


class GoTo(ModalScreen[str | None], inherit_bindings=False):
    """The result is what was typed; ``None``: nothing, or it was left."""

    AUTO_FOCUS = "FilterBar"

    def compose(self) -> ComposeResult:
        """One line."""
        with Vertical():
            yield FilterBar("go to", "14:03:20 or 2026-11-21 14:03 or +5m · esc leaves")

    @on(FilterBar.Done)
    def _done(self, message: FilterBar.Done) -> None:
        self.dismiss(self.query_one(FilterBar).text.strip() or None if message.kept else None)
