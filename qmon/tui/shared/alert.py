"""The banner of alerts, on every screen: the worst that nobody has acknowledged, and how many more there are."""

from __future__ import annotations

from qmon.model.alerts.alerts import Alert
from qmon.model.figure import Severity
from qmon.monitor.alerting import AlertState
from qmon.tui import text
from qmon.tui.shared.sanitize import clean, shorten, width
from qmon.tui.spans import Line, LinePart, fit, line_width

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
    lead: Line = ((" ■ CRITICAL " if critical else " ▲ WARNING ", "badge"), (f" {_where(alert)}", "strong"))
    rest = [
        *([LinePart.of(f"+{more} more", "accent", 1)] if more else []),
        LinePart.of(f"for {text.long_age(now - alert.since_at)}", "muted", 3),
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
        LinePart.of(f" alerts muted for {text.long_age(left_s)} more", "accent"),
        LinePart.of(f"{raised} raised" if raised else "none raised", "text", 1),
        LinePart.of("m longer, then heard again", "muted", 2),
    ]
    return fit(parts, cells)


def _where(alert: Alert) -> str:
    return shorten(clean(alert.queue), 24) if alert.queue else "target"
