"""What an operator asks for with a key, before it is planned; and the choices that the dialog offers to change it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operations import DEFAULT_PAUSE_S, Choice, Kind, OwnerState, Side, paused_as
from qmon.operate.plan.library_queue import DISCARDED

if TYPE_CHECKING:
    from qmon.operate.operator import Operator
    from qmon.operate.run.prepared import PreparedAction


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """One action on one queue. ``operation``: the one to undo, ``None`` for the newest of the queue that can be.

    ``session`` and ``started_at``: the session to end, as it was shown.
    """

    kind: Kind
    queue: str
    layout: Layout | None = None
    choice: Choice = field(default_factory=Choice)
    side: Side = Side.PUSHERS
    for_s: float = DEFAULT_PAUSE_S
    operation: str | None = None
    session: int | None = None
    started_at: float | None = None

    def prepare(self, operator: Operator) -> PreparedAction:
        """Read the server and plan it. Raises what planning raises, ``BadInput`` where nothing fits."""
        if self.kind is Kind.UNDO:
            return operator.undo(self.operation or _newest(operator, self.queue))
        if self.kind is Kind.END_BLOCKER and self.session is not None:
            return operator.end_blocker(self.session, self.started_at)
        if self.layout is None:
            raise BadInput("no queue is chosen")
        if self.kind is Kind.REQUEUE:
            return operator.requeue(self.layout, self.choice)
        if self.kind is Kind.PURGE:
            return operator.purge(self.layout, self.choice)
        if self.kind is Kind.REPAIR:
            return operator.repair(self.layout)
        if self.layout.part is not None and self.side is Side.POPPERS and operator.library_paused(self.layout):
            return operator.resume(self.layout, self.side)
        known = (self.queue, paused_as(self.layout))  # it may have been paused under another name of the same table
        if any(p.side is self.side and (p.queue, p.table)[bool(p.table)] in known for p in operator.pauses()):
            return operator.resume(self.layout, self.side)
        return operator.pause(self.layout, self.side, for_s=self.for_s)


def end_session(session: int, started_at: float | None) -> ActionRequest:
    """To end a session: exactly the one that is shown. ``started_at``: seconds since the epoch."""
    return ActionRequest(Kind.END_BLOCKER, f"session {session}", session=session, started_at=started_at)


UNDOABLE: Final = ("possible", "partly undone")


def _newest(operator: Operator, queue: str) -> str:
    """The operation that ``u`` means: the last one of this queue that can be undone."""
    for operation in operator.operations():
        if operation.queue == queue and operation.kind is not Kind.UNDO and operation.undo_state in UNDOABLE:
            return operation.id
    raise BadInput("nothing that was done to this queue can be undone; 6 lists the operations")


@dataclass(frozen=True, slots=True)
class Option:
    """Something the dialog lets the operator change: its name, and the words of each value with what is then asked."""

    name: str
    values: tuple[tuple[str, ActionRequest], ...]
    at: int = 0


_OWNERS: Final = (
    ("dead", frozenset({OwnerState.DEAD})),
    ("dead or unknown", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN})),
    ("any, also alive", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN, OwnerState.ALIVE})),
)
_LENGTHS: Final = (("5 m", 300.0), ("15 m", 900.0), ("1 h", 3_600.0), ("4 h", 14_400.0))


def option(request: ActionRequest) -> Option | None:
    """What can be changed about this, if anything: owners of a requeue, states of a purge, the length of a pause."""
    layout, choice = request.layout, request.choice
    part = None if layout is None else layout.part
    on_rows = request.kind is Kind.REQUEUE or (request.kind is Kind.PURGE and bool(choice.ids) and part is None)
    if on_rows and layout is not None and (layout.owner is not None or part is not None):
        values = tuple((words, replace(request, choice=replace(choice, owner_states=s))) for words, s in _OWNERS)
        return Option("owners", values)
    if request.kind is Kind.PURGE and layout is not None and not choice.ids and (layout.state is not None or part):
        known = [
            name for name in ("ready", "in_progress", "done", "dead") if getattr(layout.state, name, None) is not None
        ]
        if part is not None:
            known = [name for name in DISCARDED if name in part.kinds]
        named = ((name.replace("_", " "), replace(request, choice=replace(choice, state=name))) for name in known)
        return Option("state", (("ready or dead", request), *named))
    if request.kind is Kind.PAUSE and (part is None or request.side is Side.PUSHERS):
        return Option("for", tuple((words, replace(request, for_s=seconds)) for words, seconds in _LENGTHS), at=1)
    return None
