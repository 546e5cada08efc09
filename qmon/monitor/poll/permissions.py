"""Re-checks whether our role may read tables whose probes were denied: cheaper than another query that is denied.

A probe that was refused rests for long, so as not to fill the server's log. A right that has been granted is seen in
the next poll, and the probes of that queue run in the one after it.
"""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.layout.table_facts import TableFacts
from qmon.model.samples.polled import ReadableSample
from qmon.monitor.poll.runner import Runner
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache

_PROBE = "readable"


class PermissionRecheck:
    """Which queues may be read again. Belongs to the thread that owns the connection."""

    def __init__(self, statements: StatementCache, runner: Runner) -> None:
        self._statements = statements
        self._runner = runner
        self._closed: set[int] = set()
        self._tables: dict[int, str] = {}

    def wanted(self, facts: Mapping[str, TableFacts]) -> list[ProbeStatement]:
        """What to ask: nothing where no queue is refused. ``facts``: by queue."""
        denied = self._runner.denied
        self._tables = {table: queue for queue, each in facts.items() if queue in denied for table in each.tables}
        self._closed &= self._tables.keys()
        if not self._tables:
            return []
        return [
            self._statements.of(_PROBE, ReadableSample, {"tables": self._statements.engine.ids(list(self._tables))})
        ]

    def see(self, results: Results) -> None:
        """Let the probes of a queue run again in the next poll where a table may be read that could not be."""
        for row in results.get(("", _PROBE), ()):
            if not row.readable:
                self._closed.add(row.table_id)
            elif row.table_id in self._closed:
                self._closed.discard(row.table_id)
                self._runner.wake(self._tables[row.table_id])
