"""Counts of the queues' tables on the slow connection: scans under way, what they found, and when to scan again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final

from qmon.engines.base import Connection, Engine
from qmon.errors import QueryFailed
from qmon.model.budget import Budget
from qmon.model.counts import TableCount
from qmon.model.layout.table_facts import TableFacts
from qmon.model.snapshot import QueueSamples
from qmon.model.text import duration
from qmon.monitor.background.scan import EVERY_S, Allowance, Scan, Throttle, allowance, parts_of
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.queue import Spec
from qmon.monitor.probes.statements import StatementCache

# The rest after a count that cannot be split, as a multiple of its time: half a per cent of one processor.
COST_FACTOR: Final = 200.0
_WHOLE_EVERY_S: Final = 60.0
_TRUSTED_S: Final = 60.0
_TRUSTED_FEW_S: Final = 10.0
# Pages (4 MB) up to which a table is scanned as often for unknown states alone as for figures, and again soon although
# its counters stand still.
_FEW_PAGES: Final = 512

# What the server's counters say of a table: the same as long as nobody has written.
Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of a table's count.

    ``progress``: how much of it the first scan has seen, 0 to 1; ``None``: none is under way or to come. ``problem``:
    why there is none.
    """

    count: TableCount | None = None
    progress: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ScanStep:
    """One step is done: seconds until the table's next one, and whether the table is counted now."""

    rest_s: float
    done: bool


class ScanCounts:
    """The thread of the background reader steps; that of the poll asks.

    A table of which all figures but a deep queue's depth come from an index is counted in one statement, so that its
    depth can be carried on from one moment.
    """

    def __init__(
        self, engine: Engine, own: OwnUses, clock: Callable[[], float], budget: Budget, within_s: float | None
    ) -> None:
        self._engine = engine
        self._own = own
        self._clock = clock
        self._budget = budget
        self._within_s = within_s
        self._lock = threading.Lock()
        self._throttle = Throttle()
        self._rest_until = float("-inf")
        self._trip_s = float("inf")
        self._began_at: float | None = None
        self._scans: dict[str, Scan] = {}
        self._begun: dict[str, Version | None] = {}
        self._versions: dict[str, Version | None] = {}
        self._counts: dict[str, TableCount] = {}
        self._trusted_until: dict[str, float] = {}
        self._parts: dict[str, tuple[int, ...]] = {}
        self._problems: dict[str, str] = {}
        # Tables counted so far.
        self.done = 0

    def keep(self, queues: Collection[str]) -> None:
        """Forget every queue but these: those that are gone, and those whose table or layout is another one."""
        with self._lock:
            for memory in self._memories:
                for queue in [queue for queue in memory if queue not in queues]:
                    del memory[queue]

    def forget(self, queue: str) -> None:
        """Forget this queue; a range that is being read of it is left out."""
        with self._lock:
            for memory in self._memories:
                memory.pop(queue, None)

    @property
    def _memories(self) -> tuple[dict[str, Any], ...]:
        return self._scans, self._begun, self._versions, self._counts, self._trusted_until, self._problems, self._parts

    @property
    def parts(self) -> frozenset[int]:
        """The tables that have been read of the queues, their partitions among them."""
        with self._lock:
            return frozenset(part for parts in self._parts.values() for part in parts)

    def rests(self) -> float:
        """Seconds until the next range of any table may be read."""
        return max(0.0, self._rest_until - self._clock())

    def of(self, queue: str) -> Counted:
        """What is known of a queue's count."""
        with self._lock:
            count, problem, scan = self._counts.get(queue), self._problems.get(queue, ""), self._scans.get(queue)
        if count is not None or problem:
            return Counted(count, None, problem)
        return Counted(None, scan.share if scan is not None else 0.0)

    def fail(self, queue: str, reason: str) -> None:
        """The range could not be read."""
        with self._lock:
            self._problems[queue] = reason

    def unchanged(self, queue: str, version: Version | None, at: float) -> bool:
        """Whether the newest count holds at ``at`` (server clock), too: nobody has written and no time runs out.

        It holds for ``_TRUSTED_S`` at most, or ``_TRUSTED_FEW_S`` if the table is small: a session may have turned its
        counters off (``track_counts``).
        """
        with self._lock:
            self._versions[queue] = version
            count = self._counts.get(queue)
            if count is None or version is None or queue in self._scans or self._begun.get(queue) != version:
                return False
            if count.waits_for_time or at <= count.counted_at or at > self._trusted_until[queue]:
                return False
            self._counts[queue] = replace(count, counted_at=at)
            return True

    def step(self, connection: Connection, spec: Spec, qmons: int = 1) -> ScanStep | None:
        """Count on: one range, or all where there are none. ``qmons``: how many share what counting may cost.

        ``None``: there is not the time to count it. Raises what ``Connection.fetch`` raises.
        """
        queue = spec.layout.queue
        statements = StatementCache(self._engine, connection.version)
        if self._began_at is None:
            self._began_at = self._clock()
        scan = self._scans.get(queue)
        if scan is None or scan.spec.facts.table_id != spec.facts.table_id:
            scan = self._begin(connection, statements, spec)
        allowed = allowance(self._budget, self._within_s, scan.pages, qmons)
        if self._too_long(scan, allowed):
            return None
        began = self._clock()
        pages = scan.step(connection, self._own, self._throttle.pages)
        took_s = self._clock() - began
        if scan.by_range:
            rest_s = self._throttle.learn(pages, max(0.0, took_s - self._trip_s), allowed)
            self._rest_until = self._clock() + rest_s
            often = spec.facts.scanned or scan.pages <= _FEW_PAGES
            every_s = max(EVERY_S if often else _WHOLE_EVERY_S, rest_s)
        else:
            rest_s = every_s = max(_WHOLE_EVERY_S, took_s * COST_FACTOR * qmons)
        with self._lock:
            if self._scans.get(queue) is not scan:  # another table lies behind the name by now
                return ScanStep(0.0, done=False)
            self._problems.pop(queue, None)
            if scan.done:
                self._counts[queue] = count = scan.count(every_s)
                few = scan.by_range and scan.pages <= _FEW_PAGES
                trusted_s = min(_TRUSTED_S, _TRUSTED_FEW_S) if few else _TRUSTED_S
                self._trusted_until[queue] = count.counted_at + trusted_s
                self._scans.pop(queue, None)
                self.done += 1
        return ScanStep(every_s if scan.done else rest_s, scan.done)

    def _begin(self, connection: Connection, statements: StatementCache, spec: Spec) -> Scan:
        began = self._clock()
        connection.fetch(statements.of_target("clock").bound)
        self._trip_s = min(self._trip_s, self._clock() - began)
        if not statements.has("scan_parts"):
            raise QueryFailed("this server's tables cannot be counted", query="probe/scan_parts")
        parts = parts_of(connection, statements, spec)
        scan = Scan(statements, spec, parts)
        with self._lock:
            self._scans[spec.layout.queue] = scan
            # The counters of a table with partitions are not those of its partitions.
            version = self._versions.get(spec.layout.queue) if len(parts) == 1 else None
            self._begun[spec.layout.queue] = version
            self._parts[spec.layout.queue] = tuple(part.part_id for part in parts)
        return scan

    def _too_long(self, scan: Scan, allowed: Allowance) -> bool:
        """Whether it would not be done in time; then it is given up, with the reason."""
        if allowed.within_s is None or self._began_at is None:
            return False
        needed_s = allowed.seconds(scan.left, self._throttle.page_s)
        if self._clock() - self._began_at + needed_s <= allowed.within_s:
            return False
        with self._lock:
            queue = scan.spec.layout.queue
            self._scans.pop(queue, None)
            about = duration(needed_s)
            self._problems[queue] = (
                f"the {scan.pages:,} pages of the table take about {about} to count within the budget, longer than this"
                " command: the dashboard counts them, or qmon status with a longer --over; qmon doctor prints the index"
                " that makes it quick"
            )
        return True


def uncounted(facts: TableFacts, counted: Counted) -> dict[str, str]:
    """Why each figure that no index leads to is not known, or not yet."""
    slow = {figure: reason for figure, reason in facts.slow.items() if figure != "states"}
    if counted.count is not None or not slow:
        return slow
    why = counted.problem or (
        f"counting, {100 * counted.progress:.0f} % so far" if counted.progress is not None else ""
    )
    return {figure: f"{why}; {reason}" if why else reason for figure, reason in slow.items()}


def version_of(q: QueueSamples) -> Version | None:
    """What stays the same as long as nobody writes to the queue's table."""
    c = q.counters
    return None if c is None else (c.inserted, c.updated, c.deleted, c.live)
