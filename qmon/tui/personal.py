"""The base class of all dashboards: themes, and preferences that are remembered between runs."""

from __future__ import annotations

import sys

from textual.app import App
from textual.driver import Driver

from qmon.config.preferences import Preferences
from qmon.model.texts import Text
from qmon.tui.themes import DARK, LIGHT, NAMES, PLAIN, THEMES, is_color_disabled


class PersonalText(Text):
    """Why a preference cannot be changed."""

    NO_COLORS = "no colours: NO_COLOR is set"


class PersonalApp(App[None], inherit_bindings=False):
    """An app with qmon's themes and Textual's themes.

    Args:
        dark: start with the dark theme if no theme is remembered.
        plain: use no colours. By default, the environment variable ``NO_COLOR`` decides.
        preferences: the remembered preferences. By default, preferences are forgotten when the app ends.
    """

    def __init__(self, *, dark: bool, plain: bool | None, preferences: Preferences | None) -> None:
        no_colour = is_color_disabled() if plain is None else plain
        super().__init__(ansi_color=True if no_colour else None)
        self.preferences = preferences or Preferences()
        for theme in THEMES:
            self.register_theme(theme)
        remembered = self.preferences.theme
        chosen = remembered if remembered in NAMES else DARK if dark else LIGHT
        self.theme = PLAIN if no_colour else chosen

    def on_mount(self) -> None:
        """Repaint everything after ``fg``, because the shell has written over the screen."""
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def get_driver_class(self) -> type[Driver]:
        """Return qmon's driver if Textual would use its Linux driver, on which qmon's driver is based."""
        if sys.platform == "win32":
            return super().get_driver_class()
        from textual.drivers.linux_driver import LinuxDriver

        from qmon.tui.driver import TerminalDriver

        usual = super().get_driver_class()
        return TerminalDriver if usual is LinuxDriver else usual

    def use_theme(self, name: str) -> None:
        """Use a theme and remember it."""
        if self.theme == PLAIN:
            self.notify(PersonalText.NO_COLORS, timeout=3, markup=False)
            return
        self.theme = name
        self.preferences.set_theme(name)
