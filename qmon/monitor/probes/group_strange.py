"""Count a group's messages in unknown states, by queue and state value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import ALWAYS, NEVER, AllOf, AnyOf, Condition, OneOf, without_locks
from qmon.model.groups.group import ResolvedGroup, find_state_column
from qmon.model.samples.group_samples import GroupStrangeSample
from qmon.model.samples.polled_samples import StrangeStates
from qmon.monitor.probes.group_steps import GroupStatements
from qmon.monitor.probes.probe_statements import ProbeStatement, Results

_PROBE: Final = "group_strange"
_MOST: Final = 1000

# In tables of up to this many rows, each row is compared with all states.
FEW_ROWS: Final = 100_000

# In tables of up to this many rows, each row's state value is compared with the known values.
_MANY_ROWS: Final = 1_000_000


class StrangeMessages:
    """The messages of one group in unknown states. Not thread-safe."""

    def __init__(self, statements: GroupStatements) -> None:
        self._statements = statements
        self._group = statements.group
        self._state = find_state_column(self._group)
        self._rows: tuple[GroupStrangeSample, ...] = ()
        self._read_at = float("-inf")
        # When the rows were read, if not in this poll: server clock, seconds.
        self.searched_at: float | None = None
        self._server_read_at: float | None = None
        # Seconds between two readings.
        self.every_s = 0.0

    def statements_for_poll(
        self, resolved: ResolvedGroup, now: float, rest_s: Callable[[tuple[str, str]], float]
    ) -> list[ProbeStatement]:
        """Return the statement of this poll, if it is due.

        ``now``: our clock, seconds. ``rest_s``: returns the seconds between two readings of a probe.
        """
        rows = self._rows_to_read(resolved)
        if rows is None:
            self._rows, self._server_read_at = (), None
            return []
        self.every_s = rest_s((self._group.name, _PROBE))
        if now - self._read_at < self.every_s:
            return []
        where, known = rows
        column = None if self._state is None else self._state[0]
        names: dict[str, Name] = {
            "table": self._group.table.parts,
            "queue": self._statements.names.column(self._group.queue),
            "state": self._statements.names.column(column),
            "rows": self._statements.names.condition(where),
            "known": self._statements.names.condition(known),
        }
        values: dict[str, Value] = {"limit": _MOST}
        which = repr(where)  # the condition depends on the current labels of an enum
        return [replace(self._statements.statement_for(_PROBE, which, values, names), probe=_PROBE)]

    def _rows_to_read(self, resolved: ResolvedGroup) -> tuple[Condition, Condition] | None:
        """Return the condition for the rows to read, and the condition for rows in a known state.

        Returns ``None`` if no row can be in an unknown state, or if the table is too large.
        """
        group, rows = self._group, resolved.rows or 0
        part = group.where or ALWAYS
        if rows <= FEW_ROWS:
            # Most messages are finished. If finished states come first, most rows need only a few comparisons.
            states = sorted(group.states, key=lambda state: state.kind != "done")
            return part, AnyOf(tuple(without_locks(state.when) for state in states))
        if self._state is None:
            return None
        column, known = self._state
        if resolved.labels is not None:
            odd = sorted(resolved.labels.difference(map(str, known)))
            return (AllOf((part, OneOf(column, tuple(odd)))), NEVER) if odd else None
        return (AllOf((part, OneOf(column, known, negated=True))), NEVER) if rows <= _MANY_ROWS else None

    def record_results(self, results: Results, now: float, server_at: float) -> frozenset[str | None]:
        """Record the results of a poll, and return the queues with messages in unknown states.

        ``now``: our clock; ``server_at``: server clock; both in seconds.
        """
        found = results.get((self._group.name, _PROBE))
        self.searched_at = self._server_read_at if found is None else None
        if found is not None:
            self._rows, self._read_at, self._server_read_at = found, now, server_at
        return frozenset(row.queue for row in self._rows)

    def strange_states_for(self, queue: str | None) -> StrangeStates | None:
        """Return the messages of a queue in unknown states, if it has any."""
        rows = [row for row in self._rows if row.queue == queue]
        if not rows:
            return None
        column, known = ("", ()) if self._state is None else (self._state[0].name, self._state[1])
        by_value: defaultdict[str, int] = defaultdict(int)
        for row in rows:
            by_value["NULL" if row.value is None else row.value] += row.counted
        odd = [value for value in by_value if column and value not in map(str, known)]
        counted, capped = sum(by_value.values()), len(self._rows) >= _MOST
        return StrangeStates(column, tuple(odd), counted, capped, configurable=not self._group.library)
