"""Common parts of all libraries: their worker processes, the log these write, and the states that follow from it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Self

from tests.cli.calling import surroundings
from tests.facts import PATIENCE_S, wait_until
from tests.libraries.actions import NONE, Actions

QUEUES: Final = ("mails", "invoices")
# Attempts until a job is dead, in every library. Some wait longer before each further attempt.
ATTEMPTS: Final = 2

# `retried`: the attempt failed and there will be another; `failed`: it was the last one.
Kind = Literal["pushed", "claimed", "completed", "failed", "retried"]
# `ready`: a worker may begin it now. `retry`: it failed and is due later, unless the library calls it `scheduled`.
# `blocked`: it waits for another job or a lock.
State = Literal["ready", "scheduled", "retry", "in_progress", "done", "dead", "cancelled", "blocked"]
# Jobs by state. States that the tables do not show are missing; a state without jobs is 0.
Counts = Mapping[State, int]


@dataclass(frozen=True)
class Event:
    """A line of the application's log.

    Attributes:
        at: time, in seconds of this machine's clock since 1970.
        worker: name of the worker as in the library's tables; empty if they have none.
        due_in_s: for a pushed job: how long until it may begin, in seconds.
    """

    at: float
    event: Kind
    queue: str
    id: str
    worker: str = ""
    due_in_s: float = 0.0


@dataclass
class Worker:
    """A worker process, which writes ``log``: one JSON object a line, with the fields of ``Event``.

    It appends each line at once and begins a job by logging ``claimed``. On SIGTERM it ends once its jobs are done;
    when its standard input ends, it ends at once. The end of a ``with`` kills it.
    """

    process: subprocess.Popen[bytes]
    log: Path
    # Its standard output and error.
    said: Path

    @classmethod
    def start(cls, command: Sequence[str | Path], folder: Path, name: str, **environment: str) -> Self:
        """Run a program that appends to the file named by ``QMON_TEST_LOG``, ``<folder>/<name>.jsonl``."""
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
        """Return the events so far."""
        whole = self.log.read_bytes().rpartition(b"\n")[0]
        return [Event(**json.loads(line)) for line in whole.splitlines()]

    def count(self, *kinds: Kind) -> int:
        """Return the number of events of these kinds."""
        return sum(event.event in kinds for event in self.events())

    def wait(self, count: int, *kinds: Kind, timeout: float = PATIENCE_S) -> list[Event]:
        """Wait for at least ``count`` events of these kinds; return all events. Fails if the program ends first."""

        def there() -> bool:
            if self.count(*kinds) >= count:
                return True
            assert self.process.poll() is None, f"it ended ({self.process.returncode}): {self._words()}"
            return False

        wait_until(there, timeout, what=f"{count} of {kinds} in {self.log}: {self._words()}")
        return self.events()

    def asleep(self) -> list[Event]:
        """Return the events of jobs that it has begun and not ended."""
        begun: dict[str, Event] = {}
        for event in self.events():
            if event.event == "claimed":
                begun[event.id] = event
            else:
                begun.pop(event.id, None)
        return list(begun.values())

    def kill(self) -> list[Event]:
        """Kill it (SIGKILL) in the middle of a job, waiting for one if necessary; return ``asleep``."""
        self.wait(1, "claimed")
        wait_until(self.asleep, what="it is in the middle of a job")
        self._end()
        return self.asleep()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop its processes in the middle of a job (SIGSTOP), waiting for one if necessary, until the block ends."""
        wait_until(self.asleep, what="it is in the middle of a job")
        os.killpg(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.process.pid, signal.SIGCONT)

    def hurry(self) -> None:
        """Let its jobs take no time from now on."""
        self.log.with_suffix(".wake").touch()

    def slow_down(self) -> None:
        """Let jobs that begin from now on take their time again."""
        self.log.with_suffix(".wake").unlink()

    def stop(self) -> None:
        """Stop it cleanly (SIGTERM). Fails if it takes longer than 30 s or reports a failure."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(120)
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
    """A library that keeps queues in a database, installed and called as its users do it.

    Attributes:
        name: spelled as its users spell it.
        version: the installed one.
        untold: states that its tables do not show.
        names_workers: whether its tables name the worker of a job.
        actions: SQL that repairs stuck jobs.
        prunes: whether it deletes done jobs some time later.
    """

    name: str
    version: str
    untold: frozenset[State] = field(default=frozenset())
    names_workers: bool = True
    actions: Actions = NONE
    prunes: bool = False

    @abstractmethod
    def install(self, url: str) -> None:
        """Create its tables, and ``QUEUES`` if queues must be created."""

    @abstractmethod
    def start(
        self, url: str, folder: Path, name: str, queues: Sequence[str], *, seconds_per_job: float = 0.0
    ) -> Worker:
        """Start a worker that runs one job of these queues at a time and writes ``<folder>/<name>.jsonl``."""

    @abstractmethod
    def push(
        self, url: str, queue: str, payloads: Sequence[str], *, due_in_s: float = 0.0, fails: int = 0
    ) -> list[Event]:
        """Push jobs with the library's own client; return the log of them.

        Args:
            due_in_s: seconds until they may begin; 0: at once.
            fails: how many attempts of each job fail. They are retried at once if the library can. With ``ATTEMPTS`` or
                more, the job is dead in the end.
        """

    @abstractmethod
    def check(self, url: str) -> None:
        """Run the library's own checks, or check its invariants. Raises ``AssertionError``."""

    @abstractmethod
    def prune(self, url: str) -> None:
        """Let it delete all done jobs, also recent ones."""

    @abstractmethod
    def truth(self, url: str) -> dict[str, Counts]:
        """Return jobs by queue and state, with SQL based only on the library's documentation and source."""

    @abstractmethod
    def held(self, url: str) -> dict[str, str]:
        """Return the jobs in progress: id to worker, which is empty if the tables do not name it."""


def pushed(queue: str, ids: Iterable[object], due_in_s: float) -> list[Event]:
    """Return the log of jobs that were pushed just now."""
    return [Event(time.time(), "pushed", queue, str(id), due_in_s=due_in_s) for id in ids]


def fates(events: Iterable[Event], untold: Iterable[State] = ()) -> dict[str, Counts]:
    """Return the counts the tables must have while nothing moves: each job is in the state of its last event.

    A job that was ``retried`` counts as ``retry``, even if its next attempt is due at once.
    """
    last: dict[str, Event] = {}
    # A worker may log its claim before the producer logs the push.
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


def within(events: Iterable[Event], kind: Kind, queue: str, start: float, end: float) -> int:
    """Return the number of these events within this time."""
    return sum(event.event == kind and event.queue == queue and start < event.at <= end for event in events)
