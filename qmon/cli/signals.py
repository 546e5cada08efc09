"""Handles signals that end a command."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from qmon.system import HANGUP
from qmon.texts import Text

if TYPE_CHECKING:
    from types import FrameType

_EXIT_BY_SIGNAL: Final = 128
_STDERR: Final = 2


class SignalText(Text):
    """Notes about signals."""

    STOPPING = "stopping; press Ctrl-C again to stop at once"


@contextmanager
def stop_on_signals(*numbers: int) -> Iterator[tuple[threading.Event, list[str]]]:
    """Make these signals only set an event. Yields the event and the names of received signals.

    A second Ctrl-C raises ``KeyboardInterrupt``, so that the user need not wait for a server that does not respond. The
    first Ctrl-C prints a note about that on standard error.
    """
    stop, came = threading.Event(), list[str]()

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and stop.is_set():
            raise KeyboardInterrupt
        came.append(signal.Signals(number).name)
        stop.set()
        if number == signal.SIGINT:
            _write_note(SignalText.STOPPING)

    with _handle_signals(end, *numbers):
        yield stop, came


def _write_note(text: str) -> None:
    """Write a line to standard error. A signal handler may have interrupted a ``print``, which must not run twice."""
    with suppress(OSError):
        at_start = "\n" if os.isatty(_STDERR) else ""  # the terminal has printed ^C
        os.write(_STDERR, f"{at_start}{text}\n".encode())


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Raise ``SystemExit`` on SIGTERM or a hangup, so that the program cleans up before it ends."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(_EXIT_BY_SIGNAL + number)

    with _handle_signals(end, signal.SIGTERM, HANGUP):
        yield


@contextmanager
def _handle_signals(handler: Callable[[int, FrameType | None], None], *numbers: int) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
