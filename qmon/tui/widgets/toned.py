"""The base class of widgets that are drawn in tones. It computes the styles once, not for every line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.filter import ANSIToTruecolor, LineFilter
from textual.widget import Widget

from qmon.tui.themes import Tones, tones


class TonedWidget(Widget):
    """Caches the styles of tones on its background until its style changes. ``_stale``: the figures are too old."""

    ALLOW_SELECT = False
    _stale = False
    _base: Style | None = None

    @property
    def base(self) -> Style:
        """The style of text without a tone."""
        if self._base is None:
            self._base = self.rich_style
        return self._base

    @property
    def tones(self) -> Tones:
        """The current style of each tone."""
        return tones(self.app.theme, stale=self._stale, base=self.base)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters without Textual's conversion of ANSI colours, because tones have no ANSI colours."""
        return [each for each in super().get_line_filters() if not isinstance(each, ANSIToTruecolor)]

    def notify_style_update(self) -> None:
        """Drop the cached style."""
        self._base = None
        super().notify_style_update()
