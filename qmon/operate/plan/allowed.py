"""Decides which actions a queue allows, and why not. Each action uses it, and the screens use it for their keys.

A plan may still refuse an action allowed here, because only the server knows the rights and the rows; see
``required_rights``.
"""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import GroupPart, Layout
from qmon.model.operations import Kind, Side
from qmon.operate.plan.library_queue import Verb, library_queue

# The command line adds the target, the dashboard its key.
ONLY_GUESSED: Final = "qmon only guessed that this table is a queue; confirm it first: qmon init TARGET"
_ON_ROWS: Final[dict[Kind, Verb]] = {Kind.REQUEUE: "requeue", Kind.REDRIVE: "retry", Kind.PURGE: "discard"}
_VERBS: Final = {
    Kind.REQUEUE: "requeue messages of",
    Kind.REDRIVE: "redrive",
    Kind.PURGE: "purge",
    Kind.PAUSE: "pause",
    Kind.RESUME: "resume",
    Kind.REPAIR: "repair",
    Kind.INSTALL_GATE: "install a gate on",
}


def why_not(layout: Layout, kind: Kind, side: Side | None = None) -> str | None:
    """Return in one line why this action is not allowed on this queue, or ``None`` if it can be planned.

    ``side``: the side that a pause stops.
    """
    if layout.part is not None and kind in _VERBS:
        return _no_library(layout, layout.part, kind, side)
    guessed = layout.is_guess
    if guessed and kind in (*_ON_ROWS, Kind.REPAIR, Kind.INSTALL_GATE):
        return ONLY_GUESSED
    if layout.no_gate and kind in (Kind.INSTALL_GATE, Kind.PAUSE):
        return layout.no_gate
    if layout.design == "service_broker" and kind in _ON_ROWS:
        return "queues of Service Broker hold conversations, which qmon does not move"
    if kind is Kind.REQUEUE:
        return _no_requeue(layout)
    if kind is Kind.REDRIVE and (layout.state is None or layout.state.dead is None):
        return "this table has no state for dead messages"
    if kind is Kind.PURGE and layout.ring is not None:
        return "a ring's slots are freed by pops alone: pop what is to go"
    if kind is Kind.REPAIR and (layout.ring is None or layout.ring.turn is None):
        return "only a ring whose slots have a turn can be repaired"
    return None


def _no_library(layout: Layout, part: GroupPart, kind: Kind, side: Side | None) -> str | None:
    queue = library_queue(layout)
    verb = _ON_ROWS.get(kind)
    if queue is not None and verb is not None and queue.statement(verb) is not None:
        return None
    if queue is not None and (
        kind is Kind.INSTALL_GATE or (kind in (Kind.PAUSE, Kind.RESUME) and side is Side.PUSHERS)
    ):
        return queue.no_gate()
    if queue is not None and kind in (Kind.PAUSE, Kind.RESUME) and queue.statement("pause") is not None:
        return None
    if not part.library:
        return f"it is only watched: nothing says how to {_VERBS[kind]} queues whose states are told by conditions"
    more = ", which a file of yours describes" if part.own else ""
    return f"qmon does not {_VERBS[kind]} {part.library}'s queues{more}: use its own tools"


def _no_requeue(layout: Layout) -> str | None:
    if layout.ring is not None:
        return "the messages of a ring stay in their slots; repair fills its holes and requeues its orphans"
    if layout.deletes_on_pop:
        return None  # the plan ends the sessions that hold messages
    return "this table has no state column" if layout.state is None else None
