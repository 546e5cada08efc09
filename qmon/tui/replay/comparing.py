"""Two moments of a recording beside each other, in a window."""

from __future__ import annotations

from textual.binding import Binding

from qmon.recording.read.compare import Comparison
from qmon.tui.replay.compared import compared
from qmon.tui.shared.reading import TextDialog


class CompareDialog(TextDialog):
    """Shows what was different between ``before`` and ``after``, the names of the moments."""

    BINDINGS = [Binding("escape,enter,q", "close", "close", id="comparing.close")]  # noqa: RUF012

    def __init__(self, found: Comparison, before: str, after: str) -> None:
        super().__init__(lambda cells: compared(found, before, after, cells), "esc closes")
