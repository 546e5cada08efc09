"""Manage the counts of the queues' tables: the running scans, their results and the times of the next scans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.base import Connection, Engine
from qmon.errors import QueryFailed
from qmon.model.cost_budget import Budget
from qmon.model.counts import TableCount
from qmon.model.formatting import duration
from qmon.model.layout.table_facts import TableFacts
from qmon.model.snapshot import QueueSamples
from qmon.monitor.background.table_scan import EVERY_S, Allowance, Scan, Throttle, read_parts, scan_allowance
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.texts import Text


class ScanText(Text):
    """Why figures that need a scan of the table are unknown."""

    UNSUPPORTED = "qmon cannot count tables on this server"
    TOO_LONG = (
        "counting the {pages:,} pages of the table takes about {time} within the cost budget; use the dashboard, or"
        " qmon status with a longer --over; qmon doctor prints an index that avoids the scan"
    )
    COUNTING = "counting, {percent:.0f} % so far"
    BECAUSE = "{why}; {reason}"


# Pause after a count that cannot be split, as a multiple of the duration of the count. The pause limits such counts to
# half a percent of one processor.
COST_FACTOR: Final = 200.0
WHOLE_EVERY_S: Final = 60.0
TRUSTED_S: Final = 60.0
_TRUSTED_FEW_S: Final = 10.0

# A table of up to this many pages (4 MB) is small. A small table is scanned often, even if only its unknown states need
# a scan. A small table is also scanned again soon if its counters do not change.
_FEW_PAGES: Final = 512

# Counter values of a table, which stay the same until a session writes to it.
CounterVersion = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountState:
    """The state of a table's count.

    ``progress``: the finished share of the first scan, 0 to 1; ``None`` unless a first scan is running or planned.
    ``problem``: the reason why there is no count.
    """

    count: TableCount | None = None
    progress: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ScanStep:
    """The result of one step: the seconds until the table's next step, and whether the count is complete."""

    rest_s: float
    done: bool


class ScanCounts:
    """The counts of all queues. The background reader's thread runs the steps, and the poll uses the results.

    If an index provides every figure of a table except the depth of a deep queue, a single statement counts the table.
    This statement counts all rows at the same time, so that the depth can be extrapolated from the result.
    """

    def __init__(
        self, engine: Engine, own_uses: OwnUses, clock: Callable[[], float], budget: Budget, within_s: float | None
    ) -> None:
        self._engine = engine
        self._own_uses = own_uses
        self._clock = clock
        self._budget = budget
        self._within_s = within_s
        self._lock = threading.Lock()
        self._throttle = Throttle()
        self._rest_until = float("-inf")
        self._trip_s = float("inf")
        self._began_at: float | None = None
        self._scans: dict[str, Scan] = {}
        self._begun: dict[str, CounterVersion | None] = {}
        self._versions: dict[str, CounterVersion | None] = {}
        self._counts: dict[str, TableCount] = {}
        self._trusted_until: dict[str, float] = {}
        self._parts: dict[str, tuple[int, ...]] = {}
        self._problems: dict[str, str] = {}
        # Number of tables counted so far.
        self.tables_counted = 0

    def retain_only(self, queues: Collection[str]) -> None:
        """Forget all queues that are not listed. These queues are gone, or now have a different table or layout."""
        with self._lock:
            for memory in self._memories:
                for queue in [queue for queue in memory if queue not in queues]:
                    del memory[queue]

    def forget_queue(self, queue: str) -> None:
        """Forget this queue, and discard a range that is being read."""
        with self._lock:
            for memory in self._memories:
                memory.pop(queue, None)

    @property
    def _memories(self) -> tuple[dict[str, Any], ...]:
        return self._scans, self._begun, self._versions, self._counts, self._trusted_until, self._problems, self._parts

    @property
    def parts(self) -> frozenset[int]:
        """The tables that were read for the queues, including partitions."""
        with self._lock:
            return frozenset(part for parts in self._parts.values() for part in parts)

    def rest_seconds(self) -> float:
        """Return the seconds until the next range of any table may be read."""
        return max(0.0, self._rest_until - self._clock())

    def count_state_for(self, queue: str) -> CountState:
        """Return the state of a queue's count."""
        with self._lock:
            count, problem, scan = self._counts.get(queue), self._problems.get(queue, ""), self._scans.get(queue)
        if count is not None or problem:
            return CountState(count, None, problem)
        return CountState(None, scan.share_done if scan is not None else 0.0)

    def record_failure(self, queue: str, reason: str) -> None:
        """Record the reason why a range could not be read."""
        with self._lock:
            self._problems[queue] = reason

    def still_holds(self, queue: str, version: CounterVersion | None, at: float) -> bool:
        """Return whether the newest count still holds at ``at`` (server clock, seconds).

        If the messages do not change their state with time, a count holds until a session writes to the table. A count
        holds for at most ``TRUSTED_S`` seconds, or ``_TRUSTED_FEW_S`` if the table is small. The limit exists because
        a session may have turned its counters off (``track_counts``).
        """
        with self._lock:
            self._versions[queue] = version
            count = self._counts.get(queue)
            if count is None or version is None or queue in self._scans or self._begun.get(queue) != version:
                return False
            if count.may_change_with_time or at <= count.counted_at or at > self._trusted_until[queue]:
                return False
            self._counts[queue] = replace(count, counted_at=at)
            return True

    def count_next_range(self, connection: Connection, spec: QueueSpec, instances: int = 1) -> ScanStep | None:
        """Count one more range, or the whole table if it has no ranges.

        ``instances``: the number of qmon instances that share the cost budget. Returns ``None`` if there is not enough
        time to count the table. Raises the errors of ``Connection.fetch``.
        """
        queue = spec.layout.queue
        statements = StatementCache(self._engine, connection.version)
        if self._began_at is None:
            self._began_at = self._clock()
        scan = self._scans.get(queue)
        if scan is None or scan.spec.facts.table_id != spec.facts.table_id:
            scan = self._begin_scan(connection, statements, spec)
        allowed = scan_allowance(self._budget, self._within_s, scan.pages, instances)
        if self._drop_if_too_long(scan, allowed):
            return None
        began = self._clock()
        pages = scan.read_next_range(connection, self._own_uses, self._throttle.pages)
        took_s = self._clock() - began
        if scan.by_range:
            rest_s = self._throttle.record_range(pages, max(0.0, took_s - self._trip_s), allowed)
            self._rest_until = self._clock() + rest_s
            often = spec.facts.has_scanned_figures or scan.pages <= _FEW_PAGES
            every_s = max(EVERY_S if often else WHOLE_EVERY_S, rest_s)
        else:
            rest_s = every_s = max(WHOLE_EVERY_S, took_s * COST_FACTOR * instances)
        with self._lock:
            if self._scans.get(queue) is not scan:  # the table was replaced in the meantime
                return ScanStep(0.0, done=False)
            self._problems.pop(queue, None)
            if scan.is_done:
                self._counts[queue] = count = scan.to_count(every_s)
                few = scan.by_range and scan.pages <= _FEW_PAGES
                trusted_s = min(TRUSTED_S, _TRUSTED_FEW_S) if few else TRUSTED_S
                self._trusted_until[queue] = count.counted_at + trusted_s
                self._scans.pop(queue, None)
                self.tables_counted += 1
        return ScanStep(every_s if scan.is_done else rest_s, scan.is_done)

    def _begin_scan(self, connection: Connection, statements: StatementCache, spec: QueueSpec) -> Scan:
        began = self._clock()
        connection.fetch(statements.statement_for_target("clock").bound)
        self._trip_s = min(self._trip_s, self._clock() - began)
        if not statements.has_probe("scan_parts"):
            raise QueryFailed(ScanText.UNSUPPORTED, query="probe/scan_parts")
        parts = read_parts(connection, statements, spec)
        scan = Scan(statements, spec, parts)
        with self._lock:
            self._scans[spec.layout.queue] = scan
            # The counters of a partitioned table differ from the counters of its partitions.
            version = self._versions.get(spec.layout.queue) if len(parts) == 1 else None
            self._begun[spec.layout.queue] = version
            self._parts[spec.layout.queue] = tuple(part.part_id for part in parts)
        return scan

    def _drop_if_too_long(self, scan: Scan, allowed: Allowance) -> bool:
        """Return whether the scan would take too long. If so, drop the scan and record the reason."""
        if allowed.within_s is None or self._began_at is None:
            return False
        needed_s = allowed.seconds(scan.pages_left, self._throttle.page_s)
        if self._clock() - self._began_at + needed_s <= allowed.within_s:
            return False
        with self._lock:
            queue = scan.spec.layout.queue
            self._scans.pop(queue, None)
            self._problems[queue] = ScanText.TOO_LONG.render(pages=scan.pages, time=duration(needed_s))
        return True


def why_uncounted(facts: TableFacts, counted: CountState) -> dict[str, str]:
    """Return for each figure without an index why it needs a scan and, if there is no count, why it is unknown."""
    slow = {figure: reason for figure, reason in facts.slow.items() if figure != "states"}
    if counted.count is not None or not slow:
        return slow
    why = counted.problem or (
        ScanText.COUNTING.render(percent=100 * counted.progress) if counted.progress is not None else ""
    )
    return {
        figure: ScanText.BECAUSE.render(why=why, reason=reason) if why else reason for figure, reason in slow.items()
    }


def counter_version(samples: QueueSamples) -> CounterVersion | None:
    """Return values that stay the same until a session writes to the table; ``None`` without counters."""
    c = samples.counters
    return None if c is None else (c.inserted, c.updated, c.deleted, c.live)
