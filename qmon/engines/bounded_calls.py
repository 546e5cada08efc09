"""Run calls into a driver with a timeout, because a driver may hang."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from qmon.engines.base import SILENCE_S
from qmon.errors import ConnectionFailed
from qmon.model.formatting import duration
from qmon.texts import Text


class LoginText(Text):
    """Errors of logins that take too long."""

    NO_ANSWER = "{target}: no answer to the login within {time}"


T = TypeVar("T")

_SOON_S: Final = 0.3

# Maximum number of hanging calls about one subject. If there are this many, new calls are refused.
MAX_HANGING: Final = 3


class CallTimeoutError(Exception):
    """Raised if the call has not returned in time, or if too many earlier calls are still hanging."""


class BoundedCalls:
    """Run calls of one kind, each in its own thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hanging: dict[str, list[threading.Thread]] = {}

    def run_within(
        self,
        seconds: float,
        call: Callable[[], T],
        discard: Callable[[T], None],
        subject: str = "",
        is_hopeless: Callable[[], bool] = bool,
    ) -> T:
        """Run ``call``. If it ends in time, return its result or raise its exception.

        ``discard`` receives a late result. ``subject``: subject of the call, such as a target. A hanging call does not
        block calls about other subjects. ``is_hopeless`` is called once, soon after the call began, and returns true if
        waiting is useless. Raises ``CallTimeoutError`` after ``seconds``. Raises ``CallTimeoutError`` immediately if
        the call is hopeless or ``MAX_HANGING`` earlier calls are still running.
        """
        with self._lock:
            left = self._hanging[subject] = [thread for thread in self._hanging.get(subject, ()) if thread.is_alive()]
            if len(left) >= MAX_HANGING:
                raise CallTimeoutError
        found: list[T] = []
        problems: list[BaseException] = []
        late = False

        def work() -> None:
            try:
                result = call()
            except BaseException as problem:
                problems.append(problem)
                return
            with self._lock:
                found.append(result)
                wanted = not late
            if not wanted:
                with contextlib.suppress(Exception):
                    discard(result)

        name = f"login of {threading.current_thread().name}"  # shown in the log
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        try:
            thread.join(min(seconds, _SOON_S))
            if thread.is_alive() and not is_hopeless():
                thread.join(max(0.0, seconds - _SOON_S))
        except BaseException:  # Ctrl-C
            with self._lock:
                late = True
            for result in found:
                discard(result)
            raise
        with self._lock:
            if found:
                return found[0]
            late = not problems
            if late:
                self._hanging[subject].append(thread)
        if late:
            raise CallTimeoutError
        raise problems[0]


_LOGINS: Final = BoundedCalls()


def log_in(target: str, login_timeout_s: float, call: Callable[[], T], discard: Callable[[T], None]) -> T:
    """Return the result of ``call``, which logs in and has its own login timeout.

    Drivers do not always enforce their login timeout, and some drivers then send queries without any deadline. Raises
    ``ConnectionFailed`` if there is no answer. Exceptions of ``call`` pass through.
    """
    seconds = login_timeout_s + SILENCE_S
    try:
        return _LOGINS.run_within(seconds, call, discard, target)
    except CallTimeoutError:
        raise ConnectionFailed(LoginText.NO_ANSWER.render(target=target, time=duration(seconds))) from None
