"""What a library's own functions write to set right what is stuck, as SQL that anybody can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Actions:
    """Statements, each of which does all or nothing and returns a row if it did it; empty where the library has none.

    Attributes:
        requeue: a job in progress whose worker has gone is ready again. Parameter: its id.
        retry: a dead job is ready again. Parameter: its id.
        discard: a job that waits will not be worked on. Parameter: its id.
        pause: its workers take no more jobs from a queue. Parameter: the queue.
        resume: the end of that. Parameter: the queue.
        paused: the queues whose workers take no jobs.
    """

    requeue: str = ""
    retry: str = ""
    discard: str = ""
    pause: str = ""
    resume: str = ""
    paused: str = ""


NONE: Final = Actions()
