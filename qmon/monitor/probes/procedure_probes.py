"""Read the page counts of the queues' procedures, if the server keeps them (SQL Server)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.rates.procedure_reads import verb_for
from qmon.model.samples.usage_samples import NamingSample, ProcedureReads, ReadsSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes

_READS: Final = "procedures"
_NAMED: Final = "routines"
_NAMING: Final = "routines_of_tables"
_PROBES: Final = (_READS, _NAMED, _NAMING)

# Seconds between searches for procedures, which are rarely created or dropped.
_FIND_EVERY_S: Final = 600.0

# Seconds between readings. For each reading, the server searches all its cached plans.
_READ_EVERY_S: Final = 10.0
_VERBS: Final = ("push", "push_batch", "pop", "pop_batch")


class ProcedureProbes:
    """Choose the procedure probes of a poll and file their results. Belongs to the collector of one connection."""

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._is_supported = statements.has_probe(_READS)
        self._layouts: dict[str, Layout] = {}
        self._tables: dict[int, str] = {}
        # The queue and the verb of each procedure, keyed by the procedure's id.
        self._known: dict[int, tuple[str, str]] = {}
        self._found: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
        self._searched_at = float("-inf")
        self._read_at = float("-inf")
        self._failures: dict[tuple[str, str], ProbeFailure] = {}

    def statements_for_poll(self, now: float, queues: Mapping[str, QueueProbes]) -> list[ProbeStatement]:
        """Return the statements of this poll; empty on other engines. ``now``: our monotonic clock, seconds."""
        if not self._is_supported:
            return []
        layouts = {name: probes.layout for name, probes in queues.items()}
        if layouts != self._layouts:
            self._layouts, self._searched_at = layouts, float("-inf")
            self._found, self._known, self._failures = {}, {}, {}
        asked: list[ProbeStatement] = []
        if now - self._searched_at >= _FIND_EVERY_S:
            self._searched_at = now
            asked += self._statements_to_find(queues)
        elif self._known and now - self._read_at >= _READ_EVERY_S:
            self._read_at = now
            ids = self._statements.engine.ids_value(sorted(self._known))
            asked.append(self._statements.statement_for_target(_READS, {"procedures": ids}))
        return asked

    def _statements_to_find(self, queues: Mapping[str, QueueProbes]) -> list[ProbeStatement]:
        """Return statements that find procedures: by name if qmon installed them, or else by their tables."""
        asked, self._tables = [], {}
        for name, probes in queues.items():
            routines = {verb: probes.layout.routine_for(verb) for verb in _VERBS}
            if any(routines.values()):
                parts = {verb: None if routine is None else routine.parts for verb, routine in routines.items()}
                asked.append(self._statements.statement_for(_NAMED, names=parts, queue=name))
            elif probes.layout.ring is None:
                self._tables[probes.facts.table_id] = name
        if self._tables:
            ids = self._statements.engine.ids_value(list(self._tables))
            asked.append(self._statements.statement_for(_NAMING, {"tables": ids}))
        return asked

    def record_results(
        self, results: Results, failures: Sequence[ProbeFailure]
    ) -> tuple[tuple[ProcedureReads, ...] | None, tuple[ProbeFailure, ...]]:
        """Return the totals of this poll (``None`` if no reading was due), and earlier failures that still hold.

        If no procedure is known, the totals are empty. A failure holds until its probe works. The probe runs so rarely
        that a failure shown in a single poll would be missed.
        """
        now = {(f.queue, f.probe): f for f in failures if f.probe in _PROBES}
        for key, rows in results.items():
            if key[1] not in _PROBES:
                continue
            self._failures.pop(key, None)
            if key[1] == _NAMED:
                self._found[key] = {row.procedure_id: (key[0], row.verb) for row in rows}
            elif key[1] == _NAMING:
                self._found[key] = dict(self._procedures_of_tables(rows))
        self._known = {id: each for found in self._found.values() for id, each in found.items()}
        older = tuple(failure for key, failure in self._failures.items() if key not in now)
        self._failures |= now
        read: Sequence[ReadsSample] | None = results.get(("", _READS))
        if read is None:
            return (None if self._known or not self._layouts else ()), older
        return tuple(
            ProcedureReads(
                *self._known[row.procedure_id], row.procedure_id, row.executions, row.logical_reads, row.plans
            )
            for row in read
            if row.procedure_id in self._known
        ), older

    def _procedures_of_tables(self, rows: Sequence[NamingSample]) -> list[tuple[int, tuple[str, str]]]:
        out = []
        for row in rows:
            queue = self._tables.get(row.table_id)
            layout = self._layouts.get(queue or "")
            if queue is not None and layout is not None:
                out.append((row.procedure_id, (queue, verb_for(layout, row.schema, row.name))))
        return out
