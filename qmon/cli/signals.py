"""Signals that end a command in order, with what it came to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


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
