"""Shows the health of a target as text and cells: its symbol, whether it responds, and its worst problem.

``now`` is the local monotonic clock in seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Severity
from qmon.monitor.source import Phase
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.shared.header import HeaderText, retry_text
from qmon.tui.spans import Line, LinePart, fit_parts
from qmon.tui.watched_target import Health, WatchedTarget
from qmon.tui.widgets.grid_table import Cell


class HealthSummaryText(Text):
    """The texts about the health of targets."""

    ONE_CRITICAL = "is critical"
    CRITICAL = "are critical"
    LOST = "cannot be reached"
    ONE_WARNING = "has a warning"
    WARNING = "have a warning"
    ONE_WAITING = "is not known yet"
    WAITING = "are not known yet"
    ONE_NOTICE = "has a notice"
    NOTICE = "have a notice"
    ONE_FINE = "is fine"
    FINE = "are fine"
    NO_QUEUE = "no queue is known"
    ALL_FINE = "all fine"
    REASON = "{reason}; {retry}"
    WORST_QUEUE = "{queue}: {verdict}{more}"
    MORE = ", and {count} more"
    TARGETS = "{count} targets"
    ALL_TARGETS = "All {count} targets {state}"
    SOME_TARGETS = "{count} of {total} targets {state}"
    ALSO = ", {count} {state}"
    NAME = ": "
    WORST = "; worst: "
    SERVICE_BROKER = "▲ Service Broker"


MARKS: Final[dict[Health, Cell]] = {
    Health.CRITICAL: ("■", "alarm"),
    Health.LOST: ("✕", "alarm"),
    Health.WARNING: ("▲", "accent"),
    Health.WAITING: ("◌", "accent"),
    Health.NOTICE: ("◦", "text"),
    Health.FINE: ("·", "muted"),
}
_NAMES: Final = {
    Health.CRITICAL: (HealthSummaryText.ONE_CRITICAL, HealthSummaryText.CRITICAL),
    Health.LOST: (HealthSummaryText.LOST, HealthSummaryText.LOST),
    Health.WARNING: (HealthSummaryText.ONE_WARNING, HealthSummaryText.WARNING),
    Health.WAITING: (HealthSummaryText.ONE_WAITING, HealthSummaryText.WAITING),
    Health.NOTICE: (HealthSummaryText.ONE_NOTICE, HealthSummaryText.NOTICE),
    Health.FINE: (HealthSummaryText.ONE_FINE, HealthSummaryText.FINE),
}
_SHORT: Final = {
    Health.CRITICAL: "critical",
    Health.LOST: "lost",
    Health.WARNING: "warning",
    Health.WAITING: "connecting",
    Health.NOTICE: "notice",
    Health.FINE: "fine",
}


def rank_members(members: Iterable[WatchedTarget], now: float) -> list[WatchedTarget]:
    """Return the members, worst first. Members of equal health are sorted by their worst queue, then by name."""

    def order(member: WatchedTarget) -> tuple[object, ...]:
        worst = member.ranking.sort_key(member.queues[0])[:3] if member.queues else (0, 0.0, 0.0)
        return -member.health(now), worst, member.name.casefold()

    return sorted(members, key=order)


def state_cell(member: WatchedTarget, now: float) -> Cell:
    """Return whether the target responds and how old its figures are: ``● live 4 s``, ``✕ lost 3m``."""
    if member.lost_at is not None:
        return f"{HeaderText.LOST} {formatting.short_duration(max(0.0, now - member.lost_at))}", "alarm"
    shown = member.shown
    if shown.view is None:
        return HeaderText.CONNECTING, "accent"
    age = formatting.whole_seconds(shown.age_s(now))
    if shown.phase is Phase.PAUSED:
        return f"{HeaderText.PAUSED} {age}", "accent"
    return (f"{HeaderText.LATE} {age}", "alarm") if member.is_lost(now) else (f"{HeaderText.LIVE} {age}", "muted")


def worst_cell(member: WatchedTarget, now: float) -> Cell:
    """Return the worst problem of the target in one line."""
    if member.lost_at is not None:
        return HealthSummaryText.REASON.render(
            reason=clean(member.reason), retry=retry_text(member.shown, now)
        ), "accent"
    if member.shown.view is None:
        reason = member.shown.state.reason if member.shown.state is not None else ""
        return clean(reason) or formatting.UNKNOWN, "muted"
    if not member.queues:
        return HealthSummaryText.NO_QUEUE, "muted"
    queue = member.queues[0]
    if member.worst_severity > queue.verdict.severity:
        return HealthSummaryText.SERVICE_BROKER, "accent"
    if queue.verdict.severity is Severity.FINE:
        return clean(queue.verdict.code.replace("_", " ")) if len(
            member.queues
        ) == 1 else HealthSummaryText.ALL_FINE, "muted"
    symbol, tone = figures.verdict_mark(queue.verdict)
    wrong = sum(each.verdict.severity >= Severity.WARNING for each in member.queues)
    more = HealthSummaryText.MORE.render(count=wrong - 1) if wrong > 1 else ""
    verdict = clean(queue.verdict.code.replace("_", " "))
    words = HealthSummaryText.WORST_QUEUE.render(queue=clean(queue.name), verdict=verdict, more=more)
    return f"{symbol} {words}", tone


def health_text(member: WatchedTarget, now: float) -> str:
    """Return the health of the target, for a list."""
    if member.lost_at is not None or member.shown.view is None:
        return " ".join(state_cell(member, now)[0].split()[1:])
    return worst_cell(member, now)[0]


def counts_line(members: Sequence[WatchedTarget], now: float, cells: int) -> Line:
    """Return the header line: ``30 targets  ■ 1 critical  ✕ 4 lost  · 25 fine``."""
    found = Counter(member.health(now) for member in members)
    parts = [LinePart.from_text(f" {HealthSummaryText.TARGETS.render(count=len(members))}", "strong")]
    for rank, each in enumerate(sorted(found, reverse=True)):
        symbol, tone = MARKS[each]
        parts.append(LinePart.from_text(f"{symbol} {found[each]} {_SHORT[each]}", tone, rank))
    return fit_parts(parts, cells)


def fleet_summary_line(order: Sequence[WatchedTarget], now: float, cells: int) -> Line:
    """Return ``■ 1 of 30 targets is critical, 4 cannot be reached; worst: orders-prod, mails: everything locked.``

    ``order``: the targets, worst first.
    """
    found = Counter(member.health(now) for member in order)
    kinds = sorted(found, reverse=True)
    symbol, tone = MARKS[kinds[0]]
    count = found[kinds[0]]
    state = _NAMES[kinds[0]][count > 1]
    share = (
        HealthSummaryText.ALL_TARGETS.render(count=count, state=state)
        if count == len(order)
        else HealthSummaryText.SOME_TARGETS.render(count=count, total=len(order), state=state)
    )
    parts = [LinePart.from_text(f" {symbol} {share}", tone)]
    parts += [
        LinePart.from_text(
            HealthSummaryText.ALSO.render(count=found[each], state=_NAMES[each][found[each] > 1]), "text", rank
        )
        for rank, each in enumerate(kinds[1:], 2)
        if each is not Health.FINE
    ]
    first = order[0]
    if kinds[0] >= Health.WARNING:
        said = worst_cell(first, now)[0].removeprefix(f"{symbol} ")
        lead = HealthSummaryText.NAME if count == 1 else HealthSummaryText.WORST
        parts.append(LinePart(((lead, "text"), (shorten(clean(first.name), 24), "strong"))))
        parts.append(LinePart.from_text(f", {shorten(said, 60)}", rank=9))
    return fit_parts([*parts, LinePart.from_text(".")], cells, "")
