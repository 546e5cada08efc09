"""The notice lines of every screen: the alert, pauses, operations in the background, and the step of a tour.

``now`` is the local monotonic clock in seconds; ``cells`` is the width of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from qmon.model import text
from qmon.model.alerts.alerts import Alert
from qmon.model.figure import Severity
from qmon.model.operations import Pause
from qmon.monitor.alerting import AlertState
from qmon.tui import figures
from qmon.tui.action_runner import UnderWay
from qmon.tui.sanitize import clean, shorten, width
from qmon.tui.spans import Line, LinePart, Span, fit, line_width, wrap
from qmon.tui.status import Shown

if TYPE_CHECKING:
    from qmon.demo.story import TourStep

_LEAST_WORDS = 16


def alert_lines(alerts: AlertState, now: float, cells: int) -> list[Line]:
    """Return one line about the alerts, or none if nothing is raised or muted."""
    if alerts.muted_until is not None:
        return [_muted(alerts, alerts.muted_until - now, cells)]
    if alerts.open:
        return [_open(alerts, now, cells)]
    if alerts.acknowledged:
        return [_acknowledged(alerts.acknowledged, cells)]
    return []


def _open(alerts: AlertState, now: float, cells: int) -> Line:
    alert, more = alerts.open[0], len(alerts.open) - 1
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


def _muted(alerts: AlertState, left_s: float, cells: int) -> Line:
    raised = len(alerts.open)
    parts = [
        LinePart.of(f" alerts muted for {text.duration(left_s)} more", "accent"),
        LinePart.of(f"{raised} raised" if raised else "none raised", "text", 1),
        LinePart.of("m longer, then off", "muted", 2),
    ]
    return fit(parts, cells)


def _where(alert: Alert) -> str:
    return shorten(clean(alert.queue), 24) if alert.queue else "target"


MOST: Final = 3
MOST_UNDER_WAY: Final = 2


def banner(shown: Shown, now: float, cells: int) -> list[Line]:
    """Return one line per active pause, the one that ends first on top.

    At most three lines; if there are more pauses, the last line counts the others.
    """
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


def under_way_lines(found: Sequence[UnderWay], cells: int) -> list[Line]:
    """Return one line per operation in the background, with its progress.

    At most two lines; if there are more operations, the last line counts the others.
    """
    lines = [_under_way(each, cells) for each in found]
    if len(lines) <= MOST_UNDER_WAY:
        return lines
    more = LinePart.of(f" and {len(lines) - MOST_UNDER_WAY + 1} more operations", "text")
    return [*lines[: MOST_UNDER_WAY - 1], fit([more, LinePart.of("6 lists them", "muted", 1)], cells)]


def _under_way(each: UnderWay, cells: int) -> Line:
    where = f" on {shorten(clean(each.target), 20)}" if each.target else ""
    parts = [LinePart(((" ◆ UNDER WAY ", "tag"), (f" {shorten(clean(each.title), 44)}{where}", "strong")))]
    if (progress := each.progress) is not None:
        if progress.total:
            parts.append(LinePart.of(text.percent(progress.done / progress.total), "accent"))
            parts.append(LinePart.of(f"{progress.done:,} of {progress.total:,}", "text", 3))
        if progress.rate is not None:
            parts.append(LinePart.of(f"{text.rate(progress.rate)}/s", "muted", 4))
        if progress.left_s is not None:
            parts.append(LinePart.of(f"about {text.duration(progress.left_s)} left", "text", 2))
    return fit([*parts, LinePart.of("6 lists it", "muted", 5)], cells, "  ")


def tour_lines(told: TourStep, cells: int) -> list[Line]:
    """Return what is being broken now, then what to press; each on at most two lines."""
    title = f" {told.title} "
    room = cells - width(title) - 1
    lines: list[Line] = []
    for words, tone in ((told.broken, "text"), (told.answer, "accent")):
        for piece in wrap(words, room, room, 2):
            first: Span = (" " * len(title), "text") if lines else (title, "tag")
            lines.append((first, (f" {piece}", tone)))
    return lines
