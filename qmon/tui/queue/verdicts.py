"""Everything that is wrong with one queue, with its proof and since when; and what was said of it before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from qmon.model.figure import PastVerdict
from qmon.model.view import QueueView, View
from qmon.tui import text
from qmon.tui.overview.why import proof
from qmon.tui.shared import figures
from qmon.tui.shared.sanitize import clean
from qmon.tui.spans import Line, Span, cut

LEAST: Final = 4
MOST: Final = 9
"""Lines at most, on a low screen and on a high one."""


def said(queue: QueueView, view: View, cells: int, rows: int) -> list[Line]:
    """At most ``rows`` lines: the worst verdict, the others below it, then the past ones, the newest first."""
    verdicts = queue.verdicts or (queue.verdict,)
    past_rows = min(len(queue.past), max(1, rows - 1 - len(verdicts)), 3) if queue.past else 0
    left = rows - past_rows
    lines: list[Line] = []
    for number, verdict in enumerate(verdicts):
        rest = len(verdicts) - number - 1
        room = left - len(lines)
        if room == 1 and rest:
            lines.append(((f"        and {rest + 1} verdicts more", "muted"),))
            break
        word = "why" if number == 0 else "also"
        lines += proof(word, queue, view, cells, min(2, max(1, room - rest)), verdict=verdict)
    return lines + _past(queue, cells, past_rows)


def _past(queue: QueueView, cells: int, rows: int) -> list[Line]:
    """One line with as many as fit where there is one row, else one line each."""
    if not rows:
        return []
    if rows == 1:
        spans: list[Span] = [(" before: ", "muted")]
        for number, each in enumerate(queue.past):
            spans += [*([(" · ", "faint")] if number else []), (_named(each), "muted")]
        return [cut(spans, cells)]
    return [
        cut(
            ((" before: " if number == 0 else " " * 9, "muted"), (f"{_named(each)}: {clean(each.proof)}", "muted")),
            cells,
        )
        for number, each in enumerate(queue.past[:rows])
    ]


def _named(past: PastVerdict) -> str:
    first = datetime.fromtimestamp(past.since_at, UTC)
    lasted = text.long_age(past.until_at - past.since_at)
    return f"{figures.SIGNS[past.severity]} {clean(past.code)} at {first:%H:%M:%S} UTC for {lasted}"
