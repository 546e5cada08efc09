"""Run the driver calls of one connection on a thread, so that a call that never returns can be abandoned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from qmon.system import wait_for_event

T = TypeVar("T")


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
