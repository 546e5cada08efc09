"""What is done again and again until it is stopped, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_CHECK_S: Final = 0.5


def repeated(step: Callable[[], bool], every_s: float | None, stop: threading.Event | None = None) -> None:
    """Take steps as long as one says that there is more to do; with ``every_s`` wait so long (seconds) and go on.

    Ends once ``stop`` is set, without waiting for the step that is under way. Raises what a step raises; but the signal
    that sets ``stop`` may have ended Spark's Java as well, so that from then on a step can only fail.
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
