"""A widget whose lines are made of tones: what all its lines share is found out once, not for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.widget import Widget

from qmon.tui.themes import Tones, tones


class TonedWidget(Widget):
    """Knows its tones on its own background until its style changes. ``_stale``: the figures are too old."""

    ALLOW_SELECT = False
    _stale = False
    _base: Style | None = None

    @property
    def base(self) -> Style:
        """The style of what has no tone."""
        if self._base is None:
            self._base = self.rich_style
        return self._base

    @property
    def tones(self) -> Tones:
        """The style of each tone, here and now."""
        return tones(self.app.theme, stale=self._stale, base=self.base)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Tones have no colours of the terminal's own that would have to be told in numbers."""
        return [each for each in super().get_line_filters() if not isinstance(each, ANSIToTruecolor)]

    def notify_style_update(self) -> None:
        """Forget what was found out."""
        self._base = None
        super().notify_style_update()
