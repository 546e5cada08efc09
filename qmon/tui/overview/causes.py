"""Causes that several queues share: one line each above the queues. The rows show only their own part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Severity
from qmon.model.shared_causes import SharedCause
from qmon.model.view import QueueView
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, fit, line_width
from qmon.tui.widgets.columns import Cell

# The maximum number of lines.
MOST: Final = 2
_LEAST: Final = 12
# Cells reserved for the names of the queues before details are added. With fewer than `_MIN_NAMES_CELLS`, no names.
_NAMES: Final = 30


def lines(causes: Sequence[SharedCause], of: int, cells: int) -> list[Line]:
    """Return one line per cause. ``queue_count``: the number of queues on the target."""
    return [_line(cause, of, cells) for cause in causes[:MOST]]


def _line(cause: SharedCause, of: int, cells: int) -> Line:
    symbol, _ = figures.mark(cause.verdict)
    badge = "alarm badge" if cause.verdict.severity is Severity.CRITICAL else "badge"
    key = f" [{cause.verdict.key}]" if cause.verdict.key else ""
    head: Line = ((f" {symbol} {clean(cause.verdict.code)} ", badge), (f" {shorten(clean(cause.who), 30)}", "strong"))
    first, *others = cause.queues.items()
    count = LinePart.of(f"{len(first[1])} of {of} queues{key}", "text")
    more = [LinePart.of(f"{clean(code)}: {len(queues)}", "text") for code, queues in others]
    about = LinePart.of(clean(cause.about).removeprefix(clean(cause.who)).strip(), "muted")
    left = cells - line_width((*head, *count.spans)) - sum(line_width(each.spans) + 2 for each in more) - 4
    if 0 < line_width(about.spans) <= left - _NAMES:
        head = (*head, (" ", "text"), *about.spans)
        left -= line_width(about.spans) + 1
    names = shorten(", ".join(map(clean, first[1])), max(0, left))
    named = [LinePart.of(names, "muted")] if left >= _LEAST else []
    return fit([LinePart(head), count, *named, *more], cells, "  ")


@dataclass(frozen=True, slots=True)
class Own:
    """The verdict and proof to show for a queue whose worst verdict has a shared cause."""

    verdict: Cell
    proof: str


def own_words(causes: Sequence[SharedCause], queues: Sequence[QueueView]) -> dict[str, Own]:
    """Return the texts of queues whose worst verdict has one of the shown causes, by queue name."""
    shown = {cause.who: cause for cause in causes[:MOST]}
    return {queue.name: _own(queue, shown) for queue in queues if queue.verdict.cause in shown}


def _own(queue: QueueView, shown: Mapping[str, SharedCause]) -> Own:
    verdict, cause = queue.verdict, shown[queue.verdict.cause]
    symbol, tone = figures.mark(verdict)
    more = [each.code for each in queue.verdicts if each.cause not in shown and each.severity >= Severity.WARNING]
    said = ", ".join([f"by {cause.who}" if verdict.code == cause.verdict.code else verdict.code, *more])
    return Own((f"{symbol} {clean(said)}", tone), clean(cause.rest(verdict.proof)))
