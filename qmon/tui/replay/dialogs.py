"""The dialogs of a replay: going to a time, and comparing two moments."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical

from qmon.model import formatting
from qmon.recording.read.compare import Comparison, FigurePair
from qmon.tui.sanitize import clean, shorten
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.spans import Line, cut_line
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar

_NAME_CELLS: Final = 22


def comparison_lines(comparison: Comparison, before: str, after: str, cells: int) -> list[Line]:
    """Return the lines of the comparison. Figures that are equal, or unknown at either moment, are left out."""
    lines: list[Line] = [
        cut_line([("from ", "muted"), (before, "strong"), ("  to ", "muted"), (after, "strong")], cells)
    ]
    for queue, then, now in comparison.verdicts:
        changed = [pair for pair in comparison.pairs if pair.queue == queue and pair.before != pair.after]
        verdict = now if then == now else f"{then} → {now}"
        tone = "text" if then == now else "accent"
        lines.append(
            cut_line(
                [(f"{shorten(clean(queue), _NAME_CELLS):<{_NAME_CELLS}} ", "strong"), (clean(verdict), tone)], cells
            )
        )
        lines += [cut_line(_figure_spans(pair), cells) for pair in changed]
    return lines


def _figure_spans(pair: FigurePair) -> list[tuple[str, str]]:
    change = pair.change
    by = "" if change is None else f"{'+' if change > 0 else '−'}{_number_text(abs(change))}"
    return [
        (f"   {pair.figure:<14}", "muted"),
        (f"{_number_text(pair.before):>12} → {_number_text(pair.after):>12}", "text"),
        (f"  {by:>12}", "accent"),
    ]


def _number_text(value: float | None) -> str:
    if value is None:
        return "–"
    return formatting.count(value) if value == int(value) else f"{value:,.1f}"


class CompareDialog(TextDialog):
    """The differences between two moments. ``before`` and ``after`` are their names."""

    BINDINGS = [Binding("escape,enter,q", "close", "close", id="comparing.close")]  # noqa: RUF012

    def __init__(self, found: Comparison, before: str, after: str) -> None:
        super().__init__(lambda cells: comparison_lines(found, before, after, cells), "esc closes")


class GoTo(Dialog[str | None], inherit_bindings=False):
    """Ask for a time. The result is the text, or ``None`` if nothing was typed or the dialog was cancelled."""

    AUTO_FOCUS = "FilterBar"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FilterBar("go to", "14:03:20 or 2026-11-21 14:03 or +5m · esc cancels")

    @on(FilterBar.Done)
    def _done(self, message: FilterBar.Done) -> None:
        self.finish(self.query_one(FilterBar).text.strip() or None if message.kept else None)
