"""The application's job, the same in every library: log it, sleep, and fail as often as its arguments say."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LOOK_S: Final = 0.02


class Failed(Exception):
    """The job fails on purpose."""


@dataclass(frozen=True)
class Application:
    """The settings and the job function of one worker.

    Attributes:
        log: the log file.
        seconds_per_job: how long each job sleeps, unless a file with the log's name and ``.wake`` exists.
        attempts: the most attempts of a job.
    """

    log: Path
    seconds_per_job: float
    attempts: int

    def work(self, queue: str, job: object, attempt: int, fails: int, worker: object = "") -> None:
        """Do a job. Raises ``Failed`` after logging it.

        Args:
            attempt: 1 for the first attempt.
            fails: the number of first attempts that fail; none if a file ``mended`` exists next to the log.
            worker: the worker's name as in the library's tables.
        """
        self._say("claimed", queue, job, worker)
        for nap in self._naps():
            time.sleep(nap)
        self._end(queue, job, attempt, fails, worker)

    async def work_async(self, queue: str, job: object, attempt: int, fails: int, worker: object = "") -> None:
        """``work`` for libraries whose jobs are coroutines."""
        self._say("claimed", queue, job, worker)
        for nap in self._naps():
            await asyncio.sleep(nap)
        self._end(queue, job, attempt, fails, worker)

    def _naps(self) -> Iterator[float]:
        """Yield the next nap in seconds, until the job's time is over or it is woken."""
        until = time.monotonic() + self.seconds_per_job
        while (left := until - time.monotonic()) > 0 and not self.log.with_suffix(".wake").exists():
            yield min(left, _LOOK_S)

    def _end(self, queue: str, job: object, attempt: int, fails: int, worker: object) -> None:
        if attempt > fails or self.log.with_name("mended").exists():
            self._say("completed", queue, job, worker)
            return
        self._say("failed" if attempt >= self.attempts else "retried", queue, job, worker)
        raise Failed

    def _say(self, event: str, queue: str, job: object, worker: object) -> None:
        line = {"at": time.time(), "event": event, "queue": queue, "id": str(job), "worker": str(worker)}
        with self.log.open("ab", buffering=0) as log:
            log.write(json.dumps(line).encode() + b"\n")


def end_with_standard_input() -> None:
    """Kill this process and its children when standard input ends, because then the test is gone."""

    def watch() -> None:
        os.read(0, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def when_told(stop: threading.Event) -> None:
    """Set the event on SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
