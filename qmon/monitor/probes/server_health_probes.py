"""Read server health, such as log, tempdb, replicas and limits. Each probe has its own interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Final

from qmon.engines.base import Value
from qmon.model.probe import Scope
from qmon.model.probe_table import PROBES, SETTINGS
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache, first_record

# Seconds between two readings of each probe.
READ_EVERY_S: Final = {name: probe.every_s for name, probe in PROBES.items() if probe.scope is Scope.HEALTH}

# If a value cannot be read again, the old value is shown for this many intervals of its probe.
_STALE: Final = 3.0


class ServerHealthProbes:
    """Choose the server health probes of a poll and store their results. Belongs to one collector.

    An engine, or a version of an engine, may lack some of these probes.
    """

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._supported = [probe for probe in READ_EVERY_S if statements.has_probe(probe)]
        self._asked_at = dict.fromkeys(self._supported, float("-inf"))
        # For each probe, when it was read (server clock, seconds), and its rows.
        self._found: dict[str, tuple[float, tuple[Any, ...]]] = {}
        self._failures: dict[str, ProbeFailure] = {}
        # The tables whose settings were read last.
        self._tables: list[int] = []
        # True if the database shares an elastic pool with other databases.
        self._pooled = False

    def statements_for_poll(self, now: float, tables: Iterable[int] = ()) -> list[ProbeStatement]:
        """Return the statements that are due.

        ``now``: our monotonic clock, seconds; ``tables``: table ids of all queues.

        If the tables change, their settings are read immediately, and the settings of earlier tables are dropped.
        """
        tables = list(tables)
        if tables != self._tables and SETTINGS in self._asked_at:
            self._tables, self._asked_at[SETTINGS] = tables, float("-inf")
            self._found.pop(SETTINGS, None)
        due = [
            probe
            for probe in self._supported
            if now - self._asked_at[probe] >= READ_EVERY_S[probe] and (self._pooled or not PROBES[probe].in_pool)
        ]
        self._asked_at |= dict.fromkeys(due, now)
        about: dict[str, dict[str, Value]] = {}
        if SETTINGS in due and tables:
            about[SETTINGS] = {"tables": self._statements.engine.ids_value(tables)}
        return [self._statements.statement_for_target(probe, about.get(probe)) for probe in due]

    def record_results(
        self, results: Results, failures: Sequence[ProbeFailure], now_at: float
    ) -> tuple[ServerState | None, tuple[ProbeFailure, ...]]:
        """Record the results of a poll; return the current values, and earlier failures that still hold.

        A failure holds until its probe works. The probe runs so rarely that a failure shown in a single poll would be
        missed. ``now_at``: server clock, seconds since the epoch.
        """
        failed = {f.probe: f for f in failures if f.probe in READ_EVERY_S and not f.queue}
        for probe in self._supported:
            rows = results.get(("", probe))
            if rows is not None:
                self._found[probe] = now_at, rows
                self._failures.pop(probe, None)
        service = first_record(results, "service")
        if service is not None:
            self._pooled = service.pooled
        older = tuple(failure for probe, failure in self._failures.items() if probe not in failed)
        self._failures |= failed
        return self._current_health(now_at), older

    def _current_health(self, now_at: float) -> ServerState | None:
        found = {probe: each for probe, each in self._found.items() if now_at - each[0] <= _STALE * READ_EVERY_S[probe]}
        if not found:
            return None
        # A field that may be `None` has the only row of its probe, the others have all rows.
        values: dict[str, Any] = {
            field.name: next(iter(found[field.name][1]), None) if field.default is None else found[field.name][1]
            for field in fields(ServerState)
            if field.name in found
        }
        return ServerState(
            **values,
            read_at={probe: each[0] for probe, each in found.items()},
        )
