"""Which actions a queue allows, and why not: used by each action, and by the screens for their keys.

A plan may still refuse what is allowed here, since only the server knows the rights and the rows; see ``rights``.
"""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.operations import Kind

_ON_ROWS: Final = frozenset({Kind.REQUEUE, Kind.PURGE})


def why_not(layout: Layout, kind: Kind) -> str | None:
    """The reason why this cannot be done to this queue, in one line; ``None`` where it can be planned."""
    if layout.part is not None and kind in (*_ON_ROWS, Kind.REPAIR, Kind.INSTALL_GATE, Kind.PAUSE):
        whose = f"{layout.part.library}'s" if layout.part.library else "a group's"
        return f"qmon watches {whose} queues and does not change them yet: use its own tools"
    if layout.source is LayoutSource.DISCOVERY and kind in (*_ON_ROWS, Kind.REPAIR, Kind.INSTALL_GATE):
        return "this queue was found by its shape alone; keep it with qmon init, then it can be acted on"
    if layout.design == "service_broker" and kind in _ON_ROWS:
        return "queues of Service Broker hold conversations, which qmon does not move"
    if kind is Kind.REQUEUE:
        return _no_requeue(layout)
    if kind is Kind.PURGE and layout.ring is not None:
        return "a ring's slots are freed by pops alone: pop what is to go"
    if kind is Kind.REPAIR and (layout.ring is None or layout.ring.turn is None):
        return "only a ring whose slots have a turn can be repaired"
    return None


def _no_requeue(layout: Layout) -> str | None:
    if layout.ring is not None:
        return "the messages of a ring stay in their slots; repair fills its holes and requeues its orphans"
    if layout.deletes_on_pop:
        return None  # the sessions that hold messages are ended
    return "this table has no state column" if layout.state is None else None
