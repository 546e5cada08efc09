"""The ledger of the gap on the queue screen: its parts and their sum."""

from __future__ import annotations

from qmon.model.rates.ledger import READY, Ledger
from qmon.model.view import QueueView
from qmon.tui import text
from qmon.tui.shared.sanitize import clean
from qmon.tui.spans import Line


def ledger_lines(queue: QueueView, cells: int) -> list[Line]:
    """A line for each part and one for their sum; nothing where there is no ledger."""
    ledger = queue.ledger
    if ledger is None:
        return []
    title = "pushed, not popped" if queue.layout.ring is not None else "id span"
    rows = [(part.name, _written(ledger, part.name, part.count)) for part in ledger.parts]
    width = max(len(count) for _, count in (*rows, ("", text.count(ledger.total))))
    room = max(4, cells - width - 2)
    lines: list[Line] = [(("── ", "faint"), ("gap ledger", "title"))]
    for (name, count), part in zip(rows, ledger.parts, strict=True):
        tone = "muted" if part.count == 0 else "text"
        lines.append(((clean(name)[:room].ljust(room), "muted"), (count.rjust(width + 2), tone)))
    lines.append(((title.ljust(room), "muted"), (text.count(ledger.total).rjust(width + 2), "strong")))
    return lines


def _written(ledger: Ledger, name: str, count: int) -> str:
    """A count with its sign: only the ready messages, and what is left beside them, are ever estimated."""
    exact = not ledger.estimated or (name != READY and name != ledger.parts[-1].name)
    return text.count(count) if exact else f"~{text.count(count)}"
