"""Causes that several queues share. Lines above the queues show the causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.figure import Severity
from qmon.model.shared_causes import SharedCause
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten, shorten_words
from qmon.tui.spans import Line, LinePart, fit_parts, line_width


class CauseText(Text):
    """How many queues have a cause."""

    QUEUES = "{count} of {total} queues"
    OTHER = "{verdict}: {count}"


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
    count = LinePart.from_text(f"{CauseText.QUEUES.render(count=len(first[1]), total=queue_count)}{key}", "text")
    more = [
        LinePart.from_text(CauseText.OTHER.render(verdict=clean(code), count=len(queues)), "text")
        for code, queues in others
    ]
    about = LinePart.from_text(clean(cause.about).removeprefix(clean(cause.who)).strip(), "muted")
    left = cells - line_width((*head, *count.spans)) - sum(line_width(each.spans) + 2 for each in more) - 4
    if 0 < line_width(about.spans) <= left - _NAMES_CELLS:
        head = (*head, (" ", "text"), *about.spans)
        left -= line_width(about.spans) + 1
    names = shorten_words(", ".join(map(clean, first[1])), max(0, left))
    named = [LinePart.from_text(names, "muted")] if left >= _MIN_NAMES_CELLS else []
    return fit_parts([LinePart(head), count, *named, *more], cells, "  ")


def own_proofs(causes: Sequence[SharedCause], queues: Sequence[QueueView]) -> dict[str, str]:
    """Return the proofs of queues whose worst verdict has one of the shown causes, keyed by queue name.

    A proof does not repeat the line of the cause.
    """
    shown = {cause.who: cause for cause in causes[:MAX_CAUSE_LINES]}
    worst = {queue.name: queue.verdict for queue in queues if queue.verdict.cause in shown}
    return {name: clean(shown[verdict.cause].proof_rest(verdict.proof)) for name, verdict in worst.items()}
