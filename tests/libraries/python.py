"""Libraries in Python: their programs are modules of ``tests.libraries.programs``, their workers are processes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from tests.facts import query
from tests.libraries.library import ATTEMPTS, QUEUES, Counts, Event, Library, State, Worker, pushed


class Program(Protocol):
    """A module of ``tests.libraries.programs``."""

    def install(self, url: str) -> None:
        """Create the library's tables."""

    def push(
        self, url: str, queue: str, payloads: Sequence[str], due_in_s: float, fails: int, attempts: int
    ) -> list[str]:
        """Push jobs; return their ids."""

    def check(self, url: str) -> None:
        """Run the library's own checks."""

    def prune(self, url: str) -> None:
        """Delete done jobs, if the library does so."""


@dataclass(frozen=True)
class PythonLibrary(Library):
    """A library in Python.

    Attributes:
        program: the name of its module.
        counts: SQL for queue, state and number of jobs.
        holders: SQL for id and worker of each job in progress.
        broken: SQL for rows that must not exist.
        orphans: SQL for the id of each job in progress whose worker has gone, by the library's own rule.
        fenced: whether a worker changes nothing at its end if its job was requeued in the meantime.
    """

    program: str = ""
    counts: str = ""
    holders: str = ""
    broken: str = ""
    orphans: str = ""
    fenced: bool = False

    def install(self, url: str) -> None:
        self._module.install(url)

    def start(
        self, url: str, folder: Path, name: str, queues: Sequence[str], *, seconds_per_job: float = 0.0
    ) -> Worker:
        words = [self.program, url, str(seconds_per_job), str(ATTEMPTS), *queues]
        return Worker.start([sys.executable, "-m", "tests.libraries.programs", *words], folder, name)

    def push(
        self, url: str, queue: str, payloads: Sequence[str], *, due_in_s: float = 0.0, fails: int = 0
    ) -> list[Event]:
        ids = self._module.push(url, queue, payloads, due_in_s, fails, ATTEMPTS)
        return pushed(queue, ids, due_in_s)

    def check(self, url: str) -> None:
        self._module.check(url)
        assert query(url, self.broken) == []

    def prune(self, url: str) -> None:
        self._module.prune(url)

    def truth(self, url: str) -> dict[str, Counts]:
        return tallied(query(url, self.counts), self.untold)

    def held(self, url: str) -> dict[str, str]:
        return {str(job): "" if worker is None else str(worker) for job, worker in query(url, self.holders)}

    @property
    def _module(self) -> Program:
        return cast(Program, importlib.import_module(f"tests.libraries.programs.{self.program}"))


def tallied(rows: Iterable[tuple[object, ...]], untold: Iterable[State]) -> dict[str, Counts]:
    """Convert rows of queue, state and number to counts, with 0 for missing states that the tables show."""
    states: list[State] = ["ready", "scheduled", "retry", "in_progress", "done", "dead"]
    told: dict[State, int] = {state: 0 for state in states if state not in set(untold)}
    counts: dict[str, dict[State, int]] = {queue: dict(told) for queue in QUEUES}
    for queue, state, number in rows:
        counts.setdefault(str(queue), dict(told))[cast(State, state)] = int(str(number))
    return dict(counts)
