"""What is the same for every library: its workers as processes, the log they write, and what it should come to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Self

from tests.cli.calling import surroundings
from tests.facts import wait_until
from tests.libraries.actions import NONE, Actions

QUEUES: Final = ("mails", "invoices")
# How often a job is tried before it is dead, in every library. Some wait longer for each further attempt.
ATTEMPTS: Final = 2

# `retried`: the attempt failed and there will be another; `failed`: it was the last one.
Kind = Literal["pushed", "claimed", "completed", "failed", "retried"]
# `ready`: a worker may begin it now. `retry`: it failed and is due later, where that is not just `scheduled`.
# `blocked`: it waits for another job or a lock.
State = Literal["ready", "scheduled", "retry", "in_progress", "done", "dead", "cancelled", "blocked"]
# Jobs by state. A state that the tables cannot tell is missing; one of which there is nothing is 0.
Counts = Mapping[State, int]


@dataclass(frozen=True)
class Event:
    """A line of the application's log.

    Attributes:
        at: when, in seconds of this machine's clock since 1970.
        worker: who did it, by the name that the library's tables have for it; empty where they have none.
        due_in_s: of a pushed job: it may begin so much later.
    """

    at: float
    event: Kind
    queue: str
    id: str
    worker: str = ""
    due_in_s: float = 0.0


@dataclass
class Worker:
    """A worker in a process of its own, which writes ``log``: one JSON object a line, with the fields of ``Event``.

    It appends each line at once, begins a job by saying ``claimed``, ends on SIGTERM once its jobs are done, and at
    once when its standard input ends. The end of a ``with`` kills it.
    """

    process: subprocess.Popen[bytes]
    log: Path
    # Its standard output and error.
    said: Path

    @classmethod
    def start(cls, command: Sequence[str | Path], folder: Path, name: str, **environment: str) -> Self:
        """Run a program that appends to the file that ``QMON_TEST_LOG`` names, ``<folder>/<name>.jsonl``."""
        log, said = folder / f"{name}.jsonl", folder / f"{name}.txt"
        log.touch()
        with said.open("ab") as output:
            process = subprocess.Popen(
                [str(word) for word in command],
                env=surroundings(QMON_TEST_LOG=str(log), **environment),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return cls(process, log, said)

    def events(self) -> list[Event]:
        """What it has written so far."""
        whole = self.log.read_bytes().rpartition(b"\n")[0]
        return [Event(**json.loads(line)) for line in whole.splitlines()]

    def count(self, *kinds: Kind) -> int:
        """How many events of these kinds it has written."""
        return sum(event.event in kinds for event in self.events())

    def wait(self, count: int, *kinds: Kind, timeout: float = 30.0) -> list[Event]:
        """Wait for at least so many events of these kinds; returns all events. Fails when the program ends before."""

        def there() -> bool:
            if self.count(*kinds) >= count:
                return True
            assert self.process.poll() is None, f"it ended ({self.process.returncode}): {self._words()}"
            return False

        wait_until(there, timeout, what=f"{count} of {kinds} in {self.log}: {self._words()}")
        return self.events()

    def asleep(self) -> list[Event]:
        """The events of the jobs that it has begun and not ended."""
        begun: dict[str, Event] = {}
        for event in self.events():
            if event.event == "claimed":
                begun[event.id] = event
            else:
                begun.pop(event.id, None)
        return list(begun.values())

    def kill(self) -> list[Event]:
        """Kill it (SIGKILL) in the middle of a job, waiting for it to begin one; returns ``asleep``."""
        self.wait(1, "claimed")
        wait_until(self.asleep, what="it is in the middle of a job")
        self._end()
        return self.asleep()

    def stop(self) -> None:
        """Let it end cleanly (SIGTERM). Fails when it does not within 30 s, or says that it failed."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        assert status == 0, f"it ended with {status}: {self._words()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _words(self) -> str:
        return self.said.read_text(errors="replace")[-2000:]


@dataclass(frozen=True)
class Library(ABC):
    """A library that keeps queues in a database, as its users install and call it.

    Attributes:
        name: as its users write it.
        version: the installed one.
        untold: states that its tables cannot tell.
        names_workers: whether its tables tell the worker of a job.
        actions: how to set right what is stuck.
        prunes: whether it deletes what is done, some time later.
    """

    name: str
    version: str
    untold: frozenset[State] = field(default=frozenset())
    names_workers: bool = True
    actions: Actions = NONE
    prunes: bool = False

    @abstractmethod
    def install(self, url: str) -> None:
        """Make its tables, and ``QUEUES`` where queues have to be made."""

    @abstractmethod
    def start(
        self, url: str, folder: Path, name: str, queues: Sequence[str], *, seconds_per_job: float = 0.0
    ) -> Worker:
        """Start a worker that works on one job of these queues at a time and writes ``<folder>/<name>.jsonl``."""

    @abstractmethod
    def push(
        self, url: str, queue: str, payloads: Sequence[str], *, due_in_s: float = 0.0, fails: int = 0
    ) -> list[Event]:
        """Push jobs by the library's own client; returns what its log says.

        Args:
            due_in_s: they may begin so much later; 0: at once.
            fails: so many attempts of each fail, and are retried at once where the library can; from ``ATTEMPTS`` on it
                ends dead.
        """

    @abstractmethod
    def check(self, url: str) -> None:
        """The library's own checks, else its invariants. Raises ``AssertionError``."""

    @abstractmethod
    def prune(self, url: str) -> None:
        """Let it delete what is done, however recently."""

    @abstractmethod
    def truth(self, url: str) -> dict[str, Counts]:
        """Jobs by queue and state, by SQL written from the library's documentation and source alone."""

    @abstractmethod
    def held(self, url: str) -> dict[str, str]:
        """The jobs in progress: id to worker, which is empty where its tables do not tell."""


def pushed(queue: str, ids: Iterable[object], due_in_s: float) -> list[Event]:
    """The log of jobs that were pushed just now."""
    return [Event(time.time(), "pushed", queue, str(id), due_in_s=due_in_s) for id in ids]


def fates(events: Iterable[Event], untold: Iterable[State] = ()) -> dict[str, Counts]:
    """What the tables must hold while nothing moves: each job is where its last event put it.

    A job that was ``retried`` counts as ``retry``, however soon its next attempt is.
    """
    last: dict[str, Event] = {}
    # A worker may be faster than who pushed is at writing so.
    for event in sorted(events, key=lambda event: (event.event != "pushed", event.at)):
        last[event.id] = event
    states: dict[Kind, State] = {"claimed": "in_progress", "completed": "done", "failed": "dead", "retried": "retry"}
    told: list[State] = ["ready", "scheduled", "retry", "in_progress", "done", "dead"]
    told = [state for state in told if state not in set(untold)]
    counted: dict[str, Counter[State]] = {}
    for event in last.values():
        state = states.get(event.event, "scheduled" if event.due_in_s else "ready")
        counted.setdefault(event.queue, Counter())[state] += 1
    return {queue: {state: counts[state] for state in told} for queue, counts in counted.items()}
