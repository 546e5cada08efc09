"""Before the first figures: what is waited for, in the middle of an otherwise empty screen. Never zeros."""

from __future__ import annotations

from qmon.monitor.source import Phase
from qmon.tui.shared.header import retry
from qmon.tui.shared.sanitize import clean
from qmon.tui.spans import Line, cut, line_width, wrap
from qmon.tui.status import Shown


def waiting(shown: Shown, now: float, cells: int, rows: int) -> list[Line]:
    """The target's name, the state, and its reason in full."""
    lines: list[Line] = [((clean(shown.target), "strong"),)]
    if shown.phase is Phase.LOST:
        lines.append((("✕ no connection", "alarm"), (f", {retry(shown, now)}", "accent")))
    elif shown.phase is Phase.CONNECTING:
        lines.append((("◌ connecting", "accent"),))
    else:
        lines.append((("◌ waiting for the first figures", "accent"),))
    reason = clean(shown.state.reason) if shown.state is not None else ""
    room = min(76, cells - 4)
    if reason:
        lines += [((piece, "text"),) for piece in wrap(reason, room, room, 4)]
    top = max(0, (rows - len(lines)) // 2)
    blank: Line = ()
    return [blank] * top + [_centred(line, cells) for line in lines]


def _centred(line: Line, cells: int) -> Line:
    line = cut(line, cells)
    return ((" " * max(0, (cells - line_width(line)) // 2), "text"), *line)
