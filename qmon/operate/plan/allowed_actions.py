"""Decides whether a queue allows an action, and gives the reason if it does not.

Every action calls ``why_not_allowed``. The screens also call this function, to disable keys. Planning may still refuse
an action that is allowed here, because a plan reads rights and rows from the server; see ``required_rights``.
"""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout, SharedTableQueue
from qmon.model.operation_records import OperationKind, Side
from qmon.operate.plan.library_queue import Verb, library_queue_for
from qmon.texts import Text


class NotAllowed(Text):
    """Why a queue does not allow an action."""

    ONLY_GUESSED = "qmon only guessed that this table is a queue; confirm it first: qmon init TARGET"
    SERVICE_BROKER = "queues of Service Broker hold conversations, which qmon does not move"
    NO_DEAD_STATE = "this table has no state for dead messages"
    RING_PURGE = "only pops free the slots of a ring: pop the messages instead"
    RING_WITHOUT_TURN = "qmon can repair a ring only if its slots have a turn column"
    CONDITIONS = "qmon only watches this queue: it cannot {verb} queues whose states are defined by conditions"
    NO_WRITES = "qmon only watches this queue; to {verb} it, add {key} to its configuration"
    LIBRARY = "qmon does not {verb} {library}'s queues{file}: use the library's own tools"
    OWN_FILE = ", which your own file describes"
    RING_REQUEUE = "the messages of a ring stay in their slots; repair fills the ring's holes and requeues its orphans"
    NO_STATE = "this table has no state column"


_LIBRARY_VERBS: Final[dict[OperationKind, Verb]] = {
    OperationKind.REQUEUE: "requeue",
    OperationKind.REDRIVE: "retry",
    OperationKind.PURGE: "discard",
}
_VERB_TEXTS: Final = {
    OperationKind.REQUEUE: "requeue messages of",
    OperationKind.REDRIVE: "redrive",
    OperationKind.PURGE: "purge",
    OperationKind.PAUSE: "pause",
    OperationKind.RESUME: "resume",
    OperationKind.REPAIR: "repair",
    OperationKind.INSTALL_GATE: "install a gate on",
}


def why_not_allowed(layout: Layout, kind: OperationKind, side: Side | None = None) -> str | None:
    """Return in one line why this action is not allowed on this queue, or ``None`` if it can be planned.

    ``side``: the side that a pause stops.
    """
    if layout.part is not None and kind in _VERB_TEXTS:
        return _why_not_in_library(layout, layout.part, kind, side)
    if needs_confirmed_queue(layout, kind):
        return NotAllowed.ONLY_GUESSED
    if layout.no_gate and kind in (OperationKind.INSTALL_GATE, OperationKind.PAUSE):
        return layout.no_gate
    if layout.design == "service_broker" and kind in _LIBRARY_VERBS:
        return NotAllowed.SERVICE_BROKER
    if kind is OperationKind.REQUEUE:
        return _why_no_requeue(layout)
    if kind is OperationKind.REDRIVE and (layout.state is None or layout.state.dead is None):
        return NotAllowed.NO_DEAD_STATE
    if kind is OperationKind.PURGE and layout.ring is not None:
        return NotAllowed.RING_PURGE
    if kind is OperationKind.REPAIR and (layout.ring is None or layout.ring.turn is None):
        return NotAllowed.RING_WITHOUT_TURN
    return None


def needs_confirmed_queue(layout: Layout, kind: OperationKind) -> bool:
    """Return whether the action is not allowed because qmon only guessed that the table is a queue."""
    return (
        layout.part is None
        and layout.is_guess
        and kind in (*_LIBRARY_VERBS, OperationKind.REPAIR, OperationKind.INSTALL_GATE)
    )


def _why_not_in_library(layout: Layout, part: SharedTableQueue, kind: OperationKind, side: Side | None) -> str | None:
    queue = library_queue_for(layout)
    verb = _LIBRARY_VERBS.get(kind)
    if queue is not None and verb is not None and queue.allows(verb):
        return None
    if queue is not None and queue.group.writes is not None:
        queue = None
    if queue is not None and (
        kind is OperationKind.INSTALL_GATE
        or (kind in (OperationKind.PAUSE, OperationKind.RESUME) and side is Side.PRODUCERS)
    ):
        return queue.why_no_gate()
    if (
        queue is not None
        and kind in (OperationKind.PAUSE, OperationKind.RESUME)
        and queue.statement_name("pause") is not None
    ):
        return None
    if verb is not None and (part.own or not part.library):
        key = "writes.purge" if verb == "discard" else "writes.ready"
        return NotAllowed.NO_WRITES.render(verb=_VERB_TEXTS[kind], key=key)
    if not part.library:
        return NotAllowed.CONDITIONS.render(verb=_VERB_TEXTS[kind])
    more = NotAllowed.OWN_FILE if part.own else ""
    return NotAllowed.LIBRARY.render(verb=_VERB_TEXTS[kind], library=part.library, file=more)


def _why_no_requeue(layout: Layout) -> str | None:
    if layout.ring is not None:
        return NotAllowed.RING_REQUEUE
    if layout.deletes_on_pop:
        return None  # the plan ends the sessions that hold messages
    return NotAllowed.NO_STATE if layout.state is None else None
