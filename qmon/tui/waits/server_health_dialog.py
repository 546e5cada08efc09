"""The dialog that shows the server of a target on every screen: the cost of polling, then server health."""

from __future__ import annotations

from textual import getters

from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.dialog_text import KeyHint
from qmon.tui.app import QmonApp
from qmon.tui.sanitize import clean
from qmon.tui.shared.header import heading_line
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.spans import Line
from qmon.tui.waits.server_health_panel import server_lines


class ServerDialogText(Text):
    """The title of the dialog."""

    TITLE = "server of {target}"


# More lines than any server has.
_MAX_ROWS = 1_000


class ServerHealthDialog(TextDialog):
    """The server of the shown target. The lines follow the polls."""

    app = getters.app(QmonApp)
    BINDINGS = keys.SERVER_DIALOG

    def __init__(self) -> None:
        super().__init__(self._server_lines, KeyHint.CLOSE)

    def _server_lines(self, cells: int) -> list[Line]:
        shown, now = self.app.shown, self.app.clock()
        title = ServerDialogText.TITLE.render(target=clean(shown.target))
        heading = heading_line(title, cells, shown=shown, now=now)
        return [heading, (), *server_lines(shown.view, cells, _MAX_ROWS, in_full=True)]
