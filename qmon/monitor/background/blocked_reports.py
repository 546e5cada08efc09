"""Read reports of blocked processes from the file of a running event session (SQL Server)."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import fields, replace
from typing import Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.model.samples.deadlock_samples import BlockedReport, BlockedSample, ReportFile
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.redact import hide_passwords

# Minimum seconds between two readings. The pause is longer if a reading took long.
EVERY_S: Final = 60.0
_MAX_REPORTS: Final = 20
_CHARS: Final = 200
_NEWEST: Final = (10_000, 0)


class BlockedReports:
    """Blocked-process reports of this database. The background reader's thread reads them, and the poll uses them.

    Each reading starts in the newest file, after the block with the newest known report. Without a file, there are no
    reports.
    """

    def __init__(self, engine: Engine) -> None:
        # Whether this engine has such reports.
        self.is_supported = queries.has_query(engine.name, "probe/blocked_reports", _NEWEST)
        self._reports: deque[BlockedReport] = deque(maxlen=_MAX_REPORTS)
        # The requested path, the file name that the server reported, and the offset of the last block that was read.
        self._after: tuple[str, str, int] | None = None
        self._lock = threading.Lock()

    def latest_reports(self) -> tuple[BlockedReport, ...]:
        """Return the last reports, newest first."""
        with self._lock:
            return tuple(self._reports)

    def read_new_reports(self, connection: Connection, statements: StatementCache) -> None:
        """Read the reports since the last reading. Raises the errors of ``Connection.fetch``."""
        files = to_records(ReportFile, connection.fetch(statements.statement_for("blocked_file").bound))
        if not files:
            return
        path = files[0].path
        _, file, offset = self._after if self._after is not None and self._after[0] == path else ("", "", -1)
        values: dict[str, Value] = {"path": path, "file": file, "offset": offset, "chars": _CHARS}
        self._after = None  # if the block no longer exists, the next reading starts at the beginning
        rows = to_records(BlockedSample, connection.fetch(statements.statement_for("blocked_reports", values).bound))
        if rows:
            last = max(rows, key=lambda row: row.offset)
            file, offset = last.file, last.offset
        self._after = path, file, offset
        with self._lock:
            for row in sorted((row for row in rows if row.here), key=lambda row: row.at):
                report = _to_report(row)
                if report not in self._reports:
                    self._reports.appendleft(report)


def _to_report(row: BlockedSample) -> BlockedReport:
    """Build the displayed report, with passwords hidden."""
    report = BlockedReport(**{field.name: getattr(row, field.name) for field in fields(BlockedReport)})
    return replace(
        report, statement=hide_passwords(row.statement), blocker_statement=hide_passwords(row.blocker_statement)
    )
