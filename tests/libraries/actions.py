"""SQL that writes the same rows as a library's own functions for repairing stuck jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Actions:
    """Statements that do all or nothing and return a row if they did it; empty if the library has no such function.

    Attributes:
        requeue: make a job in progress ready again if its worker has gone. Parameter: its id.
        retry: make a dead job ready again. Parameter: its id.
        discard: cancel a waiting job. Parameter: its id.
        pause: stop the workers of a queue from claiming jobs. Parameter: the queue.
        resume: end the pause. Parameter: the queue.
        paused: list the queues whose workers claim no jobs.
    """

    requeue: str = ""
    retry: str = ""
    discard: str = ""
    pause: str = ""
    resume: str = ""
    paused: str = ""


NONE: Final = Actions()
