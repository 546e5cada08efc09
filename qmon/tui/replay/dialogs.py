"""The dialog of a replay in which the user types a time to go to."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar


class GoTo(Dialog[str | None], inherit_bindings=False):
    """Ask for a time. The result is the text, or ``None`` if nothing was typed or the dialog was cancelled."""

    AUTO_FOCUS = "FilterBar"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FilterBar("go to", "14:03:20 or 2026-11-21 14:03 or +5m · esc cancels")

    @on(FilterBar.Done)
    def _finish_with_text(self, message: FilterBar.Done) -> None:
        self.finish(self.query_one(FilterBar).text.strip() or None if message.kept else None)
