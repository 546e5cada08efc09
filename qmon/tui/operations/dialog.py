"""One operation in full."""

from __future__ import annotations

from qmon.model.operations import Operation
from qmon.tui import keys
from qmon.tui.operations.rows import details
from qmon.tui.shared.reading import TextDialog


class OperationDetails(TextDialog):
    """The result is whether the operation is to be undone; ``undoable``: that can be done now."""

    BINDINGS = keys.DETAILS

    def __init__(self, operation: Operation, *, undoable: bool) -> None:
        hint = "u undoes it · esc closes" if undoable else "esc closes"
        super().__init__(lambda cells: details(operation, cells), hint)
