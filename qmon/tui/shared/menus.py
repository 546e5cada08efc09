"""What lies over the screens and tells what can be done: the palette and the help."""

from __future__ import annotations

from rich.text import Text
from textual.app import App

from qmon import log
from qmon.tui.shared.screen import DashboardScreen
from qmon.tui.widgets.filter_bar import FilterBar


class Menus(App[None], inherit_bindings=False):
    """The keys of the app that open them, and what is said where the app itself fails."""

    failed: str = ""
    """What to tell the operator after the screen is gone."""

    def _handle_exception(self, error: Exception) -> None:
        """Log what ends the app."""
        self.failed = log.report(error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave, and show the traceback as it is logged. Textual's shows variables, which hold rows and statements."""
        self.bell()
        self.panic(Text(log.traceback_of(self._exception)) if self._exception is not None else "")

    def action_help(self) -> None:
        """Open the help."""
        from qmon.tui.shared.help import Help

        self.push_screen(Help(self.screen.acting_on() if isinstance(self.screen, DashboardScreen) else None))

    async def action_palette(self) -> None:
        """Open the list of all actions that work here, and do what is chosen there."""
        from qmon.tui.shared.palette import Choice, Palette, offered

        async def do(choice: Choice | None) -> None:
            if choice is not None:
                node, binding = choice
                await self.run_action(binding.action, node)

        off = self.screen.offs() if isinstance(self.screen, DashboardScreen) else {}
        await self.push_screen(Palette(offered(self.screen.active_bindings.values()), off), do)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While text is typed, the palette's key is part of it, and over a modal there is no palette."""
        return action != "palette" or (len(self.screen_stack) == 1 and not isinstance(self.focused, FilterBar))
