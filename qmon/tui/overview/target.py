"""The target line: transactions, sessions, who is blocked, what is waited for, and probes that fail."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model.figure import Figure
from qmon.model.samples.polled import WaitSample
from qmon.model.view import View
from qmon.tui import text
from qmon.tui.shared.sanitize import clean
from qmon.tui.spans import Line, LinePart, Span, fit


def target_line(view: View, cells: int) -> list[Line]:
    """One line about the server as a whole."""
    server = view.server
    parts = [
        _figure("tx/s", server.commits, 0),
        _figure("rollbacks/s", server.rollbacks, 3),
        _figure("deadlocks/s", server.deadlocks, 5, hot=True),
        LinePart((("sessions ", "muted"), (str(server.sessions), "text")), 4),
        _blocked(view),
        _waits(server.waits, 2),
        _failures(view),
    ]
    return [fit([LinePart(((" ", "text"), *parts[0].spans), 0), *parts[1:]], cells)]


def _figure(name: str, figure: Figure, rank: int, *, hot: bool = False) -> LinePart:
    value = text.figure(figure, text.rate)
    tone = "alarm" if hot and figure.value else "text" if figure.value else "muted"
    return LinePart(((f"{name} ", "muted"), (value, tone)), rank)


def _blocked(view: View) -> LinePart:
    if view.server.blocked is None:
        return LinePart((("blocked ", "muted"), (text.UNKNOWN, "faint")), 1)
    waiters = {pair.waiter for pair in view.server.blocked}
    return LinePart((("blocked ", "muted"), (str(len(waiters)), "alarm" if waiters else "muted")), 1)


def _waits(waits: Sequence[WaitSample] | None, rank: int) -> LinePart:
    """The waits that most sessions are in now; running on a processor is not one."""
    if waits is None:
        return LinePart((("waits ", "muted"), (text.UNKNOWN, "faint")), rank)
    real = sorted((w for w in waits if w.event), key=lambda w: (-w.sessions, w.kind, w.event))[:3]
    if not real:
        return LinePart((("waits ", "muted"), ("none", "muted")), rank)
    spans: list[Span] = [("waits ", "muted")]
    for index, wait in enumerate(real):
        spans += [(", " if index else "", "muted"), (f"{clean(wait.kind)}:{clean(wait.event)} ", "text")]
        spans.append((str(wait.sessions), "strong"))
    return LinePart(tuple(spans), rank)


def _failures(view: View) -> LinePart:
    """How many probes gave nothing; a failure of one queue is told on its own screen as well."""
    failing = len(view.failures) + sum(len(q.failures) for q in view.queues)
    if not failing:
        return LinePart(())
    return LinePart.of(f"▲ {failing} probe{'s' if failing > 1 else ''} failing", "accent", 1)
