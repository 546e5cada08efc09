"""Reports of blocked processes, where somebody runs an event session with a file for them (SQL Server)."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import fields, replace
from typing import Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.rows import records
from qmon.engines.sql import queries
from qmon.model.samples.deadlocks import BlockedReport, BlockedSample, ReportFile
from qmon.monitor.probes.statements import StatementCache
from qmon.redact import hide_passwords

# Between two readings, or more where one took long.
EVERY_S: Final = 60.0
_KEPT: Final = 20
_CHARS: Final = 200
_NEWEST: Final = (10_000, 0)


class BlockedReports:
    """What has been reported of this database. The thread of the background reader reads, that of the poll asks.

    Read is the newest file, after the block that held the newest report so far; nothing where there is no file.
    """

    def __init__(self, engine: Engine) -> None:
        # Whether this engine has such reports.
        self.able = queries.exists(engine.name, "probe/blocked_reports", _NEWEST)
        self._found: deque[BlockedReport] = deque(maxlen=_KEPT)
        # The file that was read, as it was asked for and as the server calls it, and the last block that counts.
        self._after: tuple[str, str, int] | None = None
        self._lock = threading.Lock()

    def known(self) -> tuple[BlockedReport, ...]:
        """The last reports, the newest first."""
        with self._lock:
            return tuple(self._found)

    def read(self, connection: Connection, statements: StatementCache) -> None:
        """Read what was reported since the last time. Raises what ``Connection.fetch`` raises."""
        files = records(ReportFile, connection.fetch(statements.of("blocked_file", ReportFile).bound))
        if not files:
            return
        path = files[0].path
        _, file, offset = self._after if self._after is not None and self._after[0] == path else ("", "", -1)
        values: dict[str, Value] = {"path": path, "file": file, "offset": offset, "chars": _CHARS}
        self._after = None  # where the block is not there any more, the next reading begins at the start
        rows = records(BlockedSample, connection.fetch(statements.of("blocked_reports", BlockedSample, values).bound))
        if rows:
            last = max(rows, key=lambda row: row.offset)
            file, offset = last.file, last.offset
        self._after = path, file, offset
        with self._lock:
            for row in sorted((row for row in rows if row.here), key=lambda row: row.at):
                report = _report(row)
                if report not in self._found:
                    self._found.appendleft(report)


def _report(row: BlockedSample) -> BlockedReport:
    """What is shown of it."""
    report = BlockedReport(**{field.name: getattr(row, field.name) for field in fields(BlockedReport)})
    return replace(
        report, statement=hide_passwords(row.statement), blocker_statement=hide_passwords(row.blocker_statement)
    )
