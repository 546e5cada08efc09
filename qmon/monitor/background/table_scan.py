"""Scan whole tables range by range, for figures without an index, within the cost budget and without bursts.

A range is a run of pages (PostgreSQL) or a run of the clustered key (SQL Server). One short statement reads all figures
of a range in its own transaction, so that no scan holds back the vacuum horizon. A table without ranges is read in one
statement.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Bound, Connection, Statement, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.cost_budget import Budget
from qmon.model.counts import PartSample, ScanSample, TableCount, combine_ranges
from qmon.model.layout.layout import StateColumn
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_names import probe_names_for, state_values_for
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec

# Minimum seconds from the end of one scan of a table to the next.
EVERY_S: Final = 5.0

# A short-lived command counts a table of up to this many pages (64 MB) faster, within a few seconds.
AT_ONCE_PAGES: Final = 8192

# Maximum pages per second for all queues of a target together (16 MB/s).
MAX_PAGES_PER_S: Final = 2000.0
_RANGE_S: Final = 0.005
# Pages of one range: at least, at most, and of the first range of a table.
MIN_RANGE_PAGES, MAX_RANGE_PAGES, FIRST_RANGE_PAGES = 16, 2048, 128
_LEAST_OF: Final = 8
_SHORT_SHARE: Final = 0.25
_LONG_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Allowance:
    """The resources that scans may use.

    ``share``: the share of one processor. ``pages_s``: pages per second. Both limits apply to all queues together.
    ``within_s``: a scan that takes more seconds is not started; ``None``: no limit.
    """

    share: float
    pages_s: float
    within_s: float | None = None

    def seconds(self, pages: int, page_s: float = 0.0) -> float:
        """Return how many seconds this many pages take, if each page costs ``page_s`` seconds of server time."""
        return pages * max(1.0 / self.pages_s, page_s / self.share)


def scan_allowance(budget: Budget, within_s: float | None, pages: int, instances: int = 1) -> Allowance:
    """Return the allowance for scanning a table with ``pages`` pages.

    The allowance is half of the budget of polls, divided among all qmon instances. A short-lived command does not
    divide its allowance, which is larger for a small table.
    """
    if within_s is None:
        return Allowance(
            (budget.share if budget.poll_ms is None else 0.01) / 2 / instances, MAX_PAGES_PER_S / instances
        )
    if pages <= AT_ONCE_PAGES:
        return Allowance(_SHORT_SHARE, MAX_PAGES_PER_S * 8, within_s)
    return Allowance(_LONG_SHARE, MAX_PAGES_PER_S, within_s)


class Throttle:
    """Choose the size of ranges and the pause after each range. The cost per page is the lowest of recent ranges."""

    def __init__(self) -> None:
        self._page_s: deque[float] = deque(maxlen=_LEAST_OF)

    @property
    def page_s(self) -> float:
        """Seconds of server time per page; 0 before the first range."""
        return min(self._page_s, default=0.0)

    @property
    def pages(self) -> int:
        """Number of pages of the next range."""
        if not self._page_s:
            return FIRST_RANGE_PAGES
        return max(MIN_RANGE_PAGES, min(MAX_RANGE_PAGES, int(_RANGE_S / max(self.page_s, 1e-9))))

    def record_range(self, pages: int, took_s: float, allowed: Allowance) -> float:
        """Record the cost of a range; return the seconds to pause before the next range of any table."""
        if pages >= MIN_RANGE_PAGES:  # in a shorter range, the statement itself costs more than its pages
            self._page_s.append(took_s / pages)
        cost_s = min(took_s, self.page_s * pages) if self._page_s else took_s
        return max(0.0, max(pages / allowed.pages_s, cost_s / allowed.share) - took_s)


class Scan:
    """One running scan of the tables of one queue."""

    def __init__(self, statements: StatementCache, spec: QueueSpec, parts: Sequence[PartSample]) -> None:
        self.spec = spec
        self.by_range = (
            spec.facts.needs_range_scan and bool(parts) and all(_has_ranges(part, statements) for part in parts)
        )
        self.pages = sum(part.pages or 0 for part in parts)
        self.is_done = False
        self._statements = statements
        self._parts = parts
        self._part = 0
        self._page = 0
        self._after: str | None = None
        self._seen = 0
        self._samples: list[ScanSample] = []
        self._statement: Statement | None = None

    @property
    def share_done(self) -> float:
        """Share of the pages that has been read, 0 to 1."""
        before = sum(part.pages or 0 for part in self._parts[: self._part])
        return min(1.0, (before + self._page) / self.pages) if self.pages else 0.0

    @property
    def pages_left(self) -> int:
        """Pages that are still to be read."""
        return round(self.pages * (1 - self.share_done))

    def read_next_range(self, connection: Connection, own_uses: OwnUses, pages: int) -> int:
        """Read the next range, or the whole table if it has no ranges; return the maximum number of pages read.

        Raises the errors of ``Connection.fetch``. The range can then be read again.
        """
        part = self._parts[self._part] if self.by_range else None
        if part is None:
            self._read(connection, own_uses, {}, None)
            self.is_done = True
            return self.pages
        size = max(1, part.pages or 0)
        end = min(self._page + pages, size)
        if part.place is None:
            self._read(connection, own_uses, {"first_page": self._page, "end_page": end}, part)
        else:
            limit = max(1, round((part.rows_there or 0) / size * pages))
            sample = self._read(connection, own_uses, {"after": self._after, "limit": limit}, part)
            self._after, self._seen = sample.next_place, self._seen + sample.rows_seen
            end = size if sample.rows_seen < limit else min(end, size - 1)
            end = size if self._seen > 2 * limit + 2 * (part.rows_there or 0) else end
        read, self._page = end - self._page, end
        if end == size:
            self._part, self._page, self._after, self._statement = self._part + 1, 0, None, None
            self.is_done = self._part == len(self._parts)
        return read

    def _read(
        self, connection: Connection, own_uses: OwnUses, values: dict[str, Value], part: PartSample | None
    ) -> ScanSample:
        statement = self._statement = self._statement or self._render_statement(part)
        known = {**state_values_for(self.spec.layout), **values}
        bound = Bound(statement, {name: known[name] for name in statement.parameters})
        tables = [self.spec.facts.table_id if part is None else part.part_id]
        (rows,) = own_uses.fetch_counted(connection, self._statements, [bound], tables)
        sample = to_records(ScanSample, rows)[0]
        self._samples.append(sample)
        return sample

    def _render_statement(self, part: PartSample | None) -> Statement:
        layout, version = self.spec.layout, self._statements.version
        probe = ("scan" if part is not None else "scan_whole") + ("_state" if layout.state is not None else "")
        query = queries.load_query(self._statements.engine.name, f"probe/{probe}", version)
        names: dict[str, Name] = probe_names_for(layout, self.spec.facts)
        if part is not None:
            names |= {
                "part": (part.part_schema, part.part_name),
                "place": self.spec.facts.column_or_untyped(part.place),
            }
        return queries.render(query, {name: names.get(name) for name in query.names}, self._statements.engine)

    def to_count(self, every_s: float) -> TableCount:
        """Return the result of a finished scan. ``every_s``: seconds from its end to the end of the next scan."""
        took_s = self._samples[-1].counted_at - self._samples[0].counted_at
        return without_missing_states(combine_ranges(self._samples, took_s, took_s + every_s), self.spec.layout.state)


def without_missing_states(count: TableCount, state: StateColumn | None) -> TableCount:
    """Remove the figures of states without a value in the layout, because the scan did not look for these states."""
    if state is None:
        return count
    if state.in_progress is None:
        count = replace(count, in_progress=None, stuck=None, longest_at=None)
    return count if state.dead is not None else replace(count, dead=None)


def _has_ranges(part: PartSample, statements: StatementCache) -> bool:
    return part.pages is not None and (statements.engine.name == "postgres" or part.place is not None)


def read_parts(connection: Connection, statements: StatementCache, spec: QueueSpec) -> list[PartSample]:
    """Return the tables that hold a queue's rows, with their sizes. Raises the errors of ``Connection.fetch``."""
    statement = statements.statement_for("scan_parts", {"table_id": spec.facts.table_id})
    return to_records(PartSample, connection.fetch(statement.bound))
