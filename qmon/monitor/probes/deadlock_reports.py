"""Read the server's deadlock reports after its deadlock count has risen (SQL Server)."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import PermissionMissing, QueryFailed, StatementStopped
from qmon.model.samples.deadlock_samples import Circle, CircleSample, GraphSample, ReportFile, ReportSample
from qmon.model.waits.deadlock_circles import find_circles
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.redact import hide_passwords

# Minimum seconds between two readings. The pause is longer if a reading took long.
EVERY_S: Final = 15.0

# qmon searches for the report of a deadlock for this many seconds. The server writes the report within two minutes.
_ASKED_FOR_S: Final = 150.0
_CHARS: Final = 200
_NEWEST: Final = (10_000, 0)


class DeadlockReports:
    """The reported deadlocks. The background reader's thread reads them, and the poll uses them.

    Each reading starts in the newest file of the server's own event session, after the block with the newest known
    report. If there is no readable file, the session's memory is read instead. In the memory, some reports may be
    missing or truncated.
    """

    def __init__(self, engine: Engine) -> None:
        # Whether this engine has such reports.
        self.is_supported = queries.has_query(engine.name, "probe/deadlock_graphs", _NEWEST)
        self._lock = threading.Lock()
        self._count: int | None = None
        self._rose_at: float | None = None
        self._read_since = False
        self._newest = 0.0
        self._found: list[Circle] = []
        # The requested path, the file name that the server reported, and the offset of the last block that was read.
        self._after: tuple[str, str, int] | None = None

    def record_count(self, deadlocks: int | None, now: float, now_at: float) -> tuple[Circle, ...]:
        """Record the server's deadlock count; return the deadlocks reported since the last poll.

        ``now``: our monotonic clock. ``now_at``: server clock; reports from before the first poll are ignored.
        """
        with self._lock:
            if self._newest == 0.0:
                self._newest = now_at
            if deadlocks is not None:
                if self._count is not None and deadlocks > self._count:
                    self._rose_at, self._read_since = now, False
                self._count = deadlocks
            found, self._found = self._found, []
            return tuple(found)

    def may_have_unread(self, now: float) -> bool:
        """Return whether there may be unread reports."""
        with self._lock:
            return self._rose_at is not None and (now - self._rose_at <= _ASKED_FOR_S or not self._read_since)

    def read_new_reports(self, connection: Connection, statements: StatementCache) -> None:
        """Read the reports since the last reading. Raises the errors of ``Connection.fetch``."""
        with self._lock:
            self._read_since = True
        rows = self._read_file(connection, statements)
        if rows is None:
            bound = statements.statement_for("deadlock_graphs", {"chars": _CHARS}).bound
            rows = to_records(GraphSample, connection.fetch(bound))
        by_time: defaultdict[float, list[CircleSample]] = defaultdict(list)
        with self._lock:
            for row in rows:
                if row.at > self._newest:
                    pair = CircleSample(row.session, row.blocker, row.table_id, row.application, row.statement)
                    by_time[row.at].append(replace(pair, statement=hide_passwords(pair.statement)))
            self._newest = max([self._newest, *by_time])
            self._found += [circle for at in sorted(by_time) for circle in find_circles(by_time[at])]

    def _read_file(self, connection: Connection, statements: StatementCache) -> Sequence[GraphSample] | None:
        """Return the newest reports of this database; ``None`` if there is no file that our role may read."""
        try:
            files = to_records(ReportFile, connection.fetch(statements.statement_for("deadlock_file").bound))
            if not files:
                return None
            path = files[0].path
            after = self._after if self._after is not None and self._after[0] == path else None
            try:
                rows = self._read_after_block(connection, statements, path, after)
            except (StatementStopped, PermissionMissing):
                raise
            except QueryFailed:
                if after is None:
                    raise
                rows = self._read_after_block(connection, statements, path, None)
        except QueryFailed:
            return None
        if rows:
            last = max(rows, key=lambda row: row.offset)
            self._after = path, last.file, last.offset
        return [row for row in rows if row.here]

    def _read_after_block(
        self, connection: Connection, statements: StatementCache, path: str, after: tuple[str, str, int] | None
    ) -> list[ReportSample]:
        _, file, offset = after or ("", "", -1)
        values: dict[str, Value] = {"path": path, "file": file, "offset": offset, "chars": _CHARS}
        return to_records(ReportSample, connection.fetch(statements.statement_for("deadlock_reports", values).bound))
