"""Where the screens have their actions planned and done: on threads of their own, so that no key ever waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from qmon import log
from qmon.errors import BadInput, PermissionMissing, QmonError
from qmon.model.operations import Kind, OperationResult, OperationState, Plan, Progress
from qmon.operate.context import OperatorContext, Permission
from qmon.operate.open import Connections, with_own_connections

if TYPE_CHECKING:
    from qmon.operate.operator import Operator
    from qmon.operate.run.prepared import PreparedAction

T = TypeVar("T")

_REPORT_EVERY_S: Final = 0.1
# Seconds that a cancelled statement has to end in order, and the audit of it to be written.
_ORDERLY_S: Final = 1.0


class Planned(Message):
    """A plan is there, or why it is not. ``number``: of the task; an older one's answer is not wanted any more."""

    def __init__(self, number: int, prepared: PreparedAction | None, problem: str = "") -> None:
        super().__init__()
        self.number = number
        self.prepared = prepared
        self.problem = problem


class Progressed(Message):
    """How far an operation is."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """Only the newest is of interest."""
        return isinstance(message, Progressed)


class Ended(Message):
    """An operation has ended, or broken off. ``refused``: it was never begun, and may be tried again."""

    def __init__(self, plan: Plan, result: OperationResult | None, problem: str = "", *, refused: bool = False) -> None:
        super().__init__()
        self.plan = plan
        self.result = result
        self.problem = problem
        self.refused = refused

    @property
    def well(self) -> bool:
        """Whether all went as planned."""
        return self.result is not None and self.result.state is OperationState.DONE

    def words(self) -> str:
        """How it ended, in one line."""
        what = f"{self.plan.title} on {self.plan.target}"
        if self.result is None:
            return f"{what}: {self.problem}"
        telling = self.plan.kind is Kind.REDRIVE or self.result.state is OperationState.UNKNOWN
        why = f": {'; '.join(self.result.notes)}" if telling and self.result.notes else ""
        return f"{what}: {self.result.state}, {self.result.done:,} of {self.plan.count:,}{why}; 6 lists it"


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An operation that goes on in the background. ``target``: named only where there are several."""

    title: str
    progress: Progress | None
    target: str = ""


class ActionTask:
    """One plan and its operation. ``stop`` ends it after the batch under way, ``cancel`` at once."""

    def __init__(self, to: MessagePump, operator: Operator, connections: Connections, number: int) -> None:
        self.number = number
        self._to = to
        self._operator = operator
        self._connections = connections
        self._stop = threading.Event()
        self._reported_at = 0.0
        self._handing = threading.Lock()
        self._ended: Ended | None = None
        self._progress: Progress | None = None
        self._in_background = False
        # The title of the plan that is, or was, applied.
        self._applied = ""
        self.thread: threading.Thread | None = None

    def plan(self, prepare: Callable[[Operator], PreparedAction]) -> None:
        """Plan on a thread; ``Planned`` comes at the end."""

        def run() -> None:
            try:
                self._to.post_message(Planned(self.number, prepare(self._operator)))
            except Exception as problem:
                self._to.post_message(Planned(self.number, None, explain(problem)))

        self._start(run)

    def apply(self, prepared: PreparedAction, permission: Permission) -> None:
        """Apply on a thread; ``Progressed`` comes meanwhile, ``Ended`` at the end."""

        def run() -> None:
            try:
                ended = Ended(prepared.plan, prepared.apply(permission, self._report, self._stop.is_set))
            except Exception as problem:
                ended = Ended(prepared.plan, None, explain(problem), refused=isinstance(problem, BadInput))
            with self._handing:
                self._ended = ended
                self._to.post_message(ended)

        self._applied = prepared.plan.title
        self._start(run)

    @property
    def under_way(self) -> str:
        """The title of the plan that is being applied; empty where none is."""
        return self._applied if self._ended is None and self.thread is not None and self.thread.is_alive() else ""

    @property
    def in_background(self) -> UnderWay | None:
        """How far the operation is, where it was handed over and has not ended."""
        return UnderWay(self._applied, self._progress) if self._in_background and self.under_way else None

    def hand_over(self, to: MessagePump) -> None:
        """From now on tell ``to``; also of an end that has come already and that nobody has read yet."""
        with self._handing:
            self._to, self._in_background = to, True
            if self._ended is not None:
                to.post_message(self._ended)

    def _start(self, run: Callable[[], None]) -> None:
        self.thread = threading.Thread(target=run, name=f"qmon-act-{self.number}", daemon=True)
        self.thread.start()

    def _report(self, progress: Progress) -> None:
        now, self._progress = time.monotonic(), progress
        if now - self._reported_at >= _REPORT_EVERY_S or progress.done >= progress.total:
            self._reported_at = now
            self._to.post_message(Progressed(progress))

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop after the batch under way."""
        self._stop.set()

    def cancel(self) -> None:
        """Stop, and have the server end the statement under way; from a silent server we part. Does not wait."""
        self._stop.set()
        self._connections.cancel()
        threading.Thread(target=self.abandon_after, args=(_ORDERLY_S,), name="qmon-act-cancel", daemon=True).start()

    def abandon_after(self, seconds: float) -> None:
        """Wait so many seconds for the end, then abandon the connections, which ends it within another second."""
        if self.thread is not None:
            self.thread.join(seconds)
            if self.thread.is_alive():
                self._connections.abandon()
                self.thread.join(_ORDERLY_S)


class ActionRunner:
    """Makes tasks for the screens. ``read_only``: why nothing may be changed, or ``None``."""

    def __init__(self, context: OperatorContext, operator: Callable[[OperatorContext], Operator] | None = None) -> None:
        self.context = context
        self._make = operator or _operator
        self._tasks: list[ActionTask] = []

    @property
    def read_only(self) -> str | None:
        """Why nothing may be changed here."""
        return self.context.read_only

    @property
    def under_way(self) -> list[str]:
        """The titles of the plans that are being applied."""
        return [task.under_way for task in self._tasks if task.under_way]

    @property
    def in_background(self) -> list[UnderWay]:
        """What goes on without a dialog, the first that was begun first."""
        return [found for task in self._tasks if (found := task.in_background) is not None]

    def task(self, to: MessagePump) -> ActionTask:
        """A new task that posts to ``to``; it has connections of its own."""
        context, connections = with_own_connections(self.context)
        made = ActionTask(to, self._make(context), connections, len(self._tasks) + 1)
        self._tasks.append(made)
        return made

    def ask(self, question: Callable[[Operator], T], answer: Callable[[T | None, str], object]) -> None:
        """Read something on a thread; ``answer`` is called there with what was read, or with why it was not."""

        def run() -> None:
            try:
                got = question(self._make(self.context))
            except Exception as problem:
                answer(None, explain(problem))
            else:
                answer(got, "")

        threading.Thread(target=run, name="qmon-ask", daemon=True).start()

    def close(self, patience_s: float) -> None:
        """Stop what is under way and give it so many seconds to end in order; what does not is abandoned."""
        deadline = time.monotonic() + patience_s
        for task in self._tasks:
            task.stop()
        for task in self._tasks:
            task.abandon_after(max(0.0, deadline - time.monotonic()))


def explain(problem: Exception) -> str:
    """A problem as one line for the operator, with the GRANT that would help."""
    if not isinstance(problem, QmonError):
        return log.report(problem)
    log.reported(problem)
    if isinstance(problem, PermissionMissing) and problem.grant:
        return f"{problem}; this would help: {problem.grant}"
    return str(problem)


def _operator(context: OperatorContext) -> Operator:
    from qmon.operate.operator import Operator

    return Operator(context)
