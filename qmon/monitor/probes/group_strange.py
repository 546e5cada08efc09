"""Messages of a group in no state that is known: counted by queue, with the values of their state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import ALWAYS, NEVER, Condition, Every, OneOf, Some, without_locks
from qmon.model.groups.group import FoundGroup, state_column
from qmon.model.samples.groups import GroupStrangeSample
from qmon.model.samples.polled import StrangeStates
from qmon.monitor.probes.group_steps import GroupStatements
from qmon.monitor.probes.statements import ProbeStatement, Results

_PROBE: Final = "group_strange"
_MOST: Final = 1000
# Rows of a table up to which each row is compared with all states.
_FEW_ROWS: Final = 100_000
# Rows of a table up to which each row's value is compared with the known ones.
_MANY_ROWS: Final = 1_000_000


class StrangeMessages:
    """The messages of one group in no known state. Not thread-safe: one thread polls."""

    def __init__(self, statements: GroupStatements) -> None:
        self._make = statements
        self._group = statements.group
        self._state = state_column(self._group)
        self._rows: tuple[GroupStrangeSample, ...] = ()
        self._read_at = float("-inf")

    def wanted(self, found: FoundGroup, now: float, rest_s: Callable[[tuple[str, str]], float]) -> list[ProbeStatement]:
        """The statement of this poll, if it is due. ``now``: our clock; ``rest_s``: seconds between two of a probe."""
        rows = self._rows_to_read(found)
        if rows is None:
            self._rows = ()
            return []
        if now - self._read_at < rest_s((self._group.name, _PROBE)):
            return []
        where, known = rows
        column = None if self._state is None else self._state[0]
        names: dict[str, Name] = {
            "table": self._group.table.parts,
            "queue": self._make.names.column(self._group.queue),
            "state": self._make.names.column(column),
            "rows": self._make.names.where(where),
            "known": self._make.names.where(known),
        }
        values: dict[str, Value] = {"limit": _MOST}
        which = repr(where)  # its text depends on the labels that an enum has now
        return [replace(self._make.of(_PROBE, which, GroupStrangeSample, values, names), probe=_PROBE)]

    def _rows_to_read(self, found: FoundGroup) -> tuple[Condition, Condition] | None:
        """Which rows to look at, and which of these are in a known state; ``None``: no row can be strange, or the
        table is too large to look."""
        group, rows = self._group, found.rows or 0
        part = group.where or ALWAYS
        if rows <= _FEW_ROWS:
            # Finished messages are the most, and are compared with the fewest states this way.
            states = sorted(group.states, key=lambda state: state.kind != "done")
            return part, Some(tuple(without_locks(state.when) for state in states))
        if self._state is None:
            return None
        column, known = self._state
        if found.labels is not None:
            odd = sorted(found.labels.difference(map(str, known)))
            return (Every((part, OneOf(column, tuple(odd)))), NEVER) if odd else None
        return (Every((part, OneOf(column, known, negated=True))), NEVER) if rows <= _MANY_ROWS else None

    def learn(self, results: Results, now: float) -> frozenset[str | None]:
        """Take in what a poll has found (``now``: our clock); returns the queues that have such messages."""
        found = results.get((self._group.name, _PROBE))
        if found is not None:
            self._rows, self._read_at = found, now
        return frozenset(row.queue for row in self._rows)

    def of(self, queue: str | None) -> StrangeStates | None:
        """The messages of a queue in no known state, if it has any."""
        rows = [row for row in self._rows if row.queue == queue]
        if not rows:
            return None
        column, known = ("", ()) if self._state is None else (self._state[0].name, self._state[1])
        by_value: defaultdict[str, int] = defaultdict(int)
        for row in rows:
            by_value["NULL" if row.value is None else row.value] += row.counted
        odd = [value for value in by_value if column and value not in map(str, known)]
        return StrangeStates(column, tuple(odd), sum(by_value.values()), len(self._rows) >= _MOST)
