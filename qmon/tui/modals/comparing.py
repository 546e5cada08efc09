"""Two moments of a recording beside each other, in a window."""

from __future__ import annotations

from textual.binding import Binding

from qmon.recording.comparing import Comparison
from qmon.tui.modals.reading import Reading
from qmon.tui.panels.compared import compared


class Comparing(Reading):
    """Shows what was different between ``before`` and ``after``, the names of the moments."""

    BINDINGS = [Binding("escape,enter,q", "close", "close", id="comparing.close")]  # noqa: RUF012

    def __init__(self, found: Comparison, before: str, after: str) -> None:
        super().__init__(lambda cells: compared(found, before, after, cells), "esc closes")
