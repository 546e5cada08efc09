"""What an operator asks for with a key, before it is planned; and the choices that the dialog offers to change it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from qmon.errors import BadInput
from qmon.model.layout.layout import GroupPart, Layout
from qmon.model.operations import DEFAULT_PAUSE_S, Choice, Kind, OwnerState, Side, paused_as
from qmon.operate.plan.library_queue import DISCARDED

if TYPE_CHECKING:
    from qmon.operate.operator import Operator
    from qmon.operate.run.prepared import PreparedAction


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """One action on one queue. ``operation``: the one to undo, ``None`` for the newest of the queue that can be.

    ``session`` and ``started_at``: the session to end, as it was shown. ``unchosen``: nobody has said which messages.
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
    unchosen: bool = False

    @property
    def part(self) -> GroupPart | None:
        """Which part of its table the queue is, where that holds several."""
        return None if self.layout is None else self.layout.part

    @property
    def states(self) -> tuple[str, ...]:
        """The states that messages of the queue can be in, as far as the layout says."""
        if self.layout is None:
            return ()
        if self.part is not None:
            return tuple(self.part.kinds)
        return tuple(state for state in _STATES if getattr(self.layout.state, state, None) is not None)

    def prepare(self, operator: Operator) -> PreparedAction:
        """Read the server and plan it. Raises what planning raises, ``BadInput`` where nothing fits."""
        if self.unchosen:
            raise BadInput("choose which messages: tab, then →")
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
    ("owner dead", frozenset({OwnerState.DEAD})),
    ("dead or unknown", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN})),
    ("any owner", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN, OwnerState.ALIVE})),
)
_LENGTHS: Final = (("5 m", 300.0), ("15 m", 900.0), ("1 h", 3_600.0), ("4 h", 14_400.0))
_STATES: Final = ("dead", "ready", "scheduled", "in_progress", "done")


def option(request: ActionRequest) -> Option | None:
    """What can be changed about this, if anything: which messages, or the length of a pause."""
    if request.kind is Kind.PAUSE and (request.part is None or request.side is Side.PUSHERS):
        return Option("for", tuple((words, replace(request, for_s=seconds)) for words, seconds in _LENGTHS), at=1)
    values: list[tuple[str, ActionRequest]] = []
    if request.kind is Kind.REQUEUE:
        values = _requeued(request)
    elif request.kind is Kind.PURGE:
        values = _of_owners(request) if request.choice.ids else _purged(request)
    return Option("messages", tuple(values)) if len(values) > 1 else None


def _requeued(request: ActionRequest) -> list[tuple[str, ActionRequest]]:
    """Those in progress, by their owners; and the dead ones."""
    values = _of_owners(request) or [("stuck", request)]
    return [*values, ("dead messages", _in_state(request, "dead"))] if "dead" in request.states else values


def _of_owners(request: ActionRequest) -> list[tuple[str, ActionRequest]]:
    if request.kind is Kind.PURGE and request.part is not None:
        return []
    if request.layout is None or (request.layout.owner is None and request.part is None):
        return []
    choice = request.choice
    return [(words, replace(request, choice=replace(choice, owner_states=states))) for words, states in _OWNERS]


def _purged(request: ActionRequest) -> list[tuple[str, ActionRequest]]:
    """The dead ones first; where a queue knows none, somebody has to say which."""
    if request.layout is None:
        return []
    known = [state for state in _STATES if state in request.states and (request.part is None or state in DISCARDED)]
    values = [(state.replace("_", " "), _in_state(request, state)) for state in known] or [("ready", request)]
    if "dead" in known:
        return [*values, ("ready or dead", request)]
    return [("none yet", replace(request, unchosen=True)), *values]


def _in_state(request: ActionRequest, state: str) -> ActionRequest:
    return replace(request, choice=replace(request.choice, state=state))
