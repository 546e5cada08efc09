"""Read the fragmentation of the queues' indexes, one index at a time, if that is cheap (SQL Server)."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

from qmon.engines.base import Connection, Engine
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.model.formatting import size
from qmon.model.samples.usage_samples import Fragmentation, FragmentSample, TreeSample
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.texts import Text


class FragmentationText(Text):
    """Why the fragmentation of an index is not read."""

    HEAP = "not read, because it would read the whole heap"
    TOO_LARGE = "not read, because the index is larger than {most} (it has {size})"


# Seconds before the first index is read. Short commands end before that.
FIRST_S: Final = 60.0

# Minimum seconds between two indexes of a queue. The pause is longer if an index took long.
EVERY_S: Final = 60.0

# Indexes with more pages (781 MB) are not read. The probe reads the level above the leaves, which may contain an eighth
# of all pages.
MOST_PAGES: Final = 100_000
_NEWEST: Final = (10_000, 0)


@dataclass(slots=True)
class _Round:
    """The state of one queue: the indexes still to be read in this round, and the newest result for each index."""

    left: list[tuple[int, int]] = field(default_factory=list)
    known: dict[tuple[int, int], Fragmentation] = field(default_factory=dict)


class FragmentationReader:
    """The fragmentation read so far. The background reader's thread reads it, and the poll uses the results."""

    def __init__(self, engine: Engine) -> None:
        # Whether this engine has such a probe.
        self.is_supported = queries.has_query(engine.name, "probe/fragmentation", _NEWEST)
        self._rounds: dict[str, _Round] = {}
        self._lock = threading.Lock()

    def retain_only(self, queues: frozenset[str]) -> None:
        """Forget the queues that are not listed."""
        with self._lock:
            self._rounds = {name: found for name, found in self._rounds.items() if name in queues}

    def latest_fragmentation(self) -> tuple[Fragmentation, ...]:
        """Return the result for each index, or the reason why the index was not read."""
        with self._lock:
            return tuple(each for found in self._rounds.values() for each in found.known.values())

    def read_next_index(self, connection: Connection, statements: StatementCache, spec: QueueSpec) -> None:
        """Read the next index of a queue. If no index is left, list the indexes again first.

        Raises the errors of ``Connection.fetch``.
        """
        with self._lock:
            mine = self._rounds.setdefault(spec.layout.queue, _Round())
        if not mine.left:
            tables = (spec.facts.table_id, spec.facts.data_table_id)
            found = [
                each
                for table in tables
                if table is not None
                for each in self._read_trees(connection, statements, table)
            ]
            mine.left = [(each.table_id, each.index_id or 1) for each in found if not each.unread]
            with self._lock:
                was = mine.known
                mine.known = {
                    (each.table_id, each.index_id): each
                    if each.unread
                    else was.get((each.table_id, each.index_id), each)
                    for each in found
                }
        if mine.left:
            table, index = mine.left.pop(0)
            statement = statements.statement_for("fragmentation", {"table_id": table, "index_id": index})
            read = to_records(FragmentSample, connection.fetch(statement.bound))[0]
            key = (table, _index_id(index))
            with self._lock:
                mine.known[key] = Fragmentation(*key, read.read_at, read.fragmented)

    def _read_trees(self, connection: Connection, statements: StatementCache, table: int) -> list[Fragmentation]:
        """Return the indexes of a table. If qmon does not read an index, ``unread`` contains the reason."""
        statement = statements.statement_for("trees", {"table_id": table})
        trees = to_records(TreeSample, connection.fetch(statement.bound))
        return [Fragmentation(table, _index_id(each.index_id), unread=_why_unread(each)) for each in trees]


def _index_id(index: int) -> int:
    """Return the id to report: 0 for the table itself, that is, for a heap or a clustered index."""
    return 0 if index == 1 else index


def _why_unread(tree: TreeSample) -> str:
    if tree.index_id == 0:
        return FragmentationText.HEAP
    if tree.pages > MOST_PAGES:
        most, has = (size(pages * 8192) for pages in (MOST_PAGES, tree.pages))
        return FragmentationText.TOO_LARGE.render(most=most, size=has)
    return ""
