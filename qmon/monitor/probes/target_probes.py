"""Read the probes of the whole target that have an interval, and keep their last rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from typing import Any, Final

from qmon.engines.base import Value
from qmon.model.probe import Probe, Scope
from qmon.model.probe_table import PROBES
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache, first_record

_TIMED: Final[dict[str, Probe]] = {
    name: probe for name, probe in PROBES.items() if probe.scope is Scope.TARGET and probe.every_s
}

# Seconds between two readings of each probe.
READ_EVERY_S: Final = {name: probe.every_s for name, probe in _TIMED.items()}

_NEVER: Final = float("-inf")


class TargetProbes:
    """Choose the target probes that are due, and keep their last rows. Belongs to the collector of one connection.

    An engine, or a version of an engine, may lack some of these probes.
    """

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._supported = [probe for probe in READ_EVERY_S if statements.has_probe(probe)]
        self._asked_at = dict.fromkeys(self._supported, _NEVER)
        # For each probe, when it was read (server clock, seconds), and its rows.
        self._found: dict[str, tuple[float, tuple[Any, ...]]] = {}
        self._failures: dict[str, ProbeFailure] = {}
        # The tables of the last poll.
        self._tables: list[int] = []
        # The values of ``Probe.only_if`` that hold.
        self._conditions: set[str] = set()

    def statements_for_poll(self, now: float, tables: Iterable[int] = ()) -> list[ProbeStatement]:
        """Return the statements that are due.

        ``now``: our monotonic clock, seconds; ``tables``: table ids of all queues.

        If the tables change, probes about tables are read immediately, and the rows of earlier tables are dropped.
        """
        tables = list(tables)
        if tables != self._tables:
            self._tables = tables
            for probe in self._supported:
                if _TIMED[probe].ids == "tables":
                    self.read_again(probe)
                    self._found.pop(probe, None)
        due = [
            probe
            for probe in self._supported
            if now - self._asked_at[probe] >= READ_EVERY_S[probe] and _TIMED[probe].only_if in {"", *self._conditions}
        ]
        self._asked_at |= dict.fromkeys(due, now)
        ids: dict[str, Value] = {"tables": self._statements.engine.ids_value(tables)} if tables else {}
        return [
            self._statements.statement_for_target(each, ids if _TIMED[each].ids == "tables" else {}) for each in due
        ]

    def read_again(self, probe: str) -> None:
        """Read a probe in the next poll."""
        self._asked_at[probe] = _NEVER

    def record_results(
        self, results: Results, failures: Sequence[ProbeFailure], now_at: float
    ) -> tuple[ProbeFailure, ...]:
        """Record the results of a poll, and return earlier failures that still hold.

        A failure holds until its probe works. The probe runs so rarely that a failure shown in a single poll would be
        missed. ``now_at``: server clock, seconds since the epoch.
        """
        failed = {f.probe: f for f in failures if f.probe in READ_EVERY_S and not f.queue}
        for probe in self._supported:
            rows = results.get(("", probe))
            if rows is not None:
                self._found[probe] = now_at, rows
                self._failures.pop(probe, None)
        self._found = {probe: found for probe, found in self._found.items() if now_at - found[0] <= _kept_s(probe)}
        self._record_conditions(results)
        older = tuple(failure for probe, failure in self._failures.items() if probe not in failed)
        self._failures |= failed
        return older

    def _record_conditions(self, results: Results) -> None:
        for condition in {_TIMED[probe].only_if for probe in self._supported} - {""}:
            probe, _, field = condition.partition(".")
            if ("", probe) not in results:
                continue
            first = first_record(results, probe)
            holds = first is not None and (not field or getattr(first, field))
            if not holds:
                self._conditions.discard(condition)
            elif condition not in self._conditions:
                self._conditions.add(condition)
                if not field:  # so that its rows and the rows of the other probes are of the same poll
                    self.read_again(probe)

    def rows(self, probe: str) -> tuple[Any, ...] | None:
        """Return the last rows of a probe; ``None`` if there are none, or if they are too old."""
        return self._found[probe][1] if probe in self._found else None

    def read_at(self, probe: str) -> float:
        """Return when the rows of a probe were read; server clock, seconds since the epoch."""
        return self._found[probe][0]

    def server_state(self) -> ServerState | None:
        """Return the current server health; ``None`` if nothing is known."""
        names: Collection[str] = {field.name for field in fields(ServerState)}
        found = {probe: each for probe, each in self._found.items() if probe in names}
        if not found:
            return None
        # A field that may be `None` has the only row of its probe, the others have all rows.
        values: dict[str, Any] = {
            field.name: next(iter(found[field.name][1]), None) if field.default is None else found[field.name][1]
            for field in fields(ServerState)
            if field.name in found
        }
        return ServerState(**values, read_at={probe: at for probe, (at, _) in found.items()})


def _kept_s(probe: str) -> float:
    """Return for how many seconds the rows of a probe are shown if it cannot be read again."""
    return _TIMED[probe].kept_s or 3.0 * READ_EVERY_S[probe]
