"""The request of an action before it is planned, and the choices that the dialog offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, SharedTableQueue
from qmon.model.operation_records import (
    DEFAULT_FAILURES,
    DEFAULT_PAUSE_S,
    DEFAULT_RATE,
    Choice,
    OperationKind,
    OwnerState,
    RedriveLimits,
    Side,
    pause_subject,
)
from qmon.operate.plan.library_queue import DISCARDABLE_KINDS
from qmon.texts import Text
from qmon.tui.screen_texts import ScreenText

if TYPE_CHECKING:
    from qmon.operate.operator import Operator
    from qmon.operate.run.running_operation import PreparedAction


class ActionRequestText(Text):
    """Why a request matches nothing, and the hints in the text fields of the dialog."""

    CHOOSE_MESSAGES = "press tab, then → to choose the messages"
    NOTHING_TO_UNDO = "no operation on this queue can be undone; press 6 to list the operations"
    ERROR_FIELD = "only messages whose last error contains this text"
    PAYLOAD_FIELD = "only messages that contain this text"


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """One action on one queue.

    Attributes:
        operation: the operation to undo. ``None``: the newest operation on the queue that can be undone.
        session, started_at: the number and the start (seconds since the epoch) of the session to end, as shown to the
            user.
        unchosen: the user must still choose the messages.
    """

    kind: OperationKind
    queue: str
    layout: Layout | None = None
    choice: Choice = field(default_factory=Choice)
    side: Side = Side.PRODUCERS
    for_s: float = DEFAULT_PAUSE_S
    operation: str | None = None
    session: int | None = None
    started_at: float | None = None
    unchosen: bool = False
    limits: RedriveLimits = field(default_factory=RedriveLimits)

    @property
    def part(self) -> SharedTableQueue | None:
        """The queue's part of its table, if the table contains several queues."""
        return None if self.layout is None else self.layout.part

    @property
    def states(self) -> tuple[str, ...]:
        """The states that messages of the queue can have according to the layout."""
        if self.layout is None:
            return ()
        if self.part is not None:
            return tuple(self.part.kinds)
        return tuple(state for state in _STATES if getattr(self.layout.state, state, None) is not None)

    def prepare(self, operator: Operator) -> PreparedAction:
        """Read the server and plan the action.

        Raises:
            BadInput: the request matches nothing.
            QmonError: planning failed.
        """
        if self.unchosen:
            raise BadInput(ActionRequestText.CHOOSE_MESSAGES)
        if self.kind is OperationKind.UNDO:
            return operator.undo(self.operation or _newest_undoable(operator, self.queue))
        if self.kind is OperationKind.END_SESSION and self.session is not None:
            return operator.end_session(self.session, self.started_at)
        if self.layout is None:
            raise BadInput(ScreenText.NO_QUEUE_SELECTED)
        if self.kind is OperationKind.REQUEUE:
            return operator.requeue(self.layout, self.choice)
        if self.kind is OperationKind.REDRIVE:
            return operator.redrive(self.layout, self.choice, self.limits)
        if self.kind is OperationKind.PURGE:
            return operator.purge(self.layout, self.choice)
        if self.kind is OperationKind.REPAIR:
            return operator.repair(self.layout)
        if self.layout.part is not None and self.side is Side.CONSUMERS and operator.is_paused_by_library(self.layout):
            return operator.resume(self.layout, self.side)
        known = (self.queue, pause_subject(self.layout))  # the pause may be stored for another queue of the table
        if any(p.side == self.side and (p.queue, p.about)[bool(p.about)] in known for p in operator.read_pauses()):
            return operator.resume(self.layout, self.side)
        return operator.pause(self.layout, self.side, for_s=self.for_s)


def end_session_request(session: int, started_at: float | None) -> ActionRequest:
    """Return a request to end the session shown. ``started_at``: the session's start, seconds since the epoch."""
    return ActionRequest(OperationKind.END_SESSION, f"session {session}", session=session, started_at=started_at)


def _newest_undoable(operator: Operator, queue: str) -> str:
    """Return the id of the operation that ``u`` undoes: the newest operation on this queue that can be undone."""
    for operation in operator.read_operations():
        if operation.queue == queue and operation.kind is not OperationKind.UNDO and operation.undo_state.can_undo:
            return operation.id
    raise BadInput(ActionRequestText.NOTHING_TO_UNDO)


# A function that returns the request with one change.
Change = Callable[[ActionRequest], ActionRequest]


@dataclass(frozen=True, slots=True)
class Option:
    """A choice in the dialog: its name, and, for each value, the text and the change to the request."""

    name: str
    values: tuple[tuple[str, Change], ...]
    at: int = 0


@dataclass(frozen=True, slots=True)
class TextField:
    """A text that the user may type, and the change that the text makes to the request. ``about``: the placeholder."""

    name: str
    about: str
    change: Callable[[ActionRequest, str], ActionRequest]


_OWNERS: Final = (
    ("owner dead", frozenset({OwnerState.DEAD})),
    ("dead or unknown", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN})),
    ("any owner", frozenset({OwnerState.DEAD, OwnerState.UNKNOWN, OwnerState.ALIVE})),
)
_LENGTHS: Final = (("5 m", 300.0), ("15 m", 900.0), ("1 h", 3_600.0), ("4 h", 14_400.0))
_STATES: Final = ("dead", "ready", "scheduled", "in_progress", "done")
# Each choice: its text, the minimum age and the maximum age in seconds.
_AGES: Final = (
    ("any", None, None),
    ("over 10 m", 600.0, None),
    ("over 1 h", 3_600.0, None),
    ("over 1 d", 86_400.0, None),
    ("under 10 m", None, 600.0),
    ("under 1 h", None, 3_600.0),
    ("under 1 d", None, 86_400.0),
)
_RATES: Final = (("1/s", 1.0), ("10/s", DEFAULT_RATE), ("100/s", 100.0), ("no limit", None))
_FAILURES: Final = (("1 failed", 1), ("5", DEFAULT_FAILURES), ("20", 20), ("100", 100), ("never", None))


def options_for(request: ActionRequest) -> tuple[Option, ...]:
    """Return the choices of a request: which messages, how long to pause, how to redrive."""
    if request.kind is OperationKind.REDRIVE:
        return _redrive_options(request)
    if request.kind is OperationKind.PAUSE and (request.part is None or request.side is Side.PRODUCERS):
        return (Option("for", tuple((words, _change_request(for_s=seconds)) for words, seconds in _LENGTHS), at=1),)
    values: list[tuple[str, Change]] = []
    if request.choice.ids:  # dead messages have no owner
        values = [] if request.choice.state == "dead" else _owner_values(request)
    elif request.kind is OperationKind.REQUEUE:
        values = _requeue_values(request)
    elif request.kind is OperationKind.PURGE:
        values = _purge_values(request)
    return (Option("messages", tuple(values)),) if len(values) > 1 else ()


def text_fields_for(request: ActionRequest) -> tuple[TextField, ...]:
    """Return the text fields of a request: for a redrive, texts that the messages or their errors must contain."""
    if request.kind is not OperationKind.REDRIVE or request.layout is None or request.choice.ids:
        return ()
    fields = []
    if request.layout.error is not None:
        fields.append(TextField("error", ActionRequestText.ERROR_FIELD, _with_error))
    if request.layout.payload is not None:
        fields.append(TextField("payload", ActionRequestText.PAYLOAD_FIELD, _with_payload))
    return tuple(fields)


def _redrive_options(request: ActionRequest) -> tuple[Option, ...]:
    ages = tuple((words, _change_choice(older_than_s=older, newer_than_s=newer)) for words, older, newer in _AGES)
    rates = tuple((words, _change_limits(rate=rate)) for words, rate in _RATES)
    failures = tuple((words, _change_limits(failures=most)) for words, most in _FAILURES)
    aged = (Option("age", ages),) if _has_age(request) and not request.choice.ids else ()
    return (*aged, Option("rate", rates, 1), Option("stop after", failures, 1))


def _has_age(request: ActionRequest) -> bool:
    """Return True if the age of a dead message may be known.

    For library queues, planning finds the age in the library's description.
    """
    layout = request.layout
    return layout is not None and (layout.part is not None or layout.has_known_time(layout.enqueued_at))


def _requeue_values(request: ActionRequest) -> list[tuple[str, Change]]:
    """Return the values of the choice: messages in progress by owner state, and dead messages."""
    values = _owner_values(request) or [("stuck", _change_request())]
    return [*values, ("dead messages", _change_choice(state="dead"))] if "dead" in request.states else values


def _owner_values(request: ActionRequest) -> list[tuple[str, Change]]:
    if request.kind is OperationKind.PURGE and request.part is not None:
        return []
    if request.layout is None or (request.layout.owner is None and request.part is None):
        return []
    return [(words, _change_choice(owner_states=states)) for words, states in _OWNERS]


def _purge_values(request: ActionRequest) -> list[tuple[str, Change]]:
    """Return the values of the choice, dead messages first. Without a dead state, the user must choose."""
    if request.layout is None:
        return []
    known = [
        state for state in _STATES if state in request.states and (request.part is None or state in DISCARDABLE_KINDS)
    ]
    values = [(state.replace("_", " "), _change_choice(state=state)) for state in known or ["ready"]]
    if "dead" in known:
        return values
    return [("none yet", _change_request(unchosen=True)), *values]


def _change_request(**changes: Any) -> Change:
    return lambda request: replace(request, **changes)


def _change_choice(**changes: Any) -> Change:
    return lambda request: replace(request, choice=replace(request.choice, **changes))


def _change_limits(**changes: Any) -> Change:
    return lambda request: replace(request, limits=replace(request.limits, **changes))


def _with_error(request: ActionRequest, text: str) -> ActionRequest:
    return replace(request, choice=replace(request.choice, error=text or None))


def _with_payload(request: ActionRequest, text: str) -> ActionRequest:
    return replace(request, choice=replace(request.choice, payload=text or None))
