"""Read the server's catalog as records: tables, columns, indexes, foreign keys, statistics. No user rows are read."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Final, TypeVar

from qmon.engines.base import Bound, Connection, Engine, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import PermissionMissing, QueryFailed, StatementStopped
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.table_facts import Column
from qmon.model.samples.polled_samples import PartialSample
from qmon.model.waits.lock_holders import PROBE, LockHolderSample
from qmon.monitor.catalog.predicate import Condition, parse_index_condition

Record = TypeVar("Record")

# Tables per statement.
_CHUNK: Final = 500

# Maximum number of tables that are read one by one.
_MAX_SINGLE_READS: Final = 200

# If at least this share of the inserted rows was deleted, qmon assumes that rows of the table are usually deleted.
_DELETED_SHARE: Final = 0.3

# Suffix of a simpler statement, which returns less, for servers that cannot run the full statement.
_PLAIN_SUFFIX: Final = "_plain"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table. ``visible``: the name without a schema means this table. ``pages``: its size in pages of 8 kB."""

    table_id: int
    table_schema: str
    table_name: str
    visible: bool
    readable: bool
    estimated_rows: int | None
    pages: int

    @property
    def name(self) -> ObjectName:
        """Schema and name."""
        return ObjectName(self.table_schema, self.table_name)


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """A sequence. ``readable``: our role may read its position. ``owned``: it belongs to a column."""

    sequence_id: int
    sequence_schema: str
    sequence_name: str
    readable: bool
    owned: bool

    @property
    def name(self) -> ObjectName:
        """Schema and name."""
        return ObjectName(self.sequence_schema, self.sequence_name)


class SequenceRows(tuple[SequenceRow, ...]):
    """Sequences. Each queue finds its own by name, without a search through those of the other queues."""

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[SequenceRow]]:
        found: dict[str, list[SequenceRow]] = {}
        for each in self:
            found.setdefault(each.sequence_name, []).append(each)
        return found

    @cached_property
    def _unowned_by_schema(self) -> Mapping[str, Sequence[SequenceRow]]:
        found: dict[str, list[SequenceRow]] = {}
        for each in self:
            if not each.owned:
                found.setdefault(each.sequence_schema, []).append(each)
        return found

    def unowned_in(self, schema: str) -> Sequence[SequenceRow]:
        """Return the sequences of a schema that no column owns."""
        return self._unowned_by_schema.get(schema, ())

    def find(self, name: ObjectName) -> SequenceRow | None:
        """Return the sequence of that name. Without a schema, the name must be unique."""
        found = [s for s in self._by_name.get(name.name, ()) if name.schema in ("", s.sequence_schema)]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column and the sequence that fills it, if any."""

    table_id: int
    column_name: str
    type_name: str
    not_null: bool
    sequence_id: int | None
    sequence_schema: str | None
    sequence_name: str | None
    is_identity: bool

    @property
    def for_facts(self) -> Column:
        """The column in the form of ``TableFacts``."""
        return Column(self.column_name, self.type_name, self.not_null)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One key column of one index."""

    table_id: int
    index_name: str
    is_unique: bool
    is_primary: bool
    is_partial: bool
    is_ordered: bool
    position: int
    column_name: str | None
    predicate: str | None


@dataclass(frozen=True, slots=True)
class ValuesRow:
    """Known values of a column.

    ``known``: a JSON array (origins ``enum`` and ``statistics``) or an expression (origins ``check`` and ``default``).
    """

    table_id: int
    column_name: str
    origin: str
    known: str


@dataclass(frozen=True, slots=True)
class Activity:
    """Rows inserted, updated and deleted since the counters were reset, and the estimated number of live rows."""

    table_id: int
    inserted: int
    updated: int
    deleted: int
    live: int

    @property
    def rows_are_deleted(self) -> bool:
        """Whether many of the inserted rows are deleted, as in a queue that deletes finished messages."""
        return self.deleted > 0 and self.deleted >= _DELETED_SHARE * self.inserted


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A column of a foreign key."""

    table_id: int
    referred_id: int
    column_name: str


@dataclass(frozen=True, slots=True)
class PartitionColumnRow:
    """A column that decides in which partition a row of the table is stored."""

    table_id: int
    column_name: str


@dataclass(frozen=True, slots=True)
class InheritedRow:
    """A table that inherits from another table."""

    table_id: int
    parent_id: int


@dataclass(frozen=True, slots=True)
class RoleRow:
    """Our role and the database."""

    role: str
    database: str


@dataclass(frozen=True, slots=True)
class Index:
    """An index. ``keys``: its columns, ``None`` for an expression. ``where``: the condition of a partial index.

    ``whole``: the index is unique and contains every row. ``ordered``: the rows can be read in the order of ``keys``.
    This is impossible if the index is partitioned by another column (SQL Server).
    """

    name: str
    unique: bool
    primary: bool
    keys: tuple[str | None, ...]
    where: Condition | None = None
    whole: bool = False
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class TableDetails:
    """A table with everything that the catalog contains about it.

    ``referring`` and ``referred``: ids of tables. ``foreign_columns``: the columns of its foreign keys.
    """

    table: TableRow
    columns: tuple[ColumnRow, ...]
    indexes: tuple[Index, ...] = ()
    values: tuple[ValuesRow, ...] = ()
    activity: Activity | None = None
    referring: frozenset[int] = field(default_factory=frozenset)
    referred: frozenset[int] = field(default_factory=frozenset)
    foreign_columns: frozenset[str] = field(default_factory=frozenset)

    @property
    def facts_columns(self) -> tuple[Column, ...]:
        """The columns in the form of ``TableFacts``."""
        return tuple(column.for_facts for column in self.columns)

    @property
    def ordered_indexes(self) -> tuple[Index, ...]:
        """The indexes whose rows can be read in the order of their keys."""
        return tuple(index for index in self.indexes if index.ordered)

    @property
    def primary(self) -> Index | None:
        """The primary key."""
        return next((index for index in self.indexes if index.primary), None)

    def column(self, name: str | None) -> ColumnRow | None:
        """Return the column with exactly this name, or ``None``."""
        return next((c for c in self.columns if c.column_name == name), None)


class Catalog:
    """Read the catalog over one connection. Every method raises the errors of ``Connection.fetch``."""

    def __init__(self, connection: Connection, engine: Engine) -> None:
        self.connection = connection
        self.engine = engine
        self._role = ""
        self._columns: dict[int, tuple[ColumnRow, ...]] = {}
        # Tables that could not be read completely because of a lock that blocks even readers.
        self.locked_tables: set[int] = set()
        self._masked: dict[int, frozenset[str | None]] = {}

    def read_records(
        self, kind: type[Record], name: str, names: Mapping[str, queries.Name] | None = None, **values: Value
    ) -> list[Record]:
        """Run one statement of ``sql/<engine>/catalog`` or ``control``; return one record per row."""
        query = queries.load_query(self.engine.name, name, self.connection.version)
        statement = queries.render(query, names or {}, self.engine)
        return to_records(kind, self.connection.fetch(Bound(statement, values)))

    def read_lock_holders(self) -> dict[int, str]:
        """Return, for each table id, a line about the session that locks the table. Empty if locks cannot be read."""
        if not self.locked_tables or not queries.has_query(self.engine.name, f"probe/{PROBE}", self.connection.version):
            return {}
        tables = self.engine.ids_value(sorted(self.locked_tables))
        try:
            found = self.read_records(LockHolderSample, f"probe/{PROBE}", tables=tables)
        except QueryFailed:  # our role may not see locks
            return {}
        return {holder.table_id: holder.summary for holder in found}

    def is_masked(self, table: TableRow, column: str) -> bool:
        """Return whether the server masks a column for our role, that is, returns other values than it stores."""
        if table.table_id not in self._masked:
            self._read_masks([table])
        return column in self._masked.get(table.table_id, ())

    def prefetch_masks(self, tables: Sequence[TableRow]) -> None:
        """Read the masked columns of all these tables at once, if possible."""
        for some in _chunks(tables):
            with contextlib.suppress(QueryFailed):  # then they are read for each table
                self._read_masks(some)

    def _read_masks(self, tables: Sequence[TableRow]) -> None:
        name = "probe/partial"
        if not queries.has_query(self.engine.name, name, self.connection.version):
            return
        ids = self.engine.ids_value([table.table_id for table in tables])
        found = _group_by_table(self.read_records(PartialSample, name, tables=ids))
        for table in tables:
            self._masked[table.table_id] = frozenset(each.column_name for each in found[table.table_id])

    def grant_statement(self, table: ObjectName) -> str:
        """Return a GRANT on one line that lets our role read the table. qmon does not run this statement."""
        if not self._role:
            self._role = self.read_records(RoleRow, "catalog/role")[0].role
        query = queries.load_query(self.engine.name, "control/grant_table", self.connection.version)
        names = {"table": table.parts, "schema": (table.schema,), "role": (self._role,)}
        wanted = {name: parts for name, parts in names.items() if name in query.names}
        return " ".join(queries.render(query, wanted, self.engine).text.splitlines()[1:])

    def read_records_for(self, kind: type[Record], name: str, tables: Sequence[TableRow]) -> list[Record]:
        """Run a statement about these tables. If the server cannot run it, run its plain form for each table."""
        try:
            return self.read_records(kind, name, tables=_joined_ids(tables))
        except QueryFailed as problem:
            if not self._has_plain(name, problem):
                raise
        plain = name + _PLAIN_SUFFIX
        return [
            row
            for table in tables[:_MAX_SINGLE_READS]
            for row in self.read_records(kind, plain, table_id=table.table_id)
        ]

    def _has_plain(self, name: str, problem: QueryFailed) -> bool:
        if isinstance(problem, PermissionMissing | StatementStopped):
            return False
        return queries.has_query(self.engine.name, name + _PLAIN_SUFFIX, self.connection.version)

    def read_tables(self) -> list[TableRow]:
        """Return every user table, without sizes if the server does not report them."""
        try:
            return self.read_records(TableRow, "catalog/tables")
        except QueryFailed as problem:
            if not self._has_plain("catalog/tables", problem):
                raise
        return self.read_records(TableRow, "catalog/tables" + _PLAIN_SUFFIX)

    def read_sequences(self) -> SequenceRows:
        """Return every user sequence. Identity columns of SQL Server have none."""
        return SequenceRows(self.read_records(SequenceRow, "catalog/sequences"))

    def read_partition_columns(self) -> frozenset[tuple[int, str]]:
        """Return pairs of table id and partitioning column; empty if they cannot be read."""
        try:
            return frozenset(
                (row.table_id, row.column_name) for row in self.read_records(PartitionColumnRow, "catalog/divided")
            )
        except QueryFailed:
            return frozenset()

    def read_parents(self) -> dict[int, int]:
        """Return the parent of each inherited table, keyed by table id; empty on engines without inheritance.

        Partitions are not included.
        """
        if not queries.has_query(self.engine.name, "catalog/inherited", self.connection.version):
            return {}
        return {row.table_id: row.parent_id for row in self.read_records(InheritedRow, "catalog/inherited")}

    def read_columns(self, tables: Sequence[TableRow]) -> dict[int, tuple[ColumnRow, ...]]:
        """Return the columns of these tables, keyed by table id. Each table is read only once."""
        for some in _chunks([table for table in tables if table.table_id not in self._columns]):
            found = _group_by_table(self.read_records_for(ColumnRow, "catalog/columns", some))
            self._columns |= {table.table_id: tuple(found[table.table_id]) for table in some}
        return {table.table_id: self._columns[table.table_id] for table in tables if self._columns.get(table.table_id)}

    def read_activity(self, tables: Sequence[TableRow]) -> dict[int, Activity]:
        """Return the counters of these tables, keyed by table id; empty if our role may not see them."""
        return {row.table_id: row for some in _chunks(tables) for row in self._read_activity_of(some)}

    def read_details(self, tables: Sequence[TableRow]) -> dict[int, TableDetails]:
        """Return everything that the catalog contains about these tables, keyed by table id.

        If a statement for indexes, values, counters or foreign keys fails, that part of the details stays empty.
        """
        out: dict[int, TableDetails] = {}
        for some in _chunks(tables):
            columns = _group_by_table(self.read_records_for(ColumnRow, "catalog/columns", some))
            indexes = _group_by_table(self._read_optional(IndexRow, "catalog/indexes", some))
            values = _group_by_table(self._read_optional(ValuesRow, "catalog/values", some))
            activity = {row.table_id: row for row in self._read_activity_of(some)}
            keys = self._read_optional(ReferenceRow, "catalog/references", some)
            for table in some:
                here = table.table_id
                if any(row.is_partial and row.predicate is None for row in indexes[here]):
                    self.locked_tables.add(here)
                out[here] = TableDetails(
                    table,
                    tuple(columns[here]),
                    tuple(_to_indexes(indexes[here], self.engine.name == "sqlserver")),
                    tuple(values[here]),
                    activity.get(here),
                    frozenset(k.table_id for k in keys if k.referred_id == here and k.table_id != here),
                    frozenset(k.referred_id for k in keys if k.table_id == here and k.referred_id != here),
                    frozenset(k.column_name for k in keys if k.table_id == here),
                )
        return out

    def _read_activity_of(self, tables: Sequence[TableRow]) -> list[Activity]:
        """Read the counters of all tables at once.

        If the server reports counters table by table, read only the first ``_MAX_SINGLE_READS`` tables.
        """
        if "tables" in queries.load_query(self.engine.name, "catalog/activity", self.connection.version).parameters:
            return self._read_optional(Activity, "catalog/activity", tables)
        found: list[Activity] = []
        try:
            for table in tables[:_MAX_SINGLE_READS]:
                found += self.read_records(Activity, "catalog/activity", table_id=table.table_id)
        except QueryFailed:
            return found
        return found

    def _read_optional(self, kind: type[Record], name: str, tables: Sequence[TableRow]) -> list[Record]:
        try:
            return self.read_records_for(kind, name, tables)
        except QueryFailed:
            return []


def _chunks(tables: Sequence[TableRow]) -> Iterator[Sequence[TableRow]]:
    for start in range(0, len(tables), _CHUNK):
        yield tables[start : start + _CHUNK]


def _joined_ids(tables: Sequence[TableRow]) -> str:
    return ",".join(str(table.table_id) for table in tables)


def _group_by_table(rows: Sequence[Record]) -> defaultdict[int, list[Record]]:
    out: defaultdict[int, list[Record]] = defaultdict(list)
    for row in rows:
        out[row.table_id].append(row)  # type: ignore[attr-defined]
    return out


def _to_indexes(rows: Sequence[IndexRow], brackets: bool) -> Iterator[Index]:
    for name, group in groupby(rows, key=lambda row: row.index_name):
        keys = sorted(group, key=lambda row: row.position)
        first = keys[0]
        where = parse_index_condition(first.predicate, brackets=brackets) if first.is_partial else None
        yield Index(
            name,
            first.is_unique,
            first.is_primary,
            tuple(key.column_name for key in keys),
            where,
            first.is_unique and not first.is_partial,
            first.is_ordered,
        )
