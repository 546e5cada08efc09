"""Textual's compositor, except that a partial update renders only widgets on lines that have changed."""

from __future__ import annotations

from textual._compositor import ChopsUpdate, Compositor


class ChangedLinesCompositor(Compositor):
    """Leaves out widgets without a changed line.

    Textual renders all widgets between the first and the last changed line. The header and the lowest plot change with
    almost every view, so these are all widgets of a screen.
    """

    def render_partial_update(self) -> ChopsUpdate | None:
        changed = {y for region in self._dirty_regions for y in region.line_range}
        widgets, _ = self.visible_widgets, self.cuts  # both are computed from all widgets, and kept
        self._visible_widgets = {
            widget: (region, clip)
            for widget, (region, clip) in widgets.items()
            if not changed.isdisjoint(region.intersection(clip).line_range)
        }
        try:
            return super().render_partial_update()
        finally:
            self._visible_widgets = widgets
