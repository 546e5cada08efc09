"""Plans and applies the actions of the screens on separate threads, so that no key press ever waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from qmon import log
from qmon.errors import BadInput, QmonError
from qmon.model.operation_records import OperationKind, OperationResult, OperationState, Plan, Progress
from qmon.operate.context import OperatorContext, Permission
from qmon.operate.operator_context import Connections, with_own_connections
from qmon.texts import Text
from qmon.tui.daemon_thread import start_daemon
from qmon.tui.screen_texts import ScreenText

if TYPE_CHECKING:
    from qmon.operate.operator import Operator
    from qmon.operate.run.running_operation import PreparedAction

T = TypeVar("T")

_REPORT_EVERY_S: Final = 0.1
# Maximum seconds to wait until a cancelled statement has ended and its line in the audit log is written.
_CANCEL_GRACE_S: Final = 1.0


class EndedText(Text):
    """How an operation ended."""

    WHAT = "{operation} on {target}"
    PROBLEM = "{what}: {problem}"
    RESULT = "{what}: {state}, {done:,} of {count:,}{why}; {key}"


class Planned(Message):
    """Planning has finished: ``prepared``, or ``problem`` if it failed.

    ``number``: the number of the task. Receivers use it to ignore the answers of older tasks.
    """

    def __init__(self, number: int, prepared: PreparedAction | None, problem: str = "") -> None:
        super().__init__()
        self.number = number
        self.prepared = prepared
        self.problem = problem


class Progressed(Message):
    """The progress of an operation."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """Return True for an older progress message, because only the newest matters."""
        return isinstance(message, Progressed)


class Ended(Message):
    """An operation has ended or was aborted.

    ``refused``: the operation did not start, so the user may try again.
    """

    def __init__(self, plan: Plan, result: OperationResult | None, problem: str = "", *, refused: bool = False) -> None:
        super().__init__()
        self.plan = plan
        self.result = result
        self.problem = problem
        self.refused = refused

    @property
    def has_succeeded(self) -> bool:
        """True if the operation finished as planned."""
        return self.result is not None and self.result.state is OperationState.DONE

    def result_text(self) -> str:
        """Return the result in one line."""
        what = EndedText.WHAT.render(operation=self.plan.title.removesuffix("?"), target=self.plan.target)
        if self.result is None:
            return EndedText.PROBLEM.render(what=what, problem=self.problem)
        telling = self.plan.kind is OperationKind.REDRIVE or self.result.state is OperationState.UNKNOWN
        why = f": {'; '.join(self.result.notes)}" if telling and self.result.notes else ""
        return EndedText.RESULT.render(
            what=what,
            state=self.result.state,
            done=self.result.done,
            count=self.plan.count,
            why=why,
            key=ScreenText.KEY_6,
        )


@dataclass(frozen=True, slots=True)
class BackgroundOperation:
    """An operation that continues in the background. ``target`` is empty unless several targets are watched."""

    title: str
    progress: Progress | None
    target: str = ""


class ActionTask:
    """One plan and its operation, on separate threads and connections.

    ``stop`` ends the operation after the current batch. ``cancel`` ends it immediately.

    Args:
        receiver: gets the ``Planned``, ``Progressed`` and ``Ended`` messages.
    """

    def __init__(self, receiver: MessagePump, operator: Operator, connections: Connections, number: int) -> None:
        self.number = number
        self._receiver = receiver
        self._operator = operator
        self._connections = connections
        self._stop = threading.Event()
        self._reported_at = 0.0
        self._move_lock = threading.Lock()
        self._ended: Ended | None = None
        self._progress: Progress | None = None
        self._in_background = False
        # The title of the plan that is being applied, or that was applied last.
        self._applied_title = ""
        self.thread: threading.Thread | None = None

    def start_planning(self, prepare: Callable[[Operator], PreparedAction]) -> None:
        """Plan on a separate thread, then post ``Planned``."""

        def run() -> None:
            try:
                self._receiver.post_message(Planned(self.number, prepare(self._operator)))
            except Exception as problem:
                self._receiver.post_message(Planned(self.number, None, describe_problem(problem)))

        self._start(run)

    def start_applying(self, prepared: PreparedAction, permission: Permission) -> None:
        """Apply on a separate thread. Posts ``Progressed`` while the operation runs, and ``Ended`` at the end."""

        def run() -> None:
            try:
                ended = Ended(prepared.plan, prepared.apply(permission, self._report, self._stop.is_set))
            except Exception as problem:
                ended = Ended(prepared.plan, None, describe_problem(problem), refused=isinstance(problem, BadInput))
            with self._move_lock:
                self._ended = ended
                self._receiver.post_message(ended)

        self._applied_title = prepared.plan.title.removesuffix("?")
        self._start(run)

    @property
    def running_title(self) -> str:
        """The title of the plan being applied, or empty."""
        return self._applied_title if self._ended is None and self.thread is not None and self.thread.is_alive() else ""

    @property
    def background_operation(self) -> BackgroundOperation | None:
        """The operation and its progress, if the operation was moved to the background and is still running."""
        return (
            BackgroundOperation(self._applied_title, self._progress)
            if self._in_background and self.running_title
            else None
        )

    def move_to_background(self, receiver: MessagePump) -> None:
        """Post messages to ``receiver`` from now on, and count the operation as running in the background.

        If the operation has already ended, post its ``Ended`` message again, because the old receiver may not have read
        it.
        """
        with self._move_lock:
            self._receiver, self._in_background = receiver, True
            if self._ended is not None:
                receiver.post_message(self._ended)

    def _start(self, run: Callable[[], None]) -> None:
        self.thread = start_daemon(run, f"qmon-act-{self.number}")

    def _report(self, progress: Progress) -> None:
        now, self._progress = time.monotonic(), progress
        if now - self._reported_at >= _REPORT_EVERY_S or progress.done >= progress.total:
            self._reported_at = now
            self._receiver.post_message(Progressed(progress))

    @property
    def is_stopping(self) -> bool:
        """True after a stop was requested."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop after the current batch."""
        self._stop.set()

    def cancel(self) -> None:
        """Stop, and cancel the running statement. Return immediately.

        If the server does not respond within a second, the connections to it are abandoned.
        """
        self._stop.set()
        self._connections.cancel()
        start_daemon(partial(self.abandon_after, _CANCEL_GRACE_S), "qmon-act-cancel")

    def abandon_after(self, seconds: float) -> None:
        """Wait up to ``seconds`` for the operation to end. If it has not ended, abandon its connections.

        After the connections are abandoned, wait up to one more second.
        """
        if self.thread is not None:
            self.thread.join(seconds)
            if self.thread.is_alive():
                self._connections.abandon()
                self.thread.join(_CANCEL_GRACE_S)


class ActionRunner:
    """Creates the tasks of the screens. Closes all tasks at exit.

    Args:
        context: the objects that operators of this target need.
        operator: creates an operator; by default, a real operator.
    """

    def __init__(self, context: OperatorContext, operator: Callable[[OperatorContext], Operator] | None = None) -> None:
        self.context = context
        self._make_operator = operator or _default_operator
        self._tasks: list[ActionTask] = []

    @property
    def read_only_reason(self) -> str | None:
        """The reason why nothing may be changed here, or ``None``."""
        return self.context.read_only

    @property
    def running_titles(self) -> list[str]:
        """The titles of the plans being applied."""
        return [task.running_title for task in self._tasks if task.running_title]

    @property
    def background_operations(self) -> list[BackgroundOperation]:
        """The operations that continue in the background, oldest first."""
        return [found for task in self._tasks if (found := task.background_operation) is not None]

    def new_task(self, receiver: MessagePump) -> ActionTask:
        """Return a new task that posts to ``receiver``. It has its own connections."""
        context, connections = with_own_connections(self.context)
        made = ActionTask(receiver, self._make_operator(context), connections, len(self._tasks) + 1)
        self._tasks.append(made)
        return made

    def ask_operator(self, question: Callable[[Operator], T], answer: Callable[[T | None, str], object]) -> None:
        """Call ``question`` with an operator on a new thread.

        ``answer`` is called on the new thread, either with the result and an empty text, or with ``None`` and the
        problem.
        """

        def run() -> None:
            try:
                got = question(self._make_operator(self.context))
            except Exception as problem:
                answer(None, describe_problem(problem))
            else:
                answer(got, "")

        start_daemon(run, "qmon-ask")

    def close(self, patience_s: float) -> None:
        """Stop all operations. Operations that have not ended after ``patience_s`` seconds are abandoned."""
        deadline = time.monotonic() + patience_s
        for task in self._tasks:
            task.stop()
        for task in self._tasks:
            task.abandon_after(max(0.0, deadline - time.monotonic()))


def describe_problem(problem: Exception) -> str:
    """Return a problem as one line for the user, and log it."""
    if not isinstance(problem, QmonError):
        return log.report_defect(problem)
    log.log_shown_error(problem)
    return str(problem)


def _default_operator(context: OperatorContext) -> Operator:
    from qmon.operate.operator import Operator

    return Operator(context)
