"""The slow reads as tasks. Each task knows when it is due, how it reads, and when it is tried again after a failure."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from qmon.engines.base import Connection
from qmon.engines.result_records import to_records
from qmon.errors import LockTimeout, PermissionMissing, QmonError, StatementStopped
from qmon.model.samples.polled_samples import ClockSample, HeadSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.background.catalog_reading import CatalogReading
from qmon.monitor.background.scan_counts import COST_FACTOR, ScanCounts
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_names import probe_names_for, state_values_for
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec

# Maximum seconds of a statement.
DEADLINE_S: Final = 30.0

HEAD_EVERY_S: Final = 10.0
EXPENSIVE_HEAD_S: Final = 0.001

# Seconds until the server's counters include a commit. PostgreSQL needs one second.
SETTLED_S: Final = 2.5

# Seconds between cheap full searches for the head of a queue. The polls also search for the head. When the search of
# the polls becomes expensive, the next full search runs sooner.
CHEAP_HEAD_EVERY_S: Final = 60.0

# With many queues, a cheap head search of one queue is repeated after this many seconds times the number of queues.
_HEAD_REST_S: Final = 0.2
_TRIES: Final = 3
RETRY_S: Final = 60.0

# Seconds until the next try after a lock timeout. A failed try waits a second for the lock and reads nothing.
LOCK_RETRY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a task reads with.

    ``specs``: the watched queues, by name. ``instances``: the number of qmon instances that share the cost budget.
    """

    connection: Connection
    statements: StatementCache
    specs: Mapping[str, QueueSpec]
    instances: int


class SlowTask(ABC):
    """One slow read of a queue, or of the whole target.

    The scheduler changes the state of a task under its lock. ``run`` is called without the lock.
    """

    # The pause after a read, as a multiple of its duration. 0 if the read limits its own share of a processor.
    COST_FACTOR: ClassVar[float] = COST_FACTOR

    def __init__(self, probe: str, queue: str = "", due_at: float = 0.0) -> None:
        """Create a task. ``queue``: empty for a read of the whole target. ``due_at``: on our monotonic clock."""
        self.probe = probe
        self.queue = queue
        # When the read is due. Infinite while it runs, and if it is not repeated without a request.
        self.due_at = due_at
        self.began_at = float("-inf")
        self.is_wanted = True
        self.failure: ProbeFailure | None = None

    def wait_s(self, now: float) -> float:
        """Return the seconds until the read may begin; 0 if it is due, infinite if it is not wanted."""
        return max(0.0, self.due_at - now) if self.is_wanted else math.inf

    def request(self) -> None:
        """Make the read due now, or once more after the running read, even if the running read fails."""
        self.due_at = 0.0

    def begin(self, now: float) -> None:
        """Record that the read begins."""
        self.due_at, self.began_at = math.inf, now

    def end(self, now: float, rest_s: float) -> None:
        """Record that the read has ended. It is due after ``rest_s`` seconds, or now if requested while it ran."""
        if self.due_at == math.inf:
            self.due_at = now + rest_s

    @abstractmethod
    def run(self, reading: Reading) -> float:
        """Read, and return the minimum seconds until the next read.

        Raises the errors of ``Connection.fetch``.
        """

    def record_failure(self, problem: QmonError) -> None:
        """Record the failure to report until the next read succeeds."""
        self.failure = ProbeFailure(self.probe, str(problem), self.queue)
        if isinstance(problem, PermissionMissing):
            self.failure = replace(self.failure, reason=problem.reason, grant=problem.grant)

    def retry_s(self, problem: QmonError, instances: int) -> float:
        """Return the seconds from a failure to the next try."""
        if isinstance(problem, LockTimeout):
            return LOCK_RETRY_S
        return DEADLINE_S * COST_FACTOR * instances if isinstance(problem, StatementStopped) else RETRY_S


class ReaderTask(SlowTask):
    """A read by one of the readers that keep their own results. ``read``: runs it, as ``SlowTask.run``."""

    def __init__(self, probe: str, read: Callable[[Reading], float], queue: str = "", due_at: float = 0.0) -> None:
        super().__init__(probe, queue, due_at)
        self._read = read

    def run(self, reading: Reading) -> float:
        return self._read(reading)


class CatalogTask(SlowTask):
    """The reading of the catalog, if it is requested."""

    COST_FACTOR: ClassVar[float] = 0.0

    def __init__(self, catalog: CatalogReading) -> None:
        super().__init__("catalog")
        self._catalog = catalog

    def wait_s(self, now: float) -> float:
        return super().wait_s(now) if self._catalog.is_requested else math.inf

    def run(self, reading: Reading) -> float:
        self._catalog.read_if_requested(reading.connection)
        return 0.0

    def retry_s(self, problem: QmonError, instances: int) -> float:
        return LOCK_RETRY_S if isinstance(problem, LockTimeout) else RETRY_S


class CountTask(SlowTask):
    """The count of a queue's table, range by range. ``counts`` has the result."""

    COST_FACTOR: ClassVar[float] = 0.0

    def __init__(self, queue: str, counts: ScanCounts) -> None:
        super().__init__("exact count", queue)
        self._counts = counts
        self.is_wanted = False
        # True if the table must be counted again soon. A count taken during a burst is wrong by the changes that the
        # counters had not reported yet.
        self.again = True

    def wait_s(self, now: float) -> float:
        return super().wait_s(now) or self._counts.rest_seconds()

    def request(self) -> None:
        super().request()
        self.again = True

    def run(self, reading: Reading) -> float:
        step = self._counts.count_next_range(reading.connection, reading.specs[self.queue], reading.instances)
        if step is None:
            return math.inf
        again, self.again = self.again, self.again and not step.done
        return SETTLED_S if again and step.done else step.rest_s

    def record_failure(self, problem: QmonError) -> None:
        super().record_failure(problem)
        self._counts.record_failure(self.queue, str(problem))


class HeadTask(SlowTask):
    """The search for a queue's head from its first row."""

    def __init__(self, queue: str, own_uses: OwnUses) -> None:
        super().__init__("exact head", queue)
        self._own_uses = own_uses
        # The newest result that no poll has used: whether the search was expensive, and the head's id.
        self.found: deque[tuple[bool, str | None]] = deque(maxlen=1)

    def run(self, reading: Reading) -> float:
        statements, spec = reading.statements, reading.specs[self.queue]
        probe = QueueProbes(statements, spec).head_probe_name
        names, values = probe_names_for(spec.layout, spec.facts), state_values_for(spec.layout)
        if probe == "head_walk":
            # The poll's search stops after a limited number of rows. This search continues to the first ready row.
            probe, names["head_index"] = "head_state", names["walk_index"]
        if probe not in ("head", "head_state"):
            self.is_wanted = False
            return 0.0
        statement = statements.statement_for(probe, {**values, "head": None, "limit": 1}, names)
        clock = statements.statement_for_target("clock")
        batch, took_s, head = [clock.bound, statement.bound, clock.bound], math.inf, None
        for _ in range(_TRIES):  # the minimum of several tries is the cost of the statement itself
            began, rows, ended = self._own_uses.fetch_counted(reading.connection, statements, batch, spec.facts.tables)
            seconds = to_records(ClockSample, ended)[0].now_at - to_records(ClockSample, began)[0].now_at
            took_s, head = min(took_s, seconds), to_records(HeadSample, rows)[0].head_id
            if took_s <= EXPENSIVE_HEAD_S:
                break
        is_expensive = "walk" in spec.facts.indexes or took_s > EXPENSIVE_HEAD_S
        self.found.append((is_expensive, head))
        return HEAD_EVERY_S if is_expensive else max(CHEAP_HEAD_EVERY_S, _HEAD_REST_S * len(reading.specs))
