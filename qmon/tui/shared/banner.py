"""The notice lines of every screen: the alert, pauses, operations in the background, and the step of the tour.

``now`` is the local monotonic clock in seconds; ``cells`` is the width of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from qmon.model import formatting
from qmon.model.alerts.latches import Alert
from qmon.model.figure import Severity
from qmon.model.samples.polled_samples import PauseSample
from qmon.monitor.alerting import AlertState
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.action_runner import BackgroundOperation
from qmon.tui.sanitize import clean, shorten, text_width
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line, LinePart, Span, fit_parts, line_width, wrap_text

if TYPE_CHECKING:
    from qmon.demo.story import TourStep

_MIN_TEXT_CELLS = 16


class BannerText(Text):
    """The parts of the notice lines."""

    MORE_ALERTS = "+{count} more"
    RAISED_FOR = "for {duration}"
    ACKNOWLEDGE_KEY = "a acknowledges"
    MUTE_KEY = "m mutes"
    ACKNOWLEDGED = "✓ {alerts} acknowledged"
    ALERT = "{where}: {words}"
    MUTED = "alerts muted for {duration} more"
    RAISED = "{count} raised"
    NONE_RAISED = "none raised"
    UNMUTE_KEY = "m extends, then unmutes"
    PAUSED_BY = "by {user}"
    PAUSED_UNTIL = "until {time} ({left})"
    MORE_PAUSES = "and {count} more: {queues}"
    MORE_OPERATIONS = "and {count} more operations"
    OPERATION_ON = "{operation} on {target}"
    DONE_OF = "{done:,} of {total:,}"
    TIME_LEFT = "about {duration} left"


def alert_lines(alerts: AlertState, now: float, cells: int) -> list[Line]:
    """Return one line about the alerts, or no line if no alert is raised and alerts are not muted."""
    if alerts.muted_until is not None:
        return [_muted_line(alerts, alerts.muted_until - now, cells)]
    if alerts.open:
        return [_open_alert_line(alerts, now, cells)]
    if alerts.acknowledged:
        return [_acknowledged_line(alerts.acknowledged, cells)]
    return []


def _open_alert_line(alerts: AlertState, now: float, cells: int) -> Line:
    alert, more = alerts.open[0], len(alerts.open) - 1
    critical = alert.severity is Severity.CRITICAL
    badge = (" ■ CRITICAL ", "alarm badge") if critical else (" ▲ WARNING ", "badge")
    lead: Line = (badge, (f" {_alert_scope(alert)}", "strong"))
    rest = [
        *([LinePart.from_text(BannerText.MORE_ALERTS.render(count=more), "accent", 1)] if more else []),
        LinePart.from_text(
            BannerText.RAISED_FOR.render(duration=formatting.duration(now - alert.since_at)), "muted", 3
        ),
        LinePart.from_text(BannerText.ACKNOWLEDGE_KEY, "muted", 2),
        LinePart.from_text(BannerText.MUTE_KEY, "muted", 4),
    ]
    words = clean(alert.text)
    kept, room = rest, 0
    for rank in (4, 3, 2, 1):
        kept = [part for part in rest if part.rank <= rank]
        room = cells - line_width(lead) - 2 - sum(line_width(part.spans) + 2 for part in kept)
        if room >= (text_width(words) if rank > 2 else _MIN_TEXT_CELLS):
            break
    return fit_parts(
        [LinePart(lead), LinePart.from_text(shorten(words, max(_MIN_TEXT_CELLS, room)), "text"), *kept], cells, "  "
    )


def _acknowledged_line(alerts: tuple[Alert, ...], cells: int) -> Line:
    count = BannerText.ACKNOWLEDGED.render(alerts=formatting.count_text(len(alerts), "alert"))
    first = BannerText.ALERT.render(where=_alert_scope(alerts[0]), words=clean(alerts[0].text))
    return fit_parts([LinePart.from_text(f" {count}", "muted"), LinePart.from_text(first, "muted")], cells)


def _muted_line(alerts: AlertState, left_s: float, cells: int) -> Line:
    raised = len(alerts.open)
    parts = [
        LinePart.from_text(f" {BannerText.MUTED.render(duration=formatting.duration(left_s))}", "accent"),
        LinePart.from_text(BannerText.RAISED.render(count=raised) if raised else BannerText.NONE_RAISED, "text", 1),
        LinePart.from_text(BannerText.UNMUTE_KEY, "muted", 2),
    ]
    return fit_parts(parts, cells)


def _alert_scope(alert: Alert) -> str:
    return shorten(clean(alert.queue), 24) if alert.queue else "target"


MAX_PAUSE_LINES: Final = 3
MAX_OPERATION_LINES: Final = 2


def pause_lines(shown: ShownState, now: float, cells: int) -> list[Line]:
    """Return one line per active pause. The pause that ends first is on top.

    Returns at most three lines. If there are more pauses, the last line contains the number of other pauses.
    """
    if shown.view is None:
        return []
    clock = shown.view.sampled_at + shown.age_s(now)
    pauses = sorted((p for p in shown.view.pauses if p.until_at > clock), key=lambda pause: pause.until_at)
    if len(pauses) > MAX_PAUSE_LINES:
        names = ", ".join(shorten(clean(pause.queue), 20) for pause in pauses[MAX_PAUSE_LINES - 1 :])
        others = BannerText.MORE_PAUSES.render(count=len(pauses) - MAX_PAUSE_LINES + 1, queues=names)
        more: Line = ((" ‖ PAUSED ", "held badge"), (f" {others}", "text"))
        return [
            *(_pause_line(pause, clock, cells, shown) for pause in pauses[: MAX_PAUSE_LINES - 1]),
            fit_parts([LinePart(more)], cells),
        ]
    return [_pause_line(pause, clock, cells, shown) for pause in pauses]


def _pause_line(pause: PauseSample, clock: float, cells: int, shown: ShownState) -> Line:
    who = BannerText.PAUSED_BY.render(user=shorten(clean(pause.by), 24))
    left = formatting.whole_seconds(pause.until_at - clock)
    until = BannerText.PAUSED_UNTIL.render(time=figures.moment_text(pause.until_at), left=left)
    parts = [
        LinePart(
            (
                (" ‖ PAUSED ", "held badge"),
                (f" {shorten(clean(pause.queue), 24)}", "strong"),
                (f" {pause.side}", "text"),
            )
        ),
        LinePart.from_text(who, "text", 1),
        LinePart.from_text(until, "held", 0),
    ]
    if not shown.read_only:
        parts.append(LinePart.from_text("p resumes" if pause.side == "producers" else "P resumes", "muted", 2))
    room = cells - sum(len(t) for p in parts for t, _ in p.spans) - 2 * len(parts)
    if pause.reason and room >= 8:
        parts.insert(3, LinePart.from_text(shorten(clean(pause.reason), room), "muted", 3))
    return fit_parts(parts, cells, "  ")


def operation_lines(operations: Sequence[BackgroundOperation], cells: int) -> list[Line]:
    """Return one line per operation in the background, with its progress.

    Returns at most two lines. If there are more operations, the last line contains the number of other operations.
    """
    lines = [_operation_line(each, cells) for each in operations]
    if len(lines) <= MAX_OPERATION_LINES:
        return lines
    others = BannerText.MORE_OPERATIONS.render(count=len(lines) - MAX_OPERATION_LINES + 1)
    more = LinePart.from_text(f" {others}", "text")
    return [
        *lines[: MAX_OPERATION_LINES - 1],
        fit_parts([more, LinePart.from_text(ScreenText.KEY_6, "muted", 1)], cells),
    ]


def _operation_line(operation: BackgroundOperation, cells: int) -> Line:
    what = shorten(clean(operation.title), 44)
    if operation.target:
        what = BannerText.OPERATION_ON.render(operation=what, target=shorten(clean(operation.target), 20))
    parts = [LinePart(((" ◆ RUNNING ", "tag"), (f" {what}", "strong")))]
    if (progress := operation.progress) is not None:
        if progress.total:
            parts.append(LinePart.from_text(formatting.percent(progress.done / progress.total), "accent"))
            parts.append(
                LinePart.from_text(BannerText.DONE_OF.render(done=progress.done, total=progress.total), "text", 3)
            )
        if progress.rate is not None:
            parts.append(LinePart.from_text(f"{formatting.rate(progress.rate)}/s", "muted", 4))
        if progress.left_s is not None:
            parts.append(
                LinePart.from_text(
                    BannerText.TIME_LEFT.render(duration=formatting.duration(progress.left_s)), "text", 2
                )
            )
    return fit_parts([*parts, LinePart.from_text(ScreenText.KEY_6, "muted", 5)], cells, "  ")


def tour_lines(step: TourStep, cells: int) -> list[Line]:
    """Return at most two lines about the fault that the tour causes now, then at most two about the key to press."""
    title = f" {step.title} "
    room = cells - text_width(title) - 1
    lines: list[Line] = []
    for words, tone in ((step.broken, "text"), (step.answer, "accent")):
        for piece in wrap_text(words, room, room, 2):
            first: Span = (" " * len(title), "text") if lines else (title, "tag")
            lines.append((first, (f" {piece}", tone)))
    return lines
