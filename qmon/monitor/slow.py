"""Slow readings on a connection of their own: exact counts (anchors) and a full look for each queue's head.

Each costs what it costs, so each is timed, and not repeated before 200 times that time has passed (half a per cent of
one processor), nor before 10 seconds (head) or 60 seconds (count).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Bound, Connection, Engine, Session
from qmon.engines.rows import records
from qmon.errors import ConnectionLost, PermissionMissing, QmonError, QueryFailed
from qmon.model.fragment_samples import Fragmentation
from qmon.model.samples import AnchorSample, ClockSample, HeadSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.apart import Apart
from qmon.monitor.fragments import EVERY_S, FIRST_S, Fragments
from qmon.monitor.jobs import Book
from qmon.monitor.own_use import OwnUses
from qmon.monitor.queue_probes import Memo, QueueProbes, Spec, names_of, state_values

_COST_FACTOR: Final = 200.0
_HEAD_EVERY_S: Final = 10.0
_COUNT_EVERY_S: Final = 60.0
_SETTLED_S: Final = 2.5
"""After so many seconds the server's counters have seen what was committed before (PostgreSQL: a second)."""
_DEAR_HEAD_S: Final = 0.001
_DEADLINE_S: Final = 120.0
_BACK_OFF_S: Final = 5.0
_IDLE_S: Final = 1.0
_UNDER_WAY: Final = float("inf")
"""When a task is due that is being done; another time than that was asked for meanwhile, and counts."""


@dataclass(slots=True)
class _Task:
    """One slow reading: what it is of, and when it is due on our monotonic clock."""

    queue: str
    kind: str
    due_at: float = 0.0
    wanted: bool = True
    again: bool = True
    """Count once more soon: what is carried on from a count that was made in a burst is wrong by what the counters
    had not seen yet."""


class Slow(Apart):
    """Runs the slow readings in a thread of its own; the poll takes what is there and never waits for it."""

    NAME = "qmon-slow"

    def __init__(
        self, engine: Engine, connect: Callable[[Session], Connection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(engine, connect, clock)
        self._queues: dict[str, Spec] = {}
        self._tasks: dict[tuple[str, str], _Task] = {}
        self._anchors: dict[str, AnchorSample] = {}
        self._heads: dict[str, tuple[bool, str | None]] = {}
        self._failures: dict[tuple[str, str], ProbeFailure] = {}
        self.spent_s = 0.0
        """Seconds of server time that counts have taken so far, as seen from here."""
        self._fragments = Fragments(engine)
        self.own = OwnUses()
        """What these readings have read of the tables."""
        self.counts = 0
        """Exact counts made so far."""

    def use(self, specs: Sequence[Spec]) -> None:
        """Read these queues from now on."""
        with self._lock:
            self._queues = {spec.layout.queue: spec for spec in specs}
            self._anchors = {name: a for name, a in self._anchors.items() if name in self._queues}
            self._failures = {key: f for key, f in self._failures.items() if key[0] in self._queues}
            self._tasks = {
                (name, kind): self._tasks.get((name, kind), _Task(name, kind, wanted=kind == "head"))
                for name in self._queues
                for kind in ("head", "count")
            } | self._of_fragments()
        self._wake.set()

    def _of_fragments(self) -> dict[tuple[str, str], _Task]:
        self._fragments.keep(frozenset(self._queues))
        first = self._clock() + FIRST_S
        kept = [(name, "fragments") for name in self._queues if self._fragments.able]
        return {key: self._tasks.get(key, _Task(*key, due_at=first, again=False)) for key in kept}

    def fragments(self) -> tuple[Fragmentation, ...]:
        """How far the indexes of the queues are fragmented, where the server tells."""
        return self._fragments.known()

    def want(self, needs: Mapping[str, bool]) -> None:
        """Say which queues need an exact count."""
        with self._lock:
            for queue, needed in needs.items():
                if (task := self._tasks.get((queue, "count"))) is not None:
                    if needed and not task.wanted:
                        task.again = True
                        self._wake.set()
                    task.wanted = needed

    def count_exactly(self, queue: str) -> None:
        """Count this queue as soon as the count under way has ended, whatever it costs."""
        with self._lock:
            task = self._tasks.get((queue, "count"))
            if task is not None:
                task.wanted, task.again, task.due_at = True, True, 0.0
        self._wake.set()

    def look_anew(self, queue: str) -> None:
        """Look for this queue's head from its first row on, as soon as the reading under way has ended."""
        with self._lock:
            task = self._tasks.get((queue, "head"))
            if task is not None:
                task.due_at = 0.0
        self._wake.set()

    def anchor(self, queue: str) -> AnchorSample | None:
        """The newest exact count of a queue."""
        with self._lock:
            return self._anchors.get(queue)

    def failures(self) -> tuple[ProbeFailure, ...]:
        """What the slow readings could not do."""
        with self._lock:
            return tuple(self._failures.values())

    def apply(self, memos: Mapping[str, Memo]) -> None:
        """Hand the polls what the full looks for the head found: where one was dear, they seek from a known id."""
        with self._lock:
            heads, self._heads = self._heads, {}
        for queue, (dear, head_id) in heads.items():
            memo = memos.get(queue)
            if memo is not None:
                memo.bounded = dear
                if dear and head_id is not None:
                    memo.found_below(head_id)

    def _run(self) -> None:
        while not self._closed:
            task = self._next()
            if task is None:
                self._wake.wait(_IDLE_S)
                self._wake.clear()
                continue
            try:
                connection = self._connection or self._open()
                self._do(connection, task)
            except ConnectionLost:
                self._drop()
                self._wake.wait(_BACK_OFF_S)
            except QmonError as problem:
                self._fail(task, problem)
                if self._connection is None:
                    self._wake.wait(_BACK_OFF_S)
            except Exception as problem:  # a defect of ours is told like any other reason, and the others go on
                self._fail(
                    task, QmonError(f"qmon itself failed, please report it: {type(problem).__name__}: {problem}")
                )
        self._drop()

    def _open(self) -> Connection:
        session = Session(purpose="count", statement_timeout_s=_DEADLINE_S, lock_timeout_s=1.0, read_only=True)
        self._connection = self._connect(session)
        return self._connection

    def _next(self) -> _Task | None:
        now = self._clock()
        with self._lock:
            due = [t for t in self._tasks.values() if t.wanted and t.due_at <= now]
        return min(due, key=lambda t: t.due_at, default=None)

    def _do(self, connection: Connection, task: _Task) -> None:
        with self._lock:
            found = self._queues.get(task.queue)
            if found is None:
                return
            task.due_at = _UNDER_WAY
        started = self._clock()
        try:
            if task.kind == "head":
                self._look(connection, found, task)
            elif task.kind == "fragments":
                self._fragments.read(connection, Book(self._engine, connection.version), found)
            else:
                self._count(connection, found)
        finally:
            took = self._clock() - started
            with self._lock:
                if task.due_at == _UNDER_WAY:
                    every = {"head": _HEAD_EVERY_S, "fragments": EVERY_S}.get(
                        task.kind, _SETTLED_S if task.again else _COUNT_EVERY_S
                    )
                    task.again = False
                    task.due_at = self._clock() + max(every, took * _COST_FACTOR)
        with self._lock:
            self._failures.pop((task.queue, task.kind), None)

    def _look(self, connection: Connection, found: Spec, task: _Task) -> None:
        book = Book(self._engine, connection.version)
        probe = QueueProbes(book, found.layout, found.facts).head_probe
        # A walk of the poll is cut short; here it goes to the end, with the statement that leads to ready rows.
        probe = "head_state" if probe == "head_walk" else probe
        if probe not in ("head", "head_state"):
            task.wanted = False
            return
        names, values = names_of(found.layout, found.facts), state_values(found.layout)
        job = book.job(probe, HeadSample, {**values, "head": None, "limit": 1}, names)
        trip = self._timed(connection, book.job("clock", ClockSample).bound)
        tables = (found.facts.table_id, found.facts.data_table_id)
        # Hands in what there was, so that what follows is still there to be counted at the end.
        self.own.fetch(connection, book, book.job("clock", ClockSample).bound, tables)
        took = self._timed(connection, job.bound)
        head = records(HeadSample, self.own.fetch(connection, book, job.bound, tables))[0]
        dear = found.facts.walk_seek or took - trip > _DEAR_HEAD_S
        with self._lock:
            self._heads[task.queue] = (dear, head.head_id)

    def _timed(self, connection: Connection, bound: Bound) -> float:
        """Seconds a statement takes, the best of three: what is left is the statement and the way to the server."""
        best = float("inf")
        for _ in range(3):
            started = self._clock()
            connection.fetch(bound)
            best = min(best, self._clock() - started)
        return best

    def _count(self, connection: Connection, found: Spec) -> None:
        book = Book(self._engine, connection.version)
        probe = "anchor_state" if found.layout.state is not None else "anchor"
        if found.layout.ring is not None or not book.has(probe):
            raise QueryFailed("a ring's depth is exact as it is; there is nothing to count", query=f"probe/{probe}")
        job = book.job(probe, AnchorSample, state_values(found.layout), names_of(found.layout, found.facts))
        started = self._clock()
        tables = (found.facts.table_id, found.facts.data_table_id)
        sample = records(AnchorSample, self.own.fetch(connection, book, job.bound, tables))[0]
        self.spent_s += self._clock() - started
        self.counts += 1
        with self._lock:
            self._anchors[found.layout.queue] = sample

    def _fail(self, task: _Task, problem: QmonError) -> None:
        task.due_at = self._clock() + _COUNT_EVERY_S
        with self._lock:
            failure = ProbeFailure(f"exact {task.kind}", str(problem), task.queue)
            if task.kind == "fragments":
                grant = problem.grant if isinstance(problem, PermissionMissing) else ""
                failure = replace(failure, probe="fragmentation", grant=grant)
            self._failures[task.queue, task.kind] = failure
