"""Check again whether our role may read tables whose probes were denied.

A denied probe is left out of many polls, so that its errors do not fill the server's log. This check is cheaper than
the denied query. The first poll after a GRANT detects the permission, and the next poll runs the probes of the queue.
"""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.layout.table_facts import TableFacts
from qmon.monitor.poll.runner import Runner
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache

_PROBE = "readable"


class PermissionRecheck:
    """The queues with denied probes. Use it only in the thread that owns the connection."""

    def __init__(self, statements: StatementCache, runner: Runner) -> None:
        self._statements = statements
        self._runner = runner
        self._closed: set[int] = set()
        self._tables: dict[int, str] = {}

    def statements_for_poll(self, facts: Mapping[str, TableFacts]) -> list[ProbeStatement]:
        """Return the statements for this poll; empty if no probe was denied. ``facts``: keyed by queue."""
        denied = self._runner.denied_queues
        self._tables = {table: queue for queue, each in facts.items() if queue in denied for table in each.tables}
        self._closed &= self._tables.keys()
        if not self._tables:
            return []
        return [
            self._statements.statement_for(_PROBE, {"tables": self._statements.engine.ids_value(list(self._tables))})
        ]

    def record_results(self, results: Results) -> None:
        """Let the probes of a queue run in the next poll if one of its tables has become readable."""
        for row in results.get(("", _PROBE), ()):
            if not row.readable:
                self._closed.add(row.table_id)
            elif row.table_id in self._closed:
                self._closed.discard(row.table_id)
                self._runner.wake_queue(self._tables[row.table_id])
