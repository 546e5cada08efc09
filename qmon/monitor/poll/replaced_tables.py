"""Detect that a queue's table was dropped, renamed, truncated or recreated since the catalog was read.

Another table may have the name now, for example after a rename or a restore. The same table may have other files, for
example after TRUNCATE, or other partitions. Our role may have lost its permission. Facts about the earlier table do not
apply to the current table. The probe ``counters`` returns the identity of each table with its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.polled_samples import CounterSample
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes

_LOST = "lost"
_Identity = tuple[tuple[int, str | None, int | None, bool], ...]


class ReplacedTables:
    """Detects that a queue's name now refers to another table, or to other files, than in earlier polls.

    Belongs to the thread of the connection.
    """

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._seen: dict[str, _Identity] = {}
        self._lost: Sequence[ObjectName] = ()
        self._tried: set[int] = set()
        self._reported = False
        # Queues whose table, as of the newest poll, has another name or cannot be read by our role.
        self.gone_queues: frozenset[str] = frozenset()

    def record_catalog(self, queues: Mapping[str, QueueProbes], lost: Sequence[ObjectName]) -> None:
        """Record that the catalog was read. ``lost``: tables of queues that cannot be watched."""
        if not lost or set(lost) != set(self._lost):
            self._tried.clear()
        self._lost = lost
        self._seen = {
            name: seen
            for name, seen in self._seen.items()
            if name in queues and [each[0] for each in seen] == list(queues[name].facts.tables)
        }

    def statements_for_poll(self) -> list[ProbeStatement]:
        """Return the statements that search for missing tables; empty if no table is missing."""
        if not self._lost or not self._statements.has_probe(_LOST):
            return []
        names = {name for table in self._lost for name in (table.name, table.name.lower())}
        return [self._statements.statement_for(_LOST, {"names": self._statements.engine.texts_value(sorted(names))})]

    def find_replaced(self, queues: Mapping[str, QueueProbes], results: Results) -> frozenset[str] | None:
        """Return the queues whose table or files have changed; ``None`` if there is nothing to report.

        The set is empty if only the tables of lost queues have changed, for example because such a table has appeared.
        """
        counters: dict[int, CounterSample] = {c.table_id: c for c in results.get(("", "counters"), ())}
        now: dict[str, _Identity] = {}
        for name, probes in queues.items():
            ids = probes.facts.tables
            if all(each in counters for each in ids):
                now[name] = tuple(_identity(counters[each]) for each in ids)
        found = {
            name for name, seen in now.items() if self._is_replaced(queues[name].layout, self._seen.get(name), seen)
        }
        self.gone_queues = frozenset(
            name for name, seen in now.items() if self._is_replaced(queues[name].layout, None, seen)
        )
        lost = {row.found for row in results.get(("", _LOST), ())} - {0} - self._tried
        if self._reported:  # never report twice in a row, so that at least every other attempt completes a poll
            self._reported = False
            self._seen |= {name: seen for name, seen in now.items() if name not in found}
            return None
        self._seen |= now
        self._tried |= lost
        self._reported = bool(found or lost)
        return frozenset(found) if self._reported else None

    @staticmethod
    def _is_replaced(layout: Layout, before: _Identity | None, now: _Identity) -> bool:
        if before is not None:
            return now != before
        tables = (layout.table, layout.data_table)
        return not all(
            t is None or (is_same_name(seen[1], t) and seen[3]) for t, seen in zip(tables, now, strict=False)
        )


def _identity(counters: CounterSample) -> tuple[int, str | None, int | None, bool]:
    return counters.table_id, counters.called, counters.files, counters.readable


def is_same_name(called: str | None, table: ObjectName) -> bool:
    """Return whether ``called`` is the name of this table. The server may add quotes and the schema."""
    if called is None:
        return False
    return _unquote(called) in (_unquote(table.name), _unquote(f"{table.schema}.{table.name}"))


def _unquote(name: str) -> str:
    return name.replace('"', "")
