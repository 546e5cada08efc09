"""One operation in full."""

from __future__ import annotations

from qmon.model.operations import Operation
from qmon.tui import keys
from qmon.tui.modals.reading import Reading
from qmon.tui.panels.operations import details


class Details(Reading):
    """The result is whether the operation is to be undone."""

    BINDINGS = keys.DETAILS

    def __init__(self, operation: Operation) -> None:
        super().__init__(lambda cells: details(operation, cells), "u undoes it · esc closes")
