"""Make one driver call of a connection at a time, with a deadline. Any thread can cancel or abandon the call."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Final, Generic, Protocol, TypeVar

from qmon.engines.driver_faults import DriverFault, read_statement_fault
from qmon.errors import ConnectionLost, QmonError, QueryFailed, StatementCancelled
from qmon.model.formatting import duration
from qmon.redact import hide_values
from qmon.system import wait_for_event
from qmon.texts import Text


class DriverCallText(Text):
    """Errors of calls of the driver."""

    NO_ANSWER_TO_CANCEL = "no answer to a cancel; the connection was abandoned"
    NO_ANSWER = "no answer for {time}; the connection was abandoned"
    CANNOT_BE_SENT = "{query}: a value cannot be sent: {problem}"
    CANCELLED = "{query}: cancelled"
    INTERRUPTED = "interrupted before the server answered; the connection was abandoned"
    ABANDONED = "the connection was abandoned before the server answered"
    CLOSED = "the connection is closed"


T = TypeVar("T")

# Seconds to wait until a cancel is sent or a connection is closed.
_CANCEL_S: Final = 2.0

# After Ctrl-C qmon asks the server to cancel the call, and waits this many seconds for the call to end.
_SETTLE_S: Final = 1.0

# Takes the fault of a running statement and the statement's name. Returns the error to raise.
ExplainStatement = Callable[[DriverFault, str], QmonError]


class Cursor(Protocol):
    """The method of a driver's cursor that cancels a statement."""

    def cancel(self) -> object:
        """Ask the server to cancel the running statement of this cursor."""


class DriverCalls:
    """Make the calls of one connection, and convert the driver's faults to errors. Only one thread calls ``run``."""

    def __init__(self, explain: ExplainStatement, fault: type[Exception], free: Callable[[bool], None]) -> None:
        """``fault``: the driver's exception. ``free(idle)``: closes the connection; ``idle``: true if no call runs."""
        self._explain, self._fault, self._free = explain, fault, free
        self._guard = threading.Lock()
        self._running: Cursor | None = None
        self._cancelled = False
        self._thread: DriverThread | None = None
        self._silence_s: float | None = None
        self._statement_s: float | None = None
        self._closed = False
        self.raised_hidden = False
        # True if a call has failed since this attribute was last set to false.
        self.failed = False
        # Why no more calls are possible; empty while calls are possible.
        self.lost = ""

    def configure_deadline(self, statement_s: float | None, silence_s: float | None) -> None:
        """Set the deadline of all later answers: the time of a statement plus the allowed delay, in seconds.

        If ``statement_s`` is ``None``, calls have no deadline, but Ctrl-C ends the wait. If ``silence_s`` is ``None``,
        calls run on the caller's thread for as long as they take.
        """
        self._statement_s, self._silence_s = statement_s, silence_s
        if silence_s is not None and self._thread is None:
            self._thread = DriverThread()
        elif silence_s is None and self._thread is not None:
            self._thread.end_thread()
            self._thread = None

    def set_statement_timeout(self, statement_s: float) -> None:
        """Allow this many seconds for a statement from now on."""
        self._statement_s = statement_s

    def run(self, name: str, work: Callable[[], T], running: Cursor, statements: int = 1) -> T:
        """Run ``work`` as a call that ``cancel`` can end.

        ``statements``: the number of statements that ``work`` runs, each with its own timeout. Raises
        ``ConnectionLost`` after the deadline, after ``abandon``, or if the driver reports a lost connection. Other
        faults of the driver raise other errors.
        """
        if self.lost:
            raise ConnectionLost(self.lost)
        # A running cancel belongs to the previous statement. It must reach the server before the next statement starts.
        if not self._guard.acquire(timeout=-1 if self._silence_s is None else self._silence_s):
            self.abandon(DriverCallText.NO_ANSWER_TO_CANCEL)
            raise ConnectionLost(self.lost)
        self._running, self._cancelled = running, False
        self._guard.release()
        deadline_s = self._deadline_s(statements)
        problem: QmonError
        try:
            return work() if self._thread is None else self._thread.run(work, deadline_s)
        except NoAnswer:
            if deadline_s is not None:
                self.abandon(DriverCallText.NO_ANSWER.render(time=duration(deadline_s)))
            problem = ConnectionLost(f"{name}: {self.lost}")
        except self._fault as error:
            problem = self._explain(read_statement_fault(error.args, raised_hidden=self.raised_hidden), name)
        except (UnicodeError, OverflowError, ValueError) as error:
            problem = QueryFailed(
                DriverCallText.CANNOT_BE_SENT.render(query=name, problem=hide_values(str(error))), query=name
            )
        except QueryFailed as error:
            problem = error
        except BaseException:  # Ctrl-C in the waiting thread, while the call continues
            self._interrupt()
            raise
        finally:
            self._running = None
        self.failed = True
        if isinstance(problem, ConnectionLost):
            self._mark_lost(str(problem))
        elif self._cancelled:  # between two results, the driver reports a cancel as another error
            problem = StatementCancelled(DriverCallText.CANCELLED.render(query=name), sqlstate="57014", query=name)
        raise problem

    def _deadline_s(self, statements: int) -> float | None:
        if self._statement_s is None or self._silence_s is None:
            return None
        return self._statement_s * statements + self._silence_s

    def _interrupt(self) -> None:
        settled = False
        try:
            self.cancel()
            settled = self._thread is None or self._thread.wait_settled(_SETTLE_S)
        finally:
            if not settled:
                self.abandon(DriverCallText.INTERRUPTED)

    def cancel(self) -> None:
        """Ask the server to cancel the running call. Wait two seconds at most. Any thread may call this method."""
        if not self._guard.acquire(timeout=_CANCEL_S):
            return
        running, sent = self._running, threading.Event()
        if running is None:
            self._guard.release()
            return
        self._cancelled = True

        def send() -> None:  # the cancel uses a separate connection, on which the server may not answer
            try:
                with contextlib.suppress(self._fault):
                    running.cancel()
            finally:
                self._guard.release()
                sent.set()

        threading.Thread(target=send, name="qmon-cancel", daemon=True).start()
        sent.wait(_CANCEL_S)

    def abandon(self, why: str = DriverCallText.ABANDONED) -> None:
        """Stop waiting for this connection: the running call, if any, raises ``ConnectionLost`` immediately.

        Any thread may call this method, and it does not wait. If the driver ever returns, the connection is closed. A
        call that runs on the caller's own thread is not ended.
        """
        if self._closed:
            return
        self._mark_lost(why)
        if self._thread is not None:
            self._closed = True
            self._thread.abandon_call(partial(self._free_connection, False))

    def _mark_lost(self, why: str) -> None:
        self.lost = self.lost or why

    def close(self) -> None:
        """Close the connection. Never raise an exception, and wait two seconds at most for a silent server."""
        idle = self._running is None and not self.lost
        self._mark_lost(DriverCallText.CLOSED)
        if self._closed or (self._thread is None and self._running is not None):
            return  # a call running on another thread keeps its connection
        self._closed = True
        put_away = partial(self._free_connection, idle)
        if self._thread is None:
            put_away()
        elif not sys.is_finalizing():
            with contextlib.suppress(NoAnswer):
                self._thread.run(put_away, _CANCEL_S)
            self._thread.end_thread()
        elif not self._thread.is_busy:  # the interpreter has stopped all other threads
            put_away()

    def _free_connection(self, idle: bool) -> None:
        # The driver crashes if a connection is freed during a cancel. If a cancel never ends, the connection is never
        # freed.
        if not self._guard.acquire(timeout=_CANCEL_S):
            return
        try:
            self._running = None
            self._free(idle)
        finally:
            self._guard.release()


class NoAnswer(Exception):
    """Raised if the call has not returned in time, or if another thread has abandoned it."""


class _Call(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._result: list[T] = []
        self._problem: BaseException | None = None
        self.over = threading.Event()
        self.left = False

    def run_work(self) -> None:
        work, self._work = self._work, None
        try:
            if work is not None:
                self._result.append(work())
        except BaseException as problem:
            self._problem = problem
        del work  # this thread must not have the last reference to the connection when the caller continues
        self.over.set()

    def result(self) -> T:
        problem, self._problem = self._problem, None
        if problem is None:
            return self._result[0]
        try:
            raise problem
        finally:
            del problem  # its traceback refers to this frame


class DriverThread:
    """Run calls one after the other on a separate thread, which starts with the first call.

    Only one thread uses this object, but any thread may call ``wait_settled`` and ``abandon_call``. The separate thread
    is a daemon, so the program can exit without waiting for the thread.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call[None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running: _Call[None] | None = None

    def run(self, work: Callable[[], T], seconds: float | None) -> T:
        """Return the result of ``work``, or raise its exception.

        ``seconds``: maximum time to wait; ``None`` for no limit. Raises ``NoAnswer`` after this time, or when the call
        is abandoned.
        """
        if self._thread is threading.current_thread():  # the garbage collector closes a connection on this thread
            return work()
        if self._thread is None:
            self._thread = threading.Thread(target=_run_calls, args=(self._calls,), name="qmon-driver", daemon=True)
            self._thread.start()
        call: _Call[T] = _Call(work)
        self._running = call  # type: ignore[assignment]  # only used to ask whether the call is over
        self._calls.put(call)  # type: ignore[arg-type]  # the result is read here
        if not wait_for_event(call.over, seconds) or call.left:
            raise NoAnswer
        self._running = None
        return call.result()

    @property
    def is_busy(self) -> bool:
        """True if a call is running."""
        return (call := self._running) is not None and not call.over.is_set()

    def wait_settled(self, seconds: float) -> bool:
        """Wait at most this many seconds for the running call to end. Return whether no call is running."""
        call = self._running
        return call is None or (call.over.wait(seconds) and not call.left)

    def abandon_call(self, last: Callable[[], None]) -> None:
        """Raise ``NoAnswer`` in the thread that waits for the current call.

        If the call ever returns, ``last`` is run.
        """
        self._calls.put(_Call(last))
        self._calls.put(None)
        if (call := self._running) is not None:
            call.left = True
            call.over.set()

    def end_thread(self) -> None:
        """End the thread after the calls made so far."""
        self._calls.put(None)


def _run_calls(calls: SimpleQueue[_Call[None] | None]) -> None:
    while (call := calls.get()) is not None:
        call.run_work()
        del call
