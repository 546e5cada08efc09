"""The lines that may be on every screen: an alert, who has paused a queue, until when and why, and what a tour says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.model import text
from qmon.model.alerts.alerts import Alert
from qmon.model.figure import Severity
from qmon.model.operations import Pause
from qmon.monitor.alerting import AlertState
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten, width
from qmon.tui.spans import Line, LinePart, Span, fit, line_width, wrap
from qmon.tui.status import Shown

if TYPE_CHECKING:
    from qmon.demo.story import TourStep

_LEAST_WORDS = 16


def alert_lines(standing: AlertState, now: float, cells: int) -> list[Line]:
    """One line, or none where nothing is raised and nothing muted."""
    if standing.muted_until is not None:
        return [_muted(standing, standing.muted_until - now, cells)]
    if standing.open:
        return [_open(standing, now, cells)]
    if standing.acknowledged:
        return [_acknowledged(standing.acknowledged, cells)]
    return []


def _open(standing: AlertState, now: float, cells: int) -> Line:
    alert, more = standing.open[0], len(standing.open) - 1
    critical = alert.severity is Severity.CRITICAL
    badge = (" ■ CRITICAL ", "alarm badge") if critical else (" ▲ WARNING ", "badge")
    lead: Line = (badge, (f" {_where(alert)}", "strong"))
    rest = [
        *([LinePart.of(f"+{more} more", "accent", 1)] if more else []),
        LinePart.of(f"for {text.duration(now - alert.since_at)}", "muted", 3),
        LinePart.of("a acknowledges", "muted", 2),
        LinePart.of("m mutes", "muted", 4),
    ]
    words = clean(alert.words)
    kept, room = rest, 0
    for rank in (4, 3, 2, 1):
        kept = [part for part in rest if part.rank <= rank]
        room = cells - line_width(lead) - 2 - sum(line_width(part.spans) + 2 for part in kept)
        if room >= (width(words) if rank > 2 else _LEAST_WORDS):
            break
    return fit([LinePart(lead), LinePart.of(shorten(words, max(_LEAST_WORDS, room)), "text"), *kept], cells, "  ")


def _acknowledged(alerts: tuple[Alert, ...], cells: int) -> Line:
    count = f" ✓ {len(alerts)} alert{'s' if len(alerts) > 1 else ''} acknowledged"
    return fit(
        [LinePart.of(count, "muted"), LinePart.of(f"{_where(alerts[0])}: {clean(alerts[0].words)}", "muted")], cells
    )


def _muted(standing: AlertState, left_s: float, cells: int) -> Line:
    raised = len(standing.open)
    parts = [
        LinePart.of(f" alerts muted for {text.duration(left_s)} more", "accent"),
        LinePart.of(f"{raised} raised" if raised else "none raised", "text", 1),
        LinePart.of("m longer, then off", "muted", 2),
    ]
    return fit(parts, cells)


def _where(alert: Alert) -> str:
    return shorten(clean(alert.queue), 24) if alert.queue else "target"


MOST: Final = 3


def banner(shown: Shown, now: float, cells: int) -> list[Line]:
    """One line a pause in force, the first to end first; at most three, the last of which says how many there are."""
    if shown.view is None:
        return []
    clock = shown.view.sampled_at + shown.age_s(now)
    pauses = sorted((p for p in shown.view.pauses if p.until > clock), key=lambda p: p.until)
    if len(pauses) > MOST:
        names = ", ".join(shorten(clean(pause.queue), 20) for pause in pauses[MOST - 1 :])
        more: Line = ((" ‖ PAUSED ", "held badge"), (f" and {len(pauses) - MOST + 1} more: {names}", "text"))
        return [*(_line(pause, clock, cells) for pause in pauses[: MOST - 1]), fit([LinePart(more)], cells)]
    return [_line(pause, clock, cells) for pause in pauses]


def _line(pause: Pause, clock: float, cells: int) -> Line:
    who = f"by {shorten(clean(pause.by), 24)}"
    until = f"until {figures.moment(pause.until)}, {text.whole_seconds(pause.until - clock)} more"
    parts = [
        LinePart(
            (
                (" ‖ PAUSED ", "held badge"),
                (f" {shorten(clean(pause.queue), 24)}", "strong"),
                (f" {pause.side}", "text"),
            )
        ),
        LinePart.of(who, "text", 1),
        LinePart.of(until, "held", 0),
        LinePart.of("p resumes" if pause.side == "pushers" else "P resumes", "muted", 2),
    ]
    room = cells - sum(len(t) for p in parts for t, _ in p.spans) - 2 * len(parts)
    if pause.reason and room >= 8:
        parts.insert(3, LinePart.of(shorten(clean(pause.reason), room), "muted", 3))
    return fit(parts, cells, "  ")


def tour_lines(told: TourStep, cells: int) -> list[Line]:
    """What is being broken now, and below it what to press; each on two lines at most."""
    title = f" {told.title} "
    room = cells - width(title) - 1
    lines: list[Line] = []
    for words, tone in ((told.broken, "text"), (told.answer, "accent")):
        for piece in wrap(words, room, room, 2):
            first: Span = (" " * len(title), "text") if lines else (title, "tag")
            lines.append((first, (f" {piece}", tone)))
    return lines
