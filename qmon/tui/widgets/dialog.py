"""The base class of all dialogs, and functions that leave a screen that was pushed onto another screen."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import App
from textual.screen import ModalScreen, Screen, ScreenResultType

from qmon.tui.widgets.terminal_size import use_current_size


class Dialog(ModalScreen[ScreenResultType], inherit_bindings=False):
    """A window over a screen. ``finish`` closes it."""

    def on_resize(self, event: events.Resize) -> None:
        use_current_size(self, event)

    def finish(self, result: ScreenResultType | None = None) -> None:
        """Close with ``result``. Do nothing if the dialog is already closed, or if another dialog is on top.

        The second of two quick keys may arrive after the first has closed the dialog. Without the check, the second key
        would close the screen below, or end the program if there is no screen below.
        """
        if self.is_active:  # is_current is also true for screens below a dialog
            self.dismiss(result)


def leave_screen(screen: Screen[Any]) -> None:
    """Go back from a pushed screen to the screen below. Do nothing if the pushed screen is not on top."""
    if screen.is_active and len(screen.app.screen_stack) > 1:
        screen.app.pop_screen()


async def leave_pushed_screens(app: App[Any]) -> None:
    """Go back to the screen of the current mode, if other screens were pushed onto this screen."""
    while len(app.screen_stack) > 1:
        await app.pop_screen()
