"""What the server counts itself, on one line below the title of the waits (SQL Server)."""

from __future__ import annotations

from qmon.model.rates.counters import CounterRates
from qmon.model.view import View
from qmon.tui import text
from qmon.tui.spans import Line, LinePart, fit


def lines(view: View | None, cells: int) -> list[Line]:
    """The line; none where this server has no such counters, or before the second poll."""
    found = view.server.counters if view is not None else None
    return [((" per second  ", "muted"), *fit(_parts(found), cells - 13))] if found is not None else []


def _parts(found: CounterRates) -> list[LinePart]:
    """Those that a DBA looks at first stay the longest."""
    named = (
        ("batches", found.batches, 2),
        ("transactions", found.transactions, 4),
        ("page splits", found.page_splits, 1),
        ("lock timeouts", found.lock_timeouts, 1),
        ("commits waiting for the log", found.log_flush_waits, 3),
    )
    return [_part(name, value, rank) for name, value, rank in named]


def _part(name: str, value: float | None, rank: int) -> LinePart:
    if value is None:
        return LinePart(((f"{name} ", "muted"), (text.UNKNOWN, "faint")), rank)
    return LinePart(((f"{name} ", "muted"), (text.rate(value), "text" if value else "muted")), rank)
