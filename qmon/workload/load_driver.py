"""A load: runs worker processes on queues, starts and ends faults, and samples the committed counts."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, Self

from qmon.engines import registry
from qmon.engines.base import Target
from qmon.errors import BadInput
from qmon.texts import Text
from qmon.workload.committed_counts import COUNTED_FIELDS, CommittedCounts, Totals
from qmon.workload.counter_slots import CounterField, CounterSlots
from qmon.workload.load_plan import PlannedFault, QueueLoad, processes_for, slots_needed
from qmon.workload.member_thread import connect_as
from qmon.workload.spec import MemberRole, WorkerSpec
from qmon.workload.worker_process import Crew, WorkerProcess
from qmon.workload.workload_statements import WorkloadStatements


class LoadText(Text):
    """Why a load cannot run."""

    ONE_LOAD = "each queue can have only one load"
    NO_LOAD = "the queue {queue!r} has no load; queues with a load: {queues}"


SAMPLE_S: Final = 0.1
CONNECTIONS_PER_PROCESS: Final = 8
_RESTART_S: Final = 1.0
_TOTAL_FIELDS: Final = tuple(CounterField[name.upper()] for name in COUNTED_FIELDS)


class Load:
    """Drive installed queues of one target until it is stopped. Its methods are thread-safe.

    The workers end when the load is stopped or this process ends, even if it is killed.
    """

    def __init__(
        self,
        target: Target,
        loads: Sequence[QueueLoad],
        faults: Sequence[PlannedFault] = (),
        *,
        connections: int = CONNECTIONS_PER_PROCESS,
    ) -> None:
        """``connections``: maximum number per worker process. Raises ``BadInput`` if the load is not possible."""
        for load in loads:
            load.check_possible()
        self._loads = {load.layout.queue: load for load in loads}
        if len(self._loads) != len(loads):
            raise BadInput(LoadText.ONE_LOAD)
        for fault in faults:
            self._check_fault(fault)
        self._target = target
        self._faults = tuple(faults)
        self._slots = CounterSlots(slots_needed(loads))
        layouts = {load.layout.queue: load.layout for load in loads}
        self._crew = Crew(
            processes_for(target, loads, self._slots.number, self._slots.count, connections=connections),
            WorkerSpec(target, layouts),
        )
        self._queue_slots = _slots_by_queue(loads)
        self._readers: dict[str, _Subscribers] = {}
        self._counts = CommittedCounts({})
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._down_s: dict[str, float] = {}
        self._dead_since: dict[WorkerProcess, float] = {}
        self._guard = threading.RLock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def counts(self) -> CommittedCounts:
        """Counts of the messages that the load has committed, over time. They are also available after the end."""
        return self._counts

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the running worker processes."""
        return self._crew.pids

    def pids_of(self, queue: str, role: MemberRole) -> tuple[int, ...]:
        """Return the ids of the running worker processes of one role on one queue."""
        return self._crew.pids_of(queue, role)

    def connected_members(self, queue: str) -> int:
        """Return how many members of a queue are connected now."""
        with self._guard:
            if self._stopping.is_set():
                return 0
            return sum(self._slots.read_slot(slot)[CounterField.CONNECTED] for slot in self._queue_slots[queue])

    def start(self) -> None:
        """Count the existing messages, then start the workers.

        If connecting fails, raises ``QmonError`` and starts no worker.
        """
        self._counts = CommittedCounts(self._read_depths())
        self._record_sample()
        self._crew.start_workers()
        now = time.monotonic()
        for fault in self._faults:
            self._schedule(now + fault.at_s, fault)
        self._thread = threading.Thread(target=self._run_loop, name="qmon load", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End each worker after its current round, and take the last sample. A second call does nothing."""
        with self._guard:
            if self._stopping.is_set():
                return
            self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._crew.end_all()
        if self._thread is not None:
            self._record_sample()
        self._slots.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def change_members(self, queue: str, role: MemberRole, **changes: object) -> None:
        """Change fields of ``MemberSpec`` for the members of a queue. ``rate`` is for all members together."""
        load = self._loads[queue]
        number = {"producer": load.producers, "consumer": load.consumers, "keeper": 1}[role]
        if isinstance(rate := changes.get("rate"), int | float) and number:
            changes["rate"] = rate / number
        with self._guard:
            self._crew.change_members(queue, role, changes)

    def kill_members(self, queue: str, role: MemberRole) -> None:
        """Kill processes of a queue with SIGKILL. After a second, the processes are started again."""
        with self._guard:
            self._crew.kill_members(queue, role)

    def inject_fault(self, fault: PlannedFault) -> None:
        """Start a fault now. Its ``at_s`` and ``every_s`` are ignored. Raises ``BadInput`` if it is not possible."""
        self._check_fault(fault)
        self._start_fault(fault)

    def _check_fault(self, fault: PlannedFault) -> None:
        if fault.kind != "pin" and fault.queue not in self._loads:
            raise BadInput(LoadText.NO_LOAD.render(queue=fault.queue, queues=", ".join(self._loads)))

    def _schedule(self, at: float, fault: PlannedFault) -> None:
        def start_and_reschedule() -> None:
            self._start_fault(fault)
            if fault.every_s is not None:
                self._schedule(at + fault.every_s, fault)

        self._run_later(at, start_and_reschedule)

    def _run_later(self, at: float, action: Callable[[], None]) -> None:
        with self._guard:
            heapq.heappush(self._due, (at, next(self._numbers), action))

    def _start_fault(self, fault: PlannedFault) -> None:
        queue, end = fault.queue, time.monotonic() + fault.for_s
        words: dict[str, object] = {"application": fault.by, "seconds": fault.for_s}
        with self._guard:
            match fault.kind:
                case "crash":
                    self._down_s[queue] = fault.for_s
                    self._crew.crash_after_next_pop(queue)
                case "hold":
                    self._crew.cause_fault("hold", queue=queue, rows=max(1, round(fault.amount)), **words)
                case "pin":
                    self._crew.cause_fault("pin", **words)
                case "slow":
                    self._change_until(queue, "consumer", "work_s", self._loads[queue].work_s + fault.amount, end)
                case "rollbacks":
                    self._change_until(queue, "producer", "rollback_share", fault.amount, end)
                case "rate":
                    self._change_until(queue, "producer", "rate", fault.amount, end)
                case "no_consumers":
                    self._change_until(queue, "consumer", "rate", 0.0, end)

    def _change_until(self, queue: str, role: MemberRole, field: str, value: object, end: float) -> None:
        """Change a field of the members until ``end`` on our monotonic clock; then restore the load's value."""
        load = self._loads[queue]
        usual = load.pop_rate if (role, field) == ("consumer", "rate") else getattr(load, field)
        self.change_members(queue, role, **{field: value})
        self._run_later(end, lambda: self.change_members(queue, role, **{field: usual}))

    def _run_loop(self) -> None:
        while not self._stopping.wait(SAMPLE_S):
            self._record_sample()
            now = time.monotonic()
            with self._guard:
                while self._due and self._due[0][0] <= now:
                    heapq.heappop(self._due)[2]()
                for process in self._crew.dead_processes():
                    self._restart_process(process, now)

    def _restart_process(self, process: WorkerProcess, now: float) -> None:
        """Restart a dead process after a second, or later if a crash fault lasts longer."""
        queues = {member.queue for member in process.spec.members}
        down_s = max(_RESTART_S, *(self._down_s.get(queue, 0.0) for queue in queues))
        if now >= self._dead_since.setdefault(process, now) + down_s:
            process.start()
            del self._dead_since[process]
            for queue in queues:
                self._down_s.pop(queue, None)

    def _record_sample(self) -> None:
        at = time.time()
        totals = {}
        for queue, slots in self._queue_slots.items():
            read = [self._slots.read_slot(slot) for slot in slots]
            numbers = (sum(each[field] for each in read) for field in _TOTAL_FIELDS)
            total = Totals(*numbers)  # type: ignore[arg-type]  # `popped_by` is not among the numbers
            if (readers := self._readers.get(queue)) is not None:
                total = readers.with_pops(total, [each[CounterField.POPPED] for each in read])
            totals[queue] = total
        self._counts.record_point(at, totals)

    def _read_depths(self) -> dict[str, int]:
        """Return the number of ready messages in each queue.

        If a queue has several subscribers, this is the number of the subscriber with the most ready messages.
        """
        with contextlib.closing(connect_as(self._target, "load")) as connection:
            engine = registry.engine_for(self._target)
            depths: dict[str, int] = {}
            for queue, load in self._loads.items():
                found = WorkloadStatements(engine, load.layout, connection.version).count_ready_by_subscriber(
                    connection
                )
                depths[queue] = max(found)
                if load.layout.ring is not None and load.layout.ring.subscribers:
                    self._readers[queue] = _Subscribers(
                        found, len(self._queue_slots[queue]) - load.consumers * len(found)
                    )
            return depths


@dataclass(frozen=True, slots=True)
class _Subscribers:
    """The subscribers of a queue.

    ``had``: messages ready for each subscriber when the load began. ``before``: number of slots before the slots of the
    subscribers.
    """

    had: tuple[int, ...]
    before: int

    def with_pops(self, total: Totals, slots: Sequence[int]) -> Totals:
        """Return the totals with the subscribers' pops. ``slots``: messages popped by each member of the queue."""
        own, number = slots[self.before :], len(self.had)
        each = len(own) // number
        by = tuple(sum(own[at * each : (at + 1) * each]) for at in range(number))
        left = max(had - popped for had, popped in zip(self.had, by, strict=True))
        return replace(total, popped=max(self.had) - left, popped_by=by)


def _slots_by_queue(loads: Sequence[QueueLoad]) -> dict[str, range]:
    """Return the slots of each queue. The members of a queue use consecutive slots (see ``processes_for``)."""
    out, first = {}, 0
    for load in loads:
        out[load.layout.queue] = range(first, first := first + slots_needed((load,)))
    return out
