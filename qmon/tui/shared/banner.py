"""The banner that is on every screen while a queue is paused: who, until when, and why."""

from __future__ import annotations

from typing import Final

from qmon.model.operations import Pause
from qmon.tui import text
from qmon.tui.actions.plan import moment
from qmon.tui.shared.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, fit
from qmon.tui.status import Shown

MOST: Final = 3


def banner(shown: Shown, now: float, cells: int) -> list[Line]:
    """One line a pause in force, the first to end first; at most three, the last of which says how many there are."""
    if shown.view is None:
        return []
    clock = shown.view.sampled_at + shown.age_s(now)
    pauses = sorted((p for p in shown.view.pauses if p.until > clock), key=lambda p: p.until)
    if len(pauses) > MOST:
        names = ", ".join(shorten(clean(pause.queue), 20) for pause in pauses[MOST - 1 :])
        more: Line = ((" ‖ PAUSED ", "badge"), (f" and {len(pauses) - MOST + 1} more: {names}", "text"))
        return [*(_line(pause, clock, cells) for pause in pauses[: MOST - 1]), fit([LinePart(more)], cells)]
    return [_line(pause, clock, cells) for pause in pauses]


def _line(pause: Pause, clock: float, cells: int) -> Line:
    who = f"by {shorten(clean(pause.by), 24)}"
    until = f"until {moment(pause.until)}, {text.ticking(pause.until - clock)} more"
    parts = [
        LinePart(
            ((" ‖ PAUSED ", "badge"), (f" {shorten(clean(pause.queue), 24)}", "strong"), (f" {pause.side}", "text"))
        ),
        LinePart.of(who, "text", 1),
        LinePart.of(until, "accent", 0),
        LinePart.of("p resumes" if pause.side == "pushers" else "P resumes", "muted", 2),
    ]
    room = cells - sum(len(t) for p in parts for t, _ in p.spans) - 2 * len(parts)
    if pause.reason and room >= 8:
        parts.insert(3, LinePart.of(shorten(clean(pause.reason), room), "muted", 3))
    return fit(parts, cells, "  ")
