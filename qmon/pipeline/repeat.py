"""Repeats a step on a separate thread until stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_CHECK_S: Final = 0.5


def repeat_step(step: Callable[[], bool], every_s: float | None, stop: threading.Event | None = None) -> None:
    """Repeat ``step`` until it returns false. If ``every_s`` is given, wait for this time (seconds) and start over.

    Ends when ``stop`` is set, without waiting for the running step. If a step raises an error, this function raises the
    same error, unless ``stop`` is set. The signal that sets ``stop`` may also end Spark's Java process, and then steps
    fail.
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
