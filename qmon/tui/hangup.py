"""Ends the process after a hangup, SIGINT or SIGTERM, and if the terminal is lost without a signal."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from threading import Event, main_thread
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Final, Self

from qmon.system import HANGUP
from qmon.tui.daemon_thread import start_daemon

if TYPE_CHECKING:
    from textual.app import App

_EXIT_CODES: Final = {HANGUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}
_CHECK_EVERY_S: Final = 1.0
# Seconds to wait for the app to end, and then for threads that still read from or write to the terminal.
_PATIENCE_S: Final = 3.0


class Hangup:
    """A context manager that ends the app when its terminal is lost.

    If the app or one of its threads hangs, the process is ended. A thread may hang if the terminal is lost while
    Textual starts to read from the terminal.

    Args:
        app: the app to end.
        is_alive: returns whether the terminal still exists. By default, a system call checks the terminal.

    Attributes:
        code: the exit code to use; 0 if nothing has happened.
    """

    def __init__(self, app: App[None], is_alive: Callable[[], bool] | None = None) -> None:
        self.code = 0
        self._is_alive = is_alive or is_terminal_alive
        self._app = app
        self._app_ended = Event()
        self._terminal_gone = Event()
        self._old_handlers: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in _EXIT_CODES:
            self._old_handlers[number] = signal.signal(number, self._handle_signal)
        start_daemon(self._watch_terminal, "qmon-terminal")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._app_ended.set()
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self.code = _EXIT_CODES[signal.Signals(number)]
        self._terminal_gone.set()

    def _watch_terminal(self) -> None:
        """Wait for a signal or a dead terminal, then end the app.

        This runs on a separate thread, because the app's thread may be stuck in a write to the lost terminal.
        """
        while not self._terminal_gone.wait(_CHECK_EVERY_S):
            if self._app_ended.is_set():
                return
            if not self._is_alive():
                self.code = _EXIT_CODES[HANGUP]
                break
        if not self._is_alive():
            _detach_terminal()
        self._app.exit(return_code=self.code)
        if self._app_ended.wait(_PATIENCE_S):
            main_thread().join()  # the main thread closes the source and other objects, each with its own time limit
            # This thread is a daemon: if nothing hangs, the process ends during this wait.
            Event().wait(_PATIENCE_S)
        os._exit(self.code)


def is_terminal_alive() -> bool:
    """Return whether standard input is still a terminal. The system reports an error if the terminal was closed."""
    return sys.__stdin__ is not None and os.isatty(sys.__stdin__.fileno())


def is_input_open() -> bool:
    """Return whether the program that writes to our standard input (a pipe) is still running."""
    if sys.platform == "win32":  # Windows has no `poll`, and on Windows qmon has no web viewers
        return True
    poll = select.poll()
    poll.register(0, select.POLLHUP)
    return not any(found & select.POLLHUP for _, found in poll.poll(0))


def _detach_terminal() -> None:
    """Replace the dead terminal by the null device, so that reads and writes neither fail nor block."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
