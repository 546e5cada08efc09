"""Find tables that look like queues but are part of another queue, and tables that only seem to belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from qmon.monitor.catalog.catalog import Catalog, ColumnRow, TableDetails, TableRow
from qmon.monitor.catalog.column_names import normalize_name, split_words
from qmon.texts import Text


class RelativeText(Text):
    """Why a table belongs to another one."""

    DETACHED = "perhaps a detached partition of {table}, which has the same columns"


# Tables whose names end in one of these words contain the states of messages. The payloads are in another table.
_HALVES: Final = frozenset({"header", "headers", "info", "meta", "metadata", "state", "states", "status"})


class Relatives:
    """The relations between the tables of a database, from its catalog. Raises the errors of ``Connection.fetch``."""

    def __init__(self, catalog: Catalog, tables: Sequence[TableRow]) -> None:
        self._columns = catalog.read_columns(tables)
        self._tables = {table.table_id: table for table in tables}
        self._parents = catalog.read_parents()
        self._partitioned = {table_id for table_id, _ in catalog.read_partition_columns()} | set(self._parents.values())

    def inherits(self, table_id: int, queues: frozenset[int]) -> bool:
        """Return whether this table inherits from one of ``queues`` (table ids). The parent then includes its rows."""
        return any(parent in queues for parent in ancestors(table_id, self._parents))

    def why_detached(self, table_id: int) -> str:
        """Return why this table may be a detached partition of another table; empty if it cannot be one."""
        if table_id in self._partitioned:
            return ""
        for other in sorted(self._partitioned & self._tables.keys()):
            if self._may_be_detached(table_id, other):
                return RelativeText.DETACHED.render(table=self._tables[other].name)
        return ""

    def _may_be_detached(self, table_id: int, other: int) -> bool:
        """Return whether a table may have been a partition of the table ``other``.

        A partition gets its columns and its sequence from its parent. If the table has no sequence, the names decide.
        """
        own, others = self._columns.get(table_id, ()), self._columns.get(other, ())
        if not own or _signature(own) != _signature(others):
            return False
        own_sequences, sequences = _sequences(own), _sequences(others)
        if own_sequences:
            return own_sequences <= sequences
        return _is_named_after(self._tables[table_id].table_name, self._tables[other].table_name)


def ancestors(table_id: int, parents: Mapping[int, int]) -> Iterator[int]:
    """Yield the tables that a table inherits from, nearest first."""
    seen = {table_id}
    while (parent := parents.get(table_id)) is not None and parent not in seen:
        seen.add(parent)
        yield parent
        table_id = parent


def are_halves(meta: TableDetails, data: TableDetails, key: str) -> bool:
    """Return whether ``data`` holds the payloads of ``meta``, if both tables are joined by the column ``key``.

    A foreign key proves this. Without a foreign key, at most one of the tables may number its own rows. If both tables
    number their rows, equal ids are a coincidence. If the column is just called ``id``, the table names must also
    match.
    """
    one, other = meta.column(key), data.column(key)
    if one is None or other is None or one.type_name != other.type_name:
        return False
    if data.table.table_id in meta.referring or meta.table.table_id in data.referring:
        return True
    if _is_numbered(one) and _is_numbered(other):
        return False
    return normalize_name(key) != "id" or _is_named_after(data.table.table_name, meta.table.table_name)


def _is_numbered(column: ColumnRow) -> bool:
    return column.is_identity or column.sequence_id is not None


def _is_named_after(data: str, meta: str) -> bool:
    stem = split_words(meta)
    stem = stem[:-1] if len(stem) > 1 and stem[-1] in _HALVES else stem
    return split_words(data)[: len(stem)] == stem


def _sequences(columns: Sequence[ColumnRow]) -> frozenset[int]:
    return frozenset(column.sequence_id for column in columns if column.sequence_id is not None)


def _signature(columns: Sequence[ColumnRow]) -> frozenset[tuple[str, str]]:
    return frozenset((column.column_name, column.type_name) for column in columns)
