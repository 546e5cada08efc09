"""Tables replaced: another table, or other files, behind the name of a queue than when the catalogue was read, or none
that our role may read.

Dropped and made anew, swapped by renaming, restored, truncated, a partition attached or taken away: what was learnt of
what lay there before says nothing about what lies there now. The probe ``counters`` tells it beside its figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qmon.model.layout.layout import Layout, TableName
from qmon.model.samples.polled import CounterSample
from qmon.monitor.probes.queue import QueueProbes
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache

_LOST = "lost"
_Seen = tuple[tuple[int, str | None, int | None, bool], ...]


@dataclass(frozen=True, slots=True)
class LostSample:
    """One row: a number made of the tables that have certain names, and of what our role may do with them."""

    found: int


class Replaced:
    """What lay behind the names of the queues when they were resolved. Belongs to the thread of the connection."""

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._seen: dict[str, _Seen] = {}
        self._lost: Sequence[TableName] = ()
        self._tried: set[int] = set()
        self._reported = False
        # Of those in the newest poll, the queues whose table is called otherwise now, or closed to our role.
        self.gone: frozenset[str] = frozenset()

    def use(self, queues: Mapping[str, QueueProbes], lost: Sequence[TableName]) -> None:
        """The catalogue was read. ``lost``: tables of queues that cannot be watched."""
        if not lost or set(lost) != set(self._lost):
            self._tried.clear()
        self._lost = lost
        self._seen = {
            name: seen
            for name, seen in self._seen.items()
            if name in queues and [each[0] for each in seen] == list(queues[name].facts.tables)
        }

    def wanted(self) -> list[ProbeStatement]:
        """What to ask about tables that are not there: nothing where all are."""
        if not self._lost or not self._statements.has(_LOST):
            return []
        names = {name for table in self._lost for name in (table.name, table.name.lower())}
        return [self._statements.of(_LOST, LostSample, {"names": self._statements.engine.texts(sorted(names))})]

    def see(self, queues: Mapping[str, QueueProbes], results: Results) -> frozenset[str] | None:
        """The queues that have another table, or other files, than before; ``None``: nothing has changed.

        Empty: something lies now behind the name of a queue that is lost.
        """
        counters: dict[int, CounterSample] = {c.table_id: c for c in results.get(("", "counters"), ())}
        now: dict[str, _Seen] = {}
        for name, probes in queues.items():
            ids = probes.facts.tables
            if all(each in counters for each in ids):
                now[name] = tuple(_seen(counters[each]) for each in ids)
        found = {name for name, seen in now.items() if self._another(queues[name].layout, self._seen.get(name), seen)}
        self.gone = frozenset(name for name, seen in now.items() if self._another(queues[name].layout, None, seen))
        lost = {row.found for row in results.get(("", _LOST), ())} - {0} - self._tried
        if self._reported:  # not twice in a row, so that every other time at the least becomes a poll
            self._reported = False
            self._seen |= {name: seen for name, seen in now.items() if name not in found}
            return None
        self._seen |= now
        self._tried |= lost
        self._reported = bool(found or lost)
        return frozenset(found) if self._reported else None

    @staticmethod
    def _another(layout: Layout, before: _Seen | None, now: _Seen) -> bool:
        if before is not None:
            return now != before
        tables = (layout.table, layout.data_table)
        return not all(t is None or (goes_by(seen[1], t) and seen[3]) for t, seen in zip(tables, now, strict=False))


def _seen(counters: CounterSample) -> tuple[int, str | None, int | None, bool]:
    return counters.table_id, counters.called, counters.files, counters.readable


def goes_by(called: str | None, table: TableName) -> bool:
    """Whether the server's way to write a table's name, quoted or not, with its schema or without, is this name."""
    if called is None:
        return False
    return _bare(called) in (_bare(table.name), _bare(f"{table.schema}.{table.name}"))


def _bare(name: str) -> str:
    return name.replace('"', "")
