"""One session in full, with its whole statement."""

from __future__ import annotations

from qmon.model.waits.blocking import Place
from qmon.tui import keys
from qmon.tui.blocking.tree import details
from qmon.tui.shared.reading import TextDialog


class SessionDetails(TextDialog):
    """The result is whether the session is to be ended."""

    BINDINGS = keys.SESSION

    def __init__(self, place: Place) -> None:
        super().__init__(lambda cells: details(place, cells), "E ends it · esc closes")
