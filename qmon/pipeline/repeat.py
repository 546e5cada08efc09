"""Repeats a step on its own thread until stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_CHECK_S: Final = 0.5


def repeat_step(step: Callable[[], bool], every_s: float | None, stop: threading.Event | None = None) -> None:
    """Repeat ``step`` while it returns true. With ``every_s`` (seconds), wait and start over.

    Ends when ``stop`` is set, without waiting for the running step. Raises what a step raises, unless ``stop`` is set.
    The signal that sets it may also have ended Spark's Java, and steps then fail.
    """
    ending, failed = stop or threading.Event(), list[Exception]()

    def work() -> None:
        try:
            while not ending.is_set():
                if step():
                    continue
                if every_s is None:
                    return
                ending.wait(every_s)
        except Exception as problem:
            failed.append(problem)

    worker = threading.Thread(target=work, name="qmon-pipeline", daemon=True)
    worker.start()
    while worker.is_alive() and not ending.is_set():
        worker.join(_CHECK_S)
    if failed and not ending.is_set():
        raise failed[0]
