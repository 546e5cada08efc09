"""Two moments of a recording, figure by figure: only what has changed, and what is said of each queue."""

from __future__ import annotations

from typing import Final

from qmon.recording.read.compare import Comparison, Pair
from qmon.tui import text
from qmon.tui.shared.sanitize import clean, shorten
from qmon.tui.spans import Line, cut

_NAME: Final = 22


def compared(found: Comparison, before: str, after: str, cells: int) -> list[Line]:
    """The lines of the window. Figures that are the same, or not known at either moment, are left out."""
    lines: list[Line] = [cut([("from ", "muted"), (before, "strong"), ("  to ", "muted"), (after, "strong")], cells)]
    for queue, then, now in found.verdicts:
        changed = [pair for pair in found.pairs if pair.queue == queue and pair.before != pair.after]
        said = now if then == now else f"{then} → {now}"
        tone = "text" if then == now else "accent"
        lines.append(cut([(f"{shorten(clean(queue), _NAME):<{_NAME}} ", "strong"), (clean(said), tone)], cells))
        lines += [cut(_figure(pair), cells) for pair in changed]
    return lines


def _figure(pair: Pair) -> list[tuple[str, str]]:
    change = pair.change
    by = "" if change is None else f"{'+' if change > 0 else '−'}{_number(abs(change))}"
    return [
        (f"   {pair.figure:<14}", "muted"),
        (f"{_number(pair.before):>12} → {_number(pair.after):>12}", "text"),
        (f"  {by:>12}", "accent"),
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return text.count(value) if value == int(value) else f"{value:,.1f}"
