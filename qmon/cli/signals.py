"""Handles signals that end a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qmon.system import HANGUP

if TYPE_CHECKING:
    from types import FrameType

_EXIT_BY_SIGNAL: Final = 128


@contextmanager
def stop_on_signals(*numbers: int) -> Iterator[tuple[threading.Event, list[str]]]:
    """Make these signals only set an event. Yields the event and the names of received signals.

    A second Ctrl-C raises ``KeyboardInterrupt``, so that the user need not wait for a server that does not respond.
    """
    stop, came = threading.Event(), list[str]()

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and stop.is_set():
            raise KeyboardInterrupt
        came.append(signal.Signals(number).name)
        stop.set()

    with _handle_signals(end, *numbers):
        yield stop, came


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
