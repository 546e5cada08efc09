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
from qmon.tui import figures
from qmon.tui.member import Health, Member
from qmon.tui.sanitize import clean, shorten
from qmon.tui.shared.header import retry_text
from qmon.tui.spans import Line, LinePart, fit_parts
from qmon.tui.widgets.grid_table import Cell

MARKS: Final[dict[Health, Cell]] = {
    Health.CRITICAL: ("■", "alarm"),
    Health.LOST: ("✕", "alarm"),
    Health.WARNING: ("▲", "accent"),
    Health.WAITING: ("◌", "accent"),
    Health.NOTICE: ("◦", "text"),
    Health.FINE: ("·", "muted"),
}
_NAMES: Final = {
    Health.CRITICAL: ("is critical", "are critical"),
    Health.LOST: ("cannot be reached", "cannot be reached"),
    Health.WARNING: ("has a warning", "have a warning"),
    Health.WAITING: ("is not known yet", "are not known yet"),
    Health.NOTICE: ("has a notice", "have a notice"),
    Health.FINE: ("is fine", "are fine"),
}
_SHORT: Final = {
    Health.CRITICAL: "critical",
    Health.LOST: "lost",
    Health.WARNING: "warning",
    Health.WAITING: "connecting",
    Health.NOTICE: "notice",
    Health.FINE: "fine",
}


def rank_members(members: Iterable[Member], now: float) -> list[Member]:
    """Return the members, worst first. Members of equal health are sorted by their worst queue, then by name."""

    def order(member: Member) -> tuple[object, ...]:
        worst = member.ranking.sort_key(member.queues[0])[:3] if member.queues else (0, 0.0, 0.0)
        return -member.health(now), worst, member.name.casefold()

    return sorted(members, key=order)


def state_cell(member: Member, now: float) -> Cell:
    """Return whether the target responds and how old its figures are: ``● live 4 s``, ``✕ lost 3m``."""
    if member.lost_at is not None:
        return f"✕ lost {formatting.short_duration(max(0.0, now - member.lost_at))}", "alarm"
    shown = member.shown
    if shown.view is None:
        return "◌ connecting", "accent"
    age = formatting.whole_seconds(shown.age_s(now))
    if shown.phase is Phase.PAUSED:
        return f"‖ paused {age}", "accent"
    return (f"◌ late {age}", "alarm") if member.is_lost(now) else (f"● live {age}", "muted")


def worst_cell(member: Member, now: float) -> Cell:
    """Return the worst problem of the target in one line."""
    if member.lost_at is not None:
        return f"{clean(member.reason)}; {retry_text(member.shown, now)}", "accent"
    if member.shown.view is None:
        reason = member.shown.state.reason if member.shown.state is not None else ""
        return clean(reason) or formatting.UNKNOWN, "muted"
    if not member.queues:
        return "no queue is known", "muted"
    queue = member.queues[0]
    if member.worst_severity > queue.verdict.severity:
        return "▲ Service Broker", "accent"
    if queue.verdict.severity is Severity.FINE:
        return clean(queue.verdict.code.replace("_", " ")) if len(member.queues) == 1 else "all fine", "muted"
    symbol, tone = figures.verdict_mark(queue.verdict)
    wrong = sum(each.verdict.severity >= Severity.WARNING for each in member.queues)
    more = f", and {wrong - 1} more" if wrong > 1 else ""
    return f"{symbol} {clean(queue.name)}: {clean(queue.verdict.code.replace('_', ' '))}{more}", tone


def health_text(member: Member, now: float) -> str:
    """Return the health of the target, for a list."""
    if member.lost_at is not None or member.shown.view is None:
        return " ".join(state_cell(member, now)[0].split()[1:])
    return worst_cell(member, now)[0]


def counts_line(members: Sequence[Member], now: float, cells: int) -> Line:
    """Return the header line: ``30 targets  ■ 1 critical  ✕ 4 lost  · 25 fine``."""
    found = Counter(member.health(now) for member in members)
    parts = [LinePart.from_text(f" {len(members)} targets", "strong")]
    for rank, each in enumerate(sorted(found, reverse=True)):
        symbol, tone = MARKS[each]
        parts.append(LinePart.from_text(f"{symbol} {found[each]} {_SHORT[each]}", tone, rank))
    return fit_parts(parts, cells)


def fleet_summary_line(order: Sequence[Member], now: float, cells: int) -> Line:
    """Return ``■ 1 of 30 targets is critical, 4 cannot be reached; worst: orders-prod, mails: everything locked.``

    ``order``: the targets, worst first.
    """
    found = Counter(member.health(now) for member in order)
    kinds = sorted(found, reverse=True)
    symbol, tone = MARKS[kinds[0]]
    count = found[kinds[0]]
    share = f"All {count} targets" if count == len(order) else f"{count} of {len(order)} targets"
    parts = [LinePart.from_text(f" {symbol} {share} {_NAMES[kinds[0]][count > 1]}", tone)]
    parts += [
        LinePart.from_text(f", {found[each]} {_NAMES[each][found[each] > 1]}", "text", rank)
        for rank, each in enumerate(kinds[1:], 2)
        if each is not Health.FINE
    ]
    first = order[0]
    if kinds[0] >= Health.WARNING:
        said = worst_cell(first, now)[0].removeprefix(f"{symbol} ")
        parts.append(
            LinePart(((f"{':' if count == 1 else '; worst:'} ", "text"), (shorten(clean(first.name), 24), "strong")))
        )
        parts.append(LinePart.from_text(f", {shorten(said, 60)}", rank=9))
    return fit_parts([*parts, LinePart.from_text(".")], cells, "")
