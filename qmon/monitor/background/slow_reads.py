"""Run slow reads on their own connection: table counts, full head searches, catalog, jobs, plans, deadlocks.

A read that consists of one statement cannot be split. qmon measures the duration of such a read, and repeats the read
after 200 times that duration (half a percent of one processor). The minimum pause is usually 60 seconds, or 10 seconds
for an expensive head search. A scan by ranges pauses after each range. If n qmon instances poll the database, each
pause is n times as long.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon import log
from qmon.engines.base import Connection, Engine, Session
from qmon.engines.result_records import to_records
from qmon.errors import ConnectionLost, DeadlineExceeded, LockTimeout, PermissionMissing, QmonError
from qmon.model import statement_use
from qmon.model.cost_budget import Budget, ProbeKey
from qmon.model.samples.deadlock_samples import Circle
from qmon.model.samples.polled_samples import ClockSample, HeadSample
from qmon.model.samples.usage_samples import Fragmentation
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.background import blocked_reports, job_reader
from qmon.monitor.background.background_reader import BackgroundReader
from qmon.monitor.background.catalog_reading import CatalogReading
from qmon.monitor.background.fragmentation_reader import EVERY_S, FIRST_S, FragmentationReader
from qmon.monitor.background.plan_reader import PlanReader
from qmon.monitor.background.scan_counts import COST_FACTOR, CounterVersion, CountState, ScanCounts
from qmon.monitor.probes import deadlock_reports
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_names import probe_names_for, state_values_for
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec

_HEAD_EVERY_S: Final = 10.0

# Seconds between cheap full searches for the head of a queue. The polls also search for the head. When the search of
# the polls becomes expensive, the next full search runs sooner.
_CHEAP_HEAD_EVERY_S: Final = 60.0

# With many queues, a cheap head search of one queue is repeated after this many seconds times the number of queues.
_HEAD_REST_S: Final = 0.2
_TRIES: Final = 3
_RETRY_S: Final = 60.0

# Seconds until the next try after a lock timeout. A failed try waits a second for the lock and reads nothing.
_LOCK_RETRY_S: Final = 5.0

# Seconds until the server's counters include a commit. PostgreSQL needs one second.
_SETTLED_S: Final = 2.5
_EXPENSIVE_HEAD_S: Final = 0.001
_DEADLINE_S: Final = 30.0
_IDLE_S: Final = 1.0
_GRAPHS: Final = ("", "graphs")
_CATALOG: Final = ("", "catalog")

# Tasks that concern the whole target, not one queue.
_TARGET_TASKS: Final = (("", "jobs"), ("", "blocked"))

# Probe names used in failures of some kinds of tasks.
_PROBES: Final = {
    "plans": "plans",
    "jobs": "jobs",
    "blocked": "blocked_reports",
    "fragments": "fragmentation",
    "graphs": "deadlock_graphs",
    "catalog": "catalog",
}

# Due time of a running task. If the due time is changed while the task runs, the new due time is kept.
_RUNNING: Final = float("inf")


@dataclass(slots=True)
class _Task:
    """One slow read: its queue, its kind, and when it is due on our monotonic clock."""

    queue: str
    kind: str
    due_at: float = 0.0
    wanted: bool = True
    # Minimum seconds until the read is repeated.
    rest_s: float = 0.0
    begun_at: float = float("-inf")
    # True if the table must be counted again soon. A count taken during a burst is wrong by the changes that the
    # counters had not reported yet.
    again: bool = True


class SlowReads(BackgroundReader):
    """Run the slow reads in a separate thread. The poll uses finished results and never waits for a read."""

    NAME = "qmon-slow"

    def __init__(
        self,
        engine: Engine,
        connect: Callable[[Session], Connection],
        clock: Callable[[], float] = time.monotonic,
        budget: Budget | None = None,
        within_s: float | None = None,
        catalog: CatalogReading | None = None,
    ) -> None:
        """Create the reader without starting it.

        ``within_s``: seconds until the reader will be closed; counts that take longer are not started. ``catalog``: the
        catalog to read again on request.
        """
        super().__init__(engine, connect, clock)
        self._queues: dict[str, QueueSpec] = {}
        self._tasks: dict[tuple[str, str], _Task] = {}
        self._heads: dict[str, tuple[bool, str | None]] = {}
        self._failures: dict[tuple[str, str], ProbeFailure] = {}
        # How often each queue was forgotten. If a queue is forgotten during a read, the result of the read is
        # discarded.
        self._forgotten: dict[str, int] = {}
        self._catalog = catalog
        # True if the last attempt to connect failed.
        self._is_refused = False
        self._fragmentation_reader = FragmentationReader(engine)
        # Reads the plans of the queues' statements.
        self.plan_reader = PlanReader(engine)
        # Reads the jobs of the server's scheduler.
        self.job_reader = job_reader.JobReader(engine)
        # Reports of blocked processes.
        self.blocked_reports = blocked_reports.BlockedReports(engine)
        self._deadlock_reports = deadlock_reports.DeadlockReports(engine)
        # The reads that this connection causes on the queues' tables.
        self.own_uses = OwnUses()
        # The counts of whole tables.
        self.scan_counts = ScanCounts(engine, self.own_uses, clock, budget or Budget(), within_s)

    def watch_queues(self, specs: Sequence[QueueSpec]) -> None:
        """Watch these queues from now on."""
        was = {name: spec.facts.table_id for name, spec in self._queues.items()}
        for spec in specs:
            if was.get(spec.layout.queue, spec.facts.table_id) != spec.facts.table_id:
                self.forget_queue(spec.layout.queue)
        with self._lock:
            known, self._queues = self._queues, {spec.layout.queue: spec for spec in specs}
            self.scan_counts.retain_only(
                [name for name, spec in self._queues.items() if _has_same_rows(known.get(name), spec)]
            )
            self._failures = {key: f for key, f in self._failures.items() if not key[0] or key[0] in self._queues}
            self._forgotten = {name: times for name, times in self._forgotten.items() if name in self._queues}
            self._heads = {name: head for name, head in self._heads.items() if name in self._queues}
            of_all = {key: task for key, task in self._tasks.items() if not key[0]}
            self._tasks = {
                (name, kind): self._tasks.get((name, kind), _Task(name, kind, wanted=kind == "head"))
                for name in self._queues
                for kind in ("head", "count")
            } | self._rare_tasks()
            for key in (_CATALOG, _GRAPHS) if self._deadlock_reports.is_supported else (_CATALOG,):
                self._tasks[key] = of_all.get(key) or _Task(*key, wanted=False, again=False)
            for key in _TARGET_TASKS if self.job_reader.is_supported and self.blocked_reports.is_supported else ():
                first = self._clock() + FIRST_S
                self._tasks[key] = of_all.get(key) or _Task(*key, due_at=first, again=False)
        tables = {table for spec in specs for table in spec.facts.tables}
        self.own_uses.retain_only(tables | self.scan_counts.parts)
        self._wake.set()

    def _rare_tasks(self) -> dict[tuple[str, str], _Task]:
        """Return the tasks of each queue that run rarely. New tasks first run after ``FIRST_S`` seconds."""
        self._fragmentation_reader.retain_only(frozenset(self._queues))
        self.plan_reader.retain_only(frozenset(self._queues))
        kinds = {"fragments": self._fragmentation_reader.is_supported, "plans": self.plan_reader.is_supported}
        first = self._clock() + FIRST_S
        keys = [(name, kind) for kind, able in kinds.items() if able for name in self._queues]
        return {key: self._tasks.get(key, _Task(*key, due_at=first, again=False)) for key in keys}

    def latest_fragmentation(self) -> tuple[Fragmentation, ...]:
        """Return the fragmentation of the queues' indexes; empty if the server does not report it."""
        return self._fragmentation_reader.latest_fragmentation()

    def record_deadlocks(self, count: int | None, now_at: float) -> tuple[Circle, ...]:
        """Record the server's deadlock count; return the deadlocks reported since the last call.

        ``now_at``: the time of the server's count, by its clock, seconds.
        """
        now = self._clock()
        found = self._deadlock_reports.record_count(count, now, now_at)
        with self._lock:
            task = self._tasks.get(_GRAPHS)
            if task is not None:
                wanted = self._deadlock_reports.may_have_unread(now)
                if wanted and not task.wanted:
                    self._wake.set()
                task.wanted = wanted
        return found

    def record_needs(self, needs: Mapping[str, bool], versions: Mapping[str, CounterVersion | None], at: float) -> None:
        """Record which queues need a count, and the counter values of their tables at ``at`` (server clock)."""
        with self._lock:
            for queue, needed in needs.items():
                if (task := self._tasks.get((queue, "count"))) is None:
                    continue
                if needed and not task.wanted:
                    task.again = True
                    self._wake.set()
                task.wanted = needed
                if not needed:
                    self._failures.pop((queue, "count"), None)
                if self.scan_counts.still_holds(queue, versions.get(queue), at) and not task.again:
                    task.due_at = max(task.due_at, self._clock() + _SETTLED_S)

    def request_catalog(self) -> bool:
        """Request a catalog reading after the running read; return false if there is no connection for the reading."""
        if self._catalog is None or self._is_refused:
            return False
        self._catalog.request_reading()
        with self._lock:
            task = self._tasks[_CATALOG]
            if not task.wanted:
                task.wanted, task.due_at = True, 0.0
                self._wake.set()
        return True

    def count_exactly(self, queue: str) -> None:
        """Count this queue after the running count has ended, even if the count is expensive."""
        with self._lock:
            task = self._tasks.get((queue, "count"))
            if task is not None:
                task.wanted, task.again, task.due_at = True, True, 0.0
        self._wake.set()

    def count_again(self, queue: str) -> None:
        """Count this queue again after the running count has ended, if its figures come from a count."""
        with self._lock:
            task = self._tasks.get((queue, "count"))
            if task is not None and task.wanted:
                task.again, task.due_at = True, 0.0
        self._wake.set()

    def find_head_again(self, queue: str) -> None:
        """Search for this queue's head from the first row, after the running read has ended."""
        with self._lock:
            task = self._tasks.get((queue, "head"))
            if task is not None:
                task.due_at = 0.0
        self._wake.set()

    def forget_queue(self, queue: str) -> None:
        """Discard everything read for this queue, including the running read, because its table has been replaced."""
        with self._lock:
            self._forgotten[queue] = self._forgotten.get(queue, 0) + 1
            self.scan_counts.forget_queue(queue)
            self._heads.pop(queue, None)
            for (name, _), task in self._tasks.items():
                if name == queue:
                    task.due_at, task.again = 0.0, True
        self._wake.set()

    def count_state_for(self, queue: str) -> CountState:
        """Return the state of the count of a queue's table."""
        return self.scan_counts.count_state_for(queue)

    def failures(self) -> tuple[ProbeFailure, ...]:
        """Return the reads that failed."""
        with self._lock:
            return tuple(self._failures.values())

    def apply_heads(self, queues: Mapping[str, QueueProbes], cost_s: Callable[[ProbeKey], float]) -> None:
        """Pass the results of full head searches to the polls.

        If a full search was expensive, the polls search from a known id. If a poll's own search is expensive, a full
        search runs here soon. ``cost_s``: returns the seconds that a probe costs a poll.
        """
        with self._lock:
            heads, self._heads = self._heads, {}
            for name, probes in queues.items():
                if probes.memo.bounded or cost_s((name, probes.head_probe or "")) <= _EXPENSIVE_HEAD_S:
                    continue
                task = self._tasks.get((name, "head"))
                if task is not None and task.due_at != _RUNNING:
                    task.due_at = min(task.due_at, task.begun_at + _HEAD_EVERY_S)
        for queue, (dear, head_id) in heads.items():
            if queue in queues:
                memo = queues[queue].memo
                memo.bounded = dear
                if dear and head_id is not None:
                    memo.record_found_head(head_id)

    def _run(self) -> None:
        while not self._closed:
            if self._release_requested:
                self._drop_connection()
            task = self._next_task()
            if task is None:
                self._wake.wait(self._idle_s())
                self._wake.clear()
                continue
            try:
                connection = self._connection or self._open_connection()
                self._run_task(connection, task)
            except ConnectionLost as problem:
                self._log.info("lost: %s", problem)
                self._drop_connection()
                self._back_off()
            except QmonError as problem:
                self._record_failure(task, problem)
                if self._connection is None:
                    self._back_off(problem)
            except Exception as problem:  # a bug in qmon is reported like any other reason, and the other tasks go on
                self._record_failure(task, QmonError(log.report_defect(problem)))
        self._drop_connection()

    def _open_connection(self) -> Connection:
        session = Session(purpose="count", statement_timeout_s=_DEADLINE_S, lock_timeout_s=1.0, read_only=True)
        try:
            self._connection = self._connect(session)
        except QmonError:
            self._is_refused = True
            raise
        self._is_refused = False
        return self._connection

    def _next_task(self) -> _Task | None:
        now, rests = self._clock(), self.scan_counts.rest_seconds() > 0
        with self._lock:
            due = [t for t in self._tasks.values() if t.wanted and t.due_at <= now]
        return min((t for t in due if not (rests and t.kind == "count")), key=lambda t: t.due_at, default=None)

    def _idle_s(self) -> float:
        """Return the seconds until a task may be due, at least a millisecond."""
        now, rests_s = self._clock(), self.scan_counts.rest_seconds()
        with self._lock:
            due = [max(t.due_at - now, rests_s if t.kind == "count" else 0.0) for t in self._tasks.values() if t.wanted]
        return max(0.001, min([*due, _IDLE_S]))

    def _run_task(self, connection: Connection, task: _Task) -> None:
        with self._lock:
            found = self._queues.get(task.queue)
            if found is None and task.queue:
                return
            task.due_at, task.begun_at = _RUNNING, self._clock()
            begun = self._forgotten.get(task.queue, 0)
        started = self._clock()
        every = {
            "head": 0.0,
            "fragments": EVERY_S,
            "graphs": deadlock_reports.EVERY_S,
            "jobs": job_reader.EVERY_S,
            "blocked": blocked_reports.EVERY_S,
            "plans": statement_use.reading_interval_s(len(self._queues)),
        }.get(task.kind, _SETTLED_S)
        given_up = counted = False
        try:
            if task.kind == "catalog" and self._catalog is not None:
                self._catalog.read_if_requested(connection)
                task.wanted = False
            elif found is None:
                self._read_target_task(connection, task.kind)
            elif task.kind == "head":
                self._find_head(connection, found, task, begun)
            elif task.kind in ("fragments", "plans"):
                reader = self._fragmentation_reader if task.kind == "fragments" else self.plan_reader
                reader.read(connection, StatementCache(self._engine, connection.version), found)
            else:
                step = self.scan_counts.count_next_range(connection, found, self.instances)
                given_up, counted, every = step is None, step is not None and step.done, step.rest_s if step else every
        finally:
            took = self._clock() - started
            every = max(every, task.rest_s)
            with self._lock:
                if task.due_at == _RUNNING and not given_up:
                    dear = task.kind not in ("count", "catalog")
                    rest = max(every, took * COST_FACTOR * self.instances) if dear else every
                    task.due_at = self._clock() + (_SETTLED_S if counted and task.again else rest)
                    task.again = task.again and not counted
        with self._lock:
            self._failures.pop((task.queue, task.kind), None)

    def _read_target_task(self, connection: Connection, kind: str) -> None:
        """Run a task that concerns the whole target, not one queue."""
        statements = StatementCache(self._engine, connection.version)
        if kind == "jobs":
            self.job_reader.read(connection, statements, tuple(self._queues.values()))
        else:
            (self.blocked_reports if kind == "blocked" else self._deadlock_reports).read(connection, statements)

    def _find_head(self, connection: Connection, found: QueueSpec, task: _Task, begun: int) -> None:
        statements = StatementCache(self._engine, connection.version)
        probe = QueueProbes(statements, found).head_probe
        names, values = probe_names_for(found.layout, found.facts), state_values_for(found.layout)
        if probe == "head_walk":
            # The poll's search stops after a limited number of rows. This search continues to the first ready row.
            probe, names["head_index"] = "head_state", names["walk_index"]
        if probe not in ("head", "head_state"):
            task.wanted = False
            return
        statement = statements.statement_for(probe, HeadSample, {**values, "head": None, "limit": 1}, names)
        clock = statements.statement_for_target("clock")
        batch, took, head = [clock.bound, statement.bound, clock.bound], math.inf, None
        for _ in range(_TRIES):  # the minimum of several tries is the cost of the statement itself
            began, rows, ended = self.own_uses.fetch_counted(connection, statements, batch, found.facts.tables)
            seconds = to_records(ClockSample, ended)[0].now_at - to_records(ClockSample, began)[0].now_at
            took, head = min(took, seconds), to_records(HeadSample, rows)[0].head_id
            if took <= _EXPENSIVE_HEAD_S:
                break
        dear = "walk" in found.facts.indexes or took > _EXPENSIVE_HEAD_S
        task.rest_s = _HEAD_EVERY_S if dear else max(_CHEAP_HEAD_EVERY_S, _HEAD_REST_S * len(self._queues))
        with self._lock:
            if self._forgotten.get(task.queue, 0) == begun:
                self._heads[task.queue] = (dear, head)

    def _record_failure(self, task: _Task, problem: QmonError) -> None:
        again = _RETRY_S
        if isinstance(problem, LockTimeout):
            again = _LOCK_RETRY_S
        elif isinstance(problem, DeadlineExceeded) and task.kind != "catalog":
            again = _DEADLINE_S * COST_FACTOR * self.instances
        task.due_at = self._clock() + again
        if task.kind == "count":
            self.scan_counts.record_failure(task.queue, str(problem))
        if task.kind == "catalog" and self._is_refused:
            return  # the polls then read the catalog
        with self._lock:
            failure = ProbeFailure(f"exact {task.kind}", str(problem), task.queue)
            if task.kind in _PROBES:
                failure = replace(failure, probe=_PROBES[task.kind])
                if isinstance(problem, PermissionMissing):
                    failure = replace(failure, reason=problem.reason, grant=problem.grant)
            self._failures[task.queue, task.kind] = failure


def _has_same_rows(before: QueueSpec | None, now: QueueSpec) -> bool:
    """Return whether a count of the earlier table is still valid for the current table."""
    return before is not None and before.layout == now.layout and before.facts.table_id == now.facts.table_id
