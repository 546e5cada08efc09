"""One session in full, with its whole statement."""

from __future__ import annotations

from qmon.model.blocking import Place
from qmon.tui import keys
from qmon.tui.modals.reading import Reading
from qmon.tui.panels.blocking import details


class SessionDetails(Reading):
    """The result is whether the session is to be ended."""

    BINDINGS = keys.SESSION

    def __init__(self, place: Place) -> None:
        super().__init__(lambda cells: details(place, cells), "E ends it · esc closes")
