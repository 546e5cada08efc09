"""The first line of every screen: the target, how fresh the figures are, and the cost of polling.

``now`` is the local monotonic clock in seconds; ``cells`` is the width of the screen.
"""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.view import View
from qmon.monitor.source import Phase
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten, text_width
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shown_state import Freshness, ShownState
from qmon.tui.spans import Line, LinePart, Span, cut_line, fit_parts, line_width, spread_parts, wrap_text


class HeaderText(Text):
    """The parts of the header line."""

    LIVE = "● live"
    LATE = "◌ late"
    LOST = "✕ lost"
    CONNECTING = "◌ connecting"
    FROZEN = "◇ frozen"
    PAUSED = "‖ paused"
    CLOSED = "✕ closed"
    NO_FIGURES = "◌ waiting"
    FROM_SERVE = "from serve at {address}"
    EVERY = "every {duration}"
    AGO = "{age} ago"
    AGO_AND_REASON = "{ago}: {reason}"
    WAITING = "for the first figures"
    RETRY_AND_REASON = ", {retry}: {reason}"
    NO_CONNECTION = "no connection"
    RETRY_IN = "retry in {duration}"
    RETRYING_NOW = "trying now"
    RETRYING = "trying again"
    SLOWER = "server {times:.0f} times slower since {time}"
    COST = "cost {share}"
    THROTTLED = "{count} throttled"


ENGINES: Final = {"postgres": "PostgreSQL", "sqlserver": "SQL Server"}
_LONG_REASON: Final = 60
_WIDE: Final = 120


def header_lines(shown: ShownState, now: float, cells: int) -> list[Line]:
    """Return the header line.

    Narrow screens drop the cost of polling first, then the interval.
    """
    badges = [b for b in _badge_parts(shown) if b.rank == 0 or shown.phase is not Phase.LOST]
    name = f" {shorten(clean(shown.target), 28)}"
    served = ""
    if shown.served:
        served = f" {HeaderText.FROM_SERVE.render(address=shorten(clean(shown.served), 24 if cells >= _WIDE else 13))}"
    status = (*_replay_spans(shown), *state_spans(shown, now)) if shown.replay else state_spans(shown, now)
    room = cells - text_width(name + served) - 3 - line_width(fit_parts(badges, cells, "  ")) - 2
    left = [LinePart(((name, "strong"), (served, "muted")) if served else ((name, "strong"),))]
    if shown.view is not None:
        left.append(LinePart.from_text(_engine_text(shown.view), "muted", 2))
    left.append(LinePart(cut_line(status, room), 0))
    if shown.phase is not Phase.LOST:
        left.append(
            LinePart.from_text(HeaderText.EVERY.render(duration=formatting.duration(shown.interval_s)), "muted", 3)
        )
    if shown.view is not None:
        left += _cost_parts(shown.view)
    return [spread_parts(left, badges, cells)]


def _replay_spans(shown: ShownState) -> tuple[Span, ...]:
    """Return the badge and the recorded time of a replay. Figures of a replay are never labelled live."""
    return ((" REPLAY ", "badge"), (f" {shown.replay}  ", "accent"))


def state_spans(shown: ShownState, now: float) -> tuple[Span, ...]:
    """Return the state of the source and the age of the figures. Each state has its own symbol."""
    ago = HeaderText.AGO.render(age=formatting.duration(shown.age_s(now)))
    reason = clean(shown.state.reason) if shown.state is not None else ""
    phase = shown.phase
    if phase is Phase.LOST:
        return _lost_spans(shown, now, reason)
    if phase is Phase.CLOSED:
        return ((HeaderText.CLOSED, "alarm"),)
    if phase is Phase.PAUSED:
        return ((HeaderText.PAUSED, "accent"), (f" {ago}", "text"))
    if phase is Phase.CONNECTING:
        return ((HeaderText.CONNECTING, "accent"), (f" {shorten(reason, _LONG_REASON)}" if reason else "", "muted"))
    if phase is Phase.LATE or (shown.is_overdue(now) and not shown.frozen):
        late = HeaderText.AGO_AND_REASON.render(ago=ago, reason=shorten(reason, _LONG_REASON)) if reason else ago
        return ((HeaderText.LATE, "alarm"), (f" {late}", "accent"))
    if shown.frozen:
        return ((HeaderText.FROZEN, "accent"), (f" {ago}", "text"))
    if shown.view is None:
        return ((HeaderText.NO_FIGURES, "accent"), (f" {HeaderText.WAITING}", "muted"))
    live: tuple[Span, ...] = () if shown.replay else ((HeaderText.LIVE[:1], "pop"), (HeaderText.LIVE[1:], "text"))
    return (*live, (f" {ago}", "muted"))


def _lost_spans(shown: ShownState, now: float, reason: str) -> tuple[Span, ...]:
    why = shorten(reason or HeaderText.NO_CONNECTION, _LONG_REASON)
    return (
        (HeaderText.LOST, "alarm"),
        (HeaderText.RETRY_AND_REASON.render(retry=retry_text(shown, now), reason=why), "accent"),
    )


def retry_text(shown: ShownState, now: float) -> str:
    """Return when the source tries again: ``retry in 3 s``."""
    if shown.state is None or shown.state.retry_at is None:
        return HeaderText.RETRYING
    left = shown.state.retry_at - now
    return (
        HeaderText.RETRY_IN.render(duration=formatting.whole_seconds(left)) if left >= 0.5 else HeaderText.RETRYING_NOW
    )


def _engine_text(view: View) -> str:
    return clean(f"{ENGINES.get(view.engine, view.engine)} {view.server_version}")


def _cost_parts(view: View) -> list[LinePart]:
    """Return the cost of polling as a share of its budget, and how much slower the server is than before.

    Key ``i`` of the waits screen shows the details.
    """
    share, observing, parts = view.server.budget_share, view.server.observing, []
    if observing is not None and observing.slower_since is not None:
        since = figures.moment_text(observing.slower_since)
        words = HeaderText.SLOWER.render(times=observing.slower, time=since)
        parts.append(LinePart.from_text(words, "accent", 1))
    tone = "accent" if share is not None and share > 1 else "muted"
    shown = formatting.UNKNOWN if share is None else formatting.percent(share)
    parts.append(LinePart.from_text(HeaderText.COST.render(share=shown), tone, 4))
    if observing is not None and observing.throttled:
        parts.append(LinePart.from_text(HeaderText.THROTTLED.render(count=len(observing.throttled)), "accent", 2))
    return parts


def _badge_parts(shown: ShownState) -> list[LinePart]:
    badges = []
    if shown.environment:
        badges.append(LinePart.from_text(f" {shorten(clean(shown.environment), 16)} ", "tag", 2))
    if shown.recording is not None:
        badges.append(
            LinePart.from_text(" REC ", "tag", 2)
            if shown.recording
            else LinePart.from_text(" NOT RECORDING ", "badge", 0)
        )
    if shown.prod:
        badges.append(LinePart.from_text(" PROD ", "badge", 0))
    if shown.read_only:
        badges.append(LinePart.from_text(" READ-ONLY ", "tag", 1))
    if shown.view is not None and shown.view.server.in_recovery:
        standby = shown.view.server.standby
        words = standby.delay_text.upper() if standby is not None else ""
        badges.append(
            LinePart.from_text(
                f" STANDBY{', ' if words else ''}{words} ", "badge" if words else "tag", 0 if words else 1
            )
        )
    return badges


def heading_line(title: str, cells: int, *, extra: str = "", shown: ShownState | None = None, now: float = 0.0) -> Line:
    """Return a panel's title, followed by a horizontal line and the age of the figures below."""
    left: list[Span] = [("── ", "faint"), (title, "title")]
    if extra:
        left += [("  ", "text"), (extra, "muted")]
    end = ""
    if shown is not None and shown.view is not None:
        end = f" {HeaderText.AGO.render(age=formatting.whole_seconds(shown.age_s(now)))} "
        stale = shown.freshness(now) is Freshness.STALE
        end_tone = "accent" if stale else "muted"
    else:
        end_tone = "muted"
    start = cut_line(left, max(0, cells - len(end) - 2))
    rule = "─" * max(0, cells - line_width(start) - len(end) - (3 if end else 1))
    if not end:
        return (*start, (" ", "text"), (rule, "faint"))
    return (*start, (" ", "text"), (rule, "faint"), (end, end_tone), ("──", "faint"))


def waiting_lines(shown: ShownState, now: float, cells: int, rows: int) -> list[Line]:
    """Return the target's name, its state and the full reason, for a screen without figures."""
    lines: list[Line] = [((clean(shown.target), "strong"),)]
    if shown.phase is Phase.LOST:
        lines.append(((f"✕ {HeaderText.NO_CONNECTION}", "alarm"), (f", {retry_text(shown, now)}", "accent")))
    elif shown.phase is Phase.CONNECTING:
        lines.append(((HeaderText.CONNECTING, "accent"),))
    else:
        lines.append(((f"◌ {ScreenText.NO_FIGURES_YET}", "accent"),))
    reason = clean(shown.state.reason) if shown.state is not None else ""
    room = min(76, cells - 4)
    if reason:
        lines += [((piece, "text"),) for piece in wrap_text(reason, room, room, 4)]
    top = max(0, (rows - len(lines)) // 2)
    blank: Line = ()
    return [blank] * top + [_center_line(line, cells) for line in lines]


def _center_line(line: Line, cells: int) -> Line:
    line = cut_line(line, cells)
    return ((" " * max(0, (cells - line_width(line)) // 2), "text"), *line)
