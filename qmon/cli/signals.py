"""Signals that end a command in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qmon.system import HANGUP

if TYPE_CHECKING:
    from types import FrameType

_EXIT_BY_SIGNAL: Final = 128


@contextmanager
def ended_by(*numbers: int) -> Iterator[tuple[threading.Event, list[str]]]:
    """Let these signals set an event and do nothing else; also gives the names of those that came."""
    stop, came = threading.Event(), list[str]()

    def end(number: int, frame: FrameType | None) -> None:
        came.append(signal.Signals(number).name)
        stop.set()

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield stop, came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn SIGTERM and a hangup into ``SystemExit``, so that everything is put away before we go."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(_EXIT_BY_SIGNAL + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, HANGUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
