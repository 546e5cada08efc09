"""Causes that several queues share. Lines above the queues show the causes; rows show how each queue differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Severity
from qmon.model.shared_causes import SharedCause
from qmon.model.view import QueueView
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, fit_parts, line_width
from qmon.tui.widgets.grid_table import Cell

# The maximum number of lines.
MAX_CAUSE_LINES: Final = 2
_MIN_NAMES_CELLS: Final = 12
# Cells reserved for the names of the queues before details are added. If fewer than `_MIN_NAMES_CELLS` are left, no
# names are shown.
_NAMES_CELLS: Final = 30


def cause_lines(causes: Sequence[SharedCause], queue_count: int, cells: int) -> list[Line]:
    """Return one line per cause. ``queue_count``: the number of queues on the target."""
    return [_cause_line(cause, queue_count, cells) for cause in causes[:MAX_CAUSE_LINES]]


def _cause_line(cause: SharedCause, queue_count: int, cells: int) -> Line:
    symbol, _ = figures.verdict_mark(cause.verdict)
    badge = "alarm badge" if cause.verdict.severity is Severity.CRITICAL else "badge"
    key = f" [{cause.verdict.key}]" if cause.verdict.key else ""
    head: Line = ((f" {symbol} {clean(cause.verdict.code)} ", badge), (f" {shorten(clean(cause.who), 30)}", "strong"))
    first, *others = cause.queues.items()
    count = LinePart.from_text(f"{len(first[1])} of {queue_count} queues{key}", "text")
    more = [LinePart.from_text(f"{clean(code)}: {len(queues)}", "text") for code, queues in others]
    about = LinePart.from_text(clean(cause.about).removeprefix(clean(cause.who)).strip(), "muted")
    left = cells - line_width((*head, *count.spans)) - sum(line_width(each.spans) + 2 for each in more) - 4
    if 0 < line_width(about.spans) <= left - _NAMES_CELLS:
        head = (*head, (" ", "text"), *about.spans)
        left -= line_width(about.spans) + 1
    names = shorten(", ".join(map(clean, first[1])), max(0, left))
    named = [LinePart.from_text(names, "muted")] if left >= _MIN_NAMES_CELLS else []
    return fit_parts([LinePart(head), count, *named, *more], cells, "  ")


@dataclass(frozen=True, slots=True)
class OwnVerdict:
    """The verdict and proof to show for a queue whose worst verdict has a shared cause."""

    verdict: Cell
    proof: str


def own_verdicts(causes: Sequence[SharedCause], queues: Sequence[QueueView]) -> dict[str, OwnVerdict]:
    """Return the texts of queues whose worst verdict has one of the shown causes, keyed by queue name."""
    shown = {cause.who: cause for cause in causes[:MAX_CAUSE_LINES]}
    return {queue.name: _own_verdict(queue, shown) for queue in queues if queue.verdict.cause in shown}


def _own_verdict(queue: QueueView, shown: Mapping[str, SharedCause]) -> OwnVerdict:
    verdict, cause = queue.verdict, shown[queue.verdict.cause]
    symbol, tone = figures.verdict_mark(verdict)
    more = [each.code for each in queue.verdicts if each.cause not in shown and each.severity >= Severity.WARNING]
    said = ", ".join([f"by {cause.who}" if verdict.code == cause.verdict.code else verdict.code, *more])
    return OwnVerdict((f"{symbol} {clean(said)}", tone), clean(cause.proof_rest(verdict.proof)))
