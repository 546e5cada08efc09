"""Count the reads of qmon's background readers on queue tables, so that usage figures can exclude these reads."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from qmon.engines.base import Bound, Connection, Rows
from qmon.engines.result_records import to_records
from qmon.model.rates.queue_use import IndexKey
from qmon.model.samples.usage_samples import OwnUse
from qmon.monitor.probes.probe_statements import StatementCache


class OwnUses:
    """The reads of qmon's own session. The session's thread counts the reads, and the poll's thread uses the totals."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[IndexKey, tuple[int, int, int]] = {}

    def retain_only(self, tables: Collection[int]) -> None:
        """Forget the reads of other tables."""
        with self._lock:
            self._read = {key: read for key, read in self._read.items() if key[0] in tables}

    def fetch_counted(
        self, connection: Connection, statements: StatementCache, bounds: Sequence[Bound], tables: Sequence[int]
    ) -> list[Rows]:
        """Fetch statements in one round trip. Also count their reads if the server counts reads."""
        if not statements.has_probe("own_uses"):
            return connection.fetch_batch(bounds)
        asked = statements.engine.ids_value(tables)
        *found, own = connection.fetch_batch([*bounds, statements.statement_for("own_uses", {"tables": asked}).bound])
        with self._lock:
            for use in to_records(OwnUse, own):
                scans, rows, pages = self._read.get((use.table_id, use.index_id), (0, 0, 0))
                self._read[use.table_id, use.index_id] = scans + use.scans, rows + use.rows_read, pages + use.pages
        return found

    def totals(self) -> dict[IndexKey, tuple[int, int, int]]:
        """Return the scans, rows and pages of qmon's background readers so far, by table and index."""
        with self._lock:
            return dict(self._read)
