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
from dataclasses import dataclass
from typing import Final

from qmon import log
from qmon.engines.base import Connection, Engine, Session
from qmon.errors import ConnectionLost, QmonError
from qmon.model import statement_use
from qmon.model.cost_budget import Budget, ProbeKey
from qmon.model.samples.deadlock_samples import Circle
from qmon.model.samples.usage_samples import Fragmentation
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.background import blocked_reports, fragmentation_reader, job_reader, slow_tasks
from qmon.monitor.background.background_reader import BackgroundReader
from qmon.monitor.background.catalog_reading import CatalogReading
from qmon.monitor.background.fragmentation_reader import FIRST_S, FragmentationReader
from qmon.monitor.background.plan_reader import PlanReader
from qmon.monitor.background.scan_counts import CounterVersion, CountState, ScanCounts
from qmon.monitor.background.slow_tasks import CatalogTask, CountTask, HeadTask, ReaderTask, Reading, SlowTask
from qmon.monitor.probes import deadlock_reports
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec

_IDLE_S: Final = 1.0
_DEADLOCKS: Final = "deadlock_graphs"


@dataclass(frozen=True, slots=True)
class _QueueTasks:
    """The slow reads of one queue. ``rare``: the reads that run rarely."""

    head: HeadTask
    count: CountTask
    rare: tuple[ReaderTask, ...]


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
        self._queue_tasks: dict[str, _QueueTasks] = {}
        # Tasks of the whole target, keyed by probe.
        self._target_tasks: dict[str, SlowTask] = {}
        # All of these tasks.
        self._tasks: tuple[SlowTask, ...] = ()
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
            self._fragmentation_reader.retain_only(frozenset(self._queues))
            self.plan_reader.retain_only(frozenset(self._queues))
            self._queue_tasks = {
                name: self._queue_tasks.get(name) or self._make_queue_tasks(name) for name in self._queues
            }
            self._target_tasks = self._target_tasks or self._make_target_tasks()
            if (catalog := self._target_tasks.get("catalog")) is not None:
                catalog.failure = None  # these queues come from a newer reading
            self._list_tasks()
        tables = {table for spec in specs for table in spec.facts.tables}
        self.own_uses.retain_only(tables | self.scan_counts.parts)
        self._wake.set()

    def _make_queue_tasks(self, queue: str) -> _QueueTasks:
        def read_fragmentation(reading: Reading) -> float:
            self._fragmentation_reader.read_next_index(reading.connection, reading.statements, reading.specs[queue])
            return fragmentation_reader.EVERY_S

        def read_plans(reading: Reading) -> float:
            self.plan_reader.read_plans(reading.connection, reading.statements, reading.specs[queue])
            return statement_use.reading_interval_s(len(reading.specs))

        first_at, rare = self._clock() + FIRST_S, list[ReaderTask]()
        if self._fragmentation_reader.is_supported:
            rare.append(ReaderTask("fragmentation", read_fragmentation, queue, first_at))
        if self.plan_reader.is_supported:
            rare.append(ReaderTask("plans", read_plans, queue, first_at))
        return _QueueTasks(HeadTask(queue, self.own_uses), CountTask(queue, self.scan_counts), tuple(rare))

    def _make_target_tasks(self) -> dict[str, SlowTask]:
        def read_deadlocks(reading: Reading) -> float:
            self._deadlock_reports.read_new_reports(reading.connection, reading.statements)
            return deadlock_reports.EVERY_S

        def read_jobs(reading: Reading) -> float:
            self.job_reader.read_jobs(reading.connection, reading.statements, tuple(reading.specs.values()))
            return job_reader.EVERY_S

        def read_blocked(reading: Reading) -> float:
            self.blocked_reports.read_new_reports(reading.connection, reading.statements)
            return blocked_reports.EVERY_S

        tasks: list[SlowTask] = [] if self._catalog is None else [CatalogTask(self._catalog)]
        if self._deadlock_reports.is_supported:
            tasks.append(ReaderTask(_DEADLOCKS, read_deadlocks))
            tasks[-1].is_wanted = False
        first_at = self._clock() + FIRST_S
        if self.job_reader.is_supported and self.blocked_reports.is_supported:
            tasks.append(ReaderTask("jobs", read_jobs, due_at=first_at))
            tasks.append(ReaderTask("blocked_reports", read_blocked, due_at=first_at))
        return {task.probe: task for task in tasks}

    def _list_tasks(self) -> None:
        of_queues = (task for each in self._queue_tasks.values() for task in (each.head, each.count, *each.rare))
        self._tasks = (*of_queues, *self._target_tasks.values())

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
            task = self._target_tasks.get(_DEADLOCKS)
            if task is not None:
                wanted = self._deadlock_reports.may_have_unread(now)
                if wanted and not task.is_wanted:
                    self._wake.set()
                task.is_wanted = wanted
        return found

    def record_needs(self, needs: Mapping[str, bool], versions: Mapping[str, CounterVersion | None], at: float) -> None:
        """Record which queues need a count, and the counter values of their tables at ``at`` (server clock)."""
        with self._lock:
            for queue, needed in needs.items():
                if (tasks := self._queue_tasks.get(queue)) is None:
                    continue
                task = tasks.count
                if needed and not task.is_wanted:
                    task.again = True
                    self._wake.set()
                task.is_wanted = needed
                if not needed:
                    task.failure = None
                if self.scan_counts.still_holds(queue, versions.get(queue), at) and not task.again:
                    task.due_at = max(task.due_at, self._clock() + slow_tasks.SETTLED_S)

    def request_catalog(self) -> bool:
        """Request a catalog reading after the running read; return false if there is no connection for the reading."""
        if self._catalog is None or self._is_refused:
            return False
        self._catalog.request_reading()
        self._wake.set()
        return True

    def count_exactly(self, queue: str) -> None:
        """Count this queue after the running count has ended, even if the count is expensive."""
        with self._lock:
            if (tasks := self._queue_tasks.get(queue)) is not None:
                tasks.count.is_wanted = True
                tasks.count.request()
        self._wake.set()

    def count_again(self, queue: str) -> None:
        """Count this queue again after the running count has ended, if its figures come from a count."""
        with self._lock:
            if (tasks := self._queue_tasks.get(queue)) is not None and tasks.count.is_wanted:
                tasks.count.request()
        self._wake.set()

    def find_head_again(self, queue: str) -> None:
        """Search for this queue's head from the first row, after the running read has ended."""
        with self._lock:
            if (tasks := self._queue_tasks.get(queue)) is not None:
                tasks.head.request()
        self._wake.set()

    def forget_queue(self, queue: str) -> None:
        """Discard everything read for this queue, including the running read, because its table has been replaced."""
        with self._lock:
            self.scan_counts.forget_queue(queue)
            if queue in self._queue_tasks:
                # The result of a running read stays in the discarded task, so no poll finds it.
                self._queue_tasks[queue] = self._make_queue_tasks(queue)
                self._list_tasks()
        self._wake.set()

    def count_state_for(self, queue: str) -> CountState:
        """Return the state of the count of a queue's table."""
        return self.scan_counts.count_state_for(queue)

    def failures(self) -> tuple[ProbeFailure, ...]:
        """Return the reads that failed."""
        with self._lock:
            return tuple(task.failure for task in self._tasks if task.failure is not None)

    def apply_heads(self, queues: Mapping[str, QueueProbes], cost_s: Callable[[ProbeKey], float]) -> None:
        """Pass the results of full head searches to the polls.

        If a full search was expensive, the polls search from a known id. If a poll's own search is expensive, a full
        search runs here soon. ``cost_s``: returns the seconds that a probe costs a poll.
        """
        with self._lock:
            for name, probes in queues.items():
                if (tasks := self._queue_tasks.get(name)) is None:
                    continue
                head, memo = tasks.head, probes.memo
                is_cheap = memo.bounded or cost_s((name, probes.head_probe_name or "")) <= slow_tasks.EXPENSIVE_HEAD_S
                if not is_cheap and head.due_at != math.inf:  # a running search is not repeated for this
                    head.due_at = min(head.due_at, head.began_at + slow_tasks.HEAD_EVERY_S)
                if head.found:
                    memo.bounded, head_id = head.found.pop()
                    if memo.bounded and head_id is not None:
                        memo.record_found_head(head_id)

    def _run(self) -> None:
        while not self._closed:
            if self._release_requested:
                self._drop_connection()
            wait_s = self._run_next_task()
            if wait_s > 0.0:
                self._wake.wait(wait_s)
                self._wake.clear()
        self._drop_connection()

    def _run_next_task(self) -> float:
        """Run the task that has been due for the longest time. If no task is due, return the seconds to wait."""
        now = self._clock()
        with self._lock:
            wanted = [task for task in self._tasks if task.is_wanted]
            begun = [(task.wait_s(now), task.due_at, task) for task in wanted if task.due_at <= now]
            next_at = min((task.due_at for task in wanted if task.due_at > now), default=math.inf)
        wait_s, _, task = min(begun, key=lambda each: each[:2], default=(math.inf, 0.0, None))
        if task is None or wait_s > 0.0:
            return max(0.001, min(wait_s, next_at - now, _IDLE_S))
        self._run_task(task)
        return 0.0

    def _run_task(self, task: SlowTask) -> None:
        """Run a task, and decide when it is due again."""
        problem: QmonError | None = None
        rest_s, took_s, is_lost = 0.0, 0.0, False
        with self._lock:
            task.begin(self._clock())
            specs = self._queues
        if task.queue and task.queue not in specs:
            return
        try:
            connection = self._connection or self._open_connection()
            reading = Reading(connection, StatementCache(self._engine, connection.version), specs, self.instances)
            began = self._clock()
            try:
                rest_s = task.run(reading)
            finally:
                took_s = self._clock() - began
        except ConnectionLost as lost:
            is_lost = True
            self._log.info("lost: %s", lost)
            self._drop_connection()
        except QmonError as found:
            problem = found
        except Exception as defect:  # a bug in qmon is reported like any other reason, and the other tasks go on
            problem = QmonError(log.report_defect(defect))
        rest_s = max(rest_s, took_s * task.COST_FACTOR * self.instances)
        with self._lock:
            if problem is not None:
                rest_s = task.retry_s(problem, self.instances)
                if not (self._is_refused and isinstance(task, CatalogTask)):  # if refused, the polls read the catalog
                    task.record_failure(problem)
            elif not is_lost:
                task.failure = None
            task.end(self._clock(), rest_s)
        if self._connection is None:
            self._back_off(problem)

    def _open_connection(self) -> Connection:
        session = Session(
            purpose="count", statement_timeout_s=slow_tasks.DEADLINE_S, lock_timeout_s=1.0, read_only=True
        )
        try:
            self._connection = self._connect(session)
        except QmonError:
            self._is_refused = True
            raise
        self._is_refused = False
        return self._connection


def _has_same_rows(before: QueueSpec | None, now: QueueSpec) -> bool:
    """Return whether a count of the earlier table is still valid for the current table."""
    return before is not None and before.layout == now.layout and before.facts.table_id == now.facts.table_id
