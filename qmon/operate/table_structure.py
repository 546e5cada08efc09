"""The structure of a table for actions: columns, keys, and obstacles to moving or writing rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from qmon.errors import BadInput
from qmon.model.layout import table_facts
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.message_ids import split_id
from qmon.operate.sql import Sql
from qmon.texts import Text


class StructureText(Text):
    """Why rows of a table cannot be identified or changed."""

    ROWS_HIDDEN = "{why}; the other rows of {table} are neither counted nor changed"
    NO_KEY = "rows of {table} cannot be identified: the table has neither a primary key nor another key"
    LONG_KEY = "the key of {table} has more than {limit} columns"
    COLUMN = "{column} is {type}"
    INEXACT_KEY = "the key of {table} has no exact text form: {columns}"
    CUT_VALUE = "{column} of {table} has a value of {limit:,} characters or more: qmon cannot address this row"
    NOT_A_TABLE = "{table} is not a table: qmon acts on ordinary and partitioned tables only"
    REMOTE_PARTITIONS = (
        "{table} has partitions on another server: {partitions}; qmon cannot change the rows of both servers in one"
        " transaction"
    )


# Prefix of the triggers that pause producers. They do not prevent an undo.
GATE_PREFIX: Final = "qmon_gate"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column.

    ``generated``: the server computes the value. ``lost``: the value cannot be saved, because it is a row version.
    """

    column_name: str
    type_name: str
    generated: bool
    lost: bool
    not_null: bool


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle to moving or writing rows.

    See ``obstacles.sql`` and ``hidden.sql`` in ``actions/operate`` for the kinds.
    """

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class _KeyColumn:
    name: str
    is_primary: bool
    position: int
    column_name: str


@dataclass(frozen=True, slots=True)
class TableStructure:
    """The structure of a table.

    ``keys``: the sets of columns that identify a row. The primary key comes first. The other keys follow, sorted by
    their number of columns.
    """

    table: ObjectName
    columns: tuple[TableColumn, ...]
    obstacles: tuple[Obstacle, ...]
    keys: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row; empty if the table has no key."""
        return self.keys[0] if self.keys else ()

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """The columns that the trash stores, including generated columns."""
        return tuple(each.column_name for each in self.columns if not each.lost)

    @property
    def writable_columns(self) -> tuple[str, ...]:
        """The columns that can be written back."""
        return tuple(each.column_name for each in self.columns if not each.lost and not each.generated)

    @property
    def generated_columns(self) -> tuple[str, ...]:
        """The columns that the server computes again."""
        return tuple(each.column_name for each in self.columns if each.generated or each.lost)

    def may_be_set_null(self, column: str) -> bool:
        """Return whether a statement may write NULL into the column."""
        return any(each.column_name == column and not (each.not_null or each.generated) for each in self.columns)

    def column_type(self, column: str) -> str:
        """Return the column's type as the server names it; empty if the column does not exist."""
        return next((each.type_name for each in self.columns if each.column_name == column), "")

    def typed_column(self, column: str) -> table_facts.Column:
        """Return the column with its type, without the length."""
        return table_facts.Column(column, self.column_type(column).partition("(")[0])

    def is_identified_by(self, columns: Iterable[str]) -> bool:
        """Return whether these columns identify a row."""
        return any(set(key) <= set(columns) for key in self.keys)

    def id_columns(self, layout: Layout) -> tuple[str, ...]:
        """Return the columns that make up a message's id: the layout's id columns if they are unique, else the key."""
        return (
            layout.id_columns
            if not self.keys or (layout.id_columns and self.is_identified_by(layout.id_columns))
            else self.key
        )

    def obstacle_names(self, kind: str) -> tuple[str, ...]:
        """Return the names of the obstacles of this kind, without qmon's own trigger that pauses producers."""
        return tuple(
            each.name for each in self.obstacles if each.kind == kind and not each.name.startswith(GATE_PREFIX)
        )

    @property
    def hidden_rows_notes(self) -> tuple[str, ...]:
        """Notes for the operator about rows that are hidden from our role; empty if no rows are hidden."""
        return tuple(
            StructureText.ROWS_HIDDEN.render(why=why, table=self.table) for why in self.obstacle_names("hidden")
        )

    def fingerprint(self, columns: tuple[str, ...]) -> str:
        """Return these columns with their types as JSON, as the trash stores them."""
        types = {each.column_name: each.type_name for each in self.columns}
        return json.dumps([[name, types[name]] for name in columns], ensure_ascii=False)


# Types of SQL Server whose text converts back to the same value.
_EXACT_TYPES: Final = frozenset(
    {
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "bit",
        "decimal",
        "numeric",
        "char",
        "varchar",
        "nchar",
        "nvarchar",
        "uniqueidentifier",
        "date",
        "time",
        "datetime",
        "smalldatetime",
        "datetime2",
        "datetimeoffset",
    }
)

# Maximum number of key columns in statements for SQL Server.
_MAX_KEY_COLUMNS: Final = 8


def why_no_key(structure: TableStructure) -> str | None:
    """Return why SQL Server cannot find a row of the table by a key, or ``None`` if it can."""
    if not structure.key:
        return StructureText.NO_KEY.render(table=structure.table)
    if len(structure.key) > _MAX_KEY_COLUMNS:
        return StructureText.LONG_KEY.render(table=structure.table, limit=_MAX_KEY_COLUMNS)
    types = {each.column_name: each.type_name.partition("(")[0] for each in structure.columns}
    if others := [
        StructureText.COLUMN.render(column=name, type=types[name])
        for name in structure.key
        if types[name] not in _EXACT_TYPES
    ]:
        return StructureText.INEXACT_KEY.render(table=structure.table, columns=", ".join(others))
    return None


# Maximum number of characters of a key or id column in statements for SQL Server.
MAX_KEY_CHARS: Final = 450


def why_truncated(structure: TableStructure, columns: Sequence[str], texts: Iterable[str]) -> str | None:
    """Return why SQL Server may have truncated one of these keys or ids, or ``None`` if all are complete.

    A truncated key may match another row. ``columns``: the columns of the key or id.
    """
    long = [at for at, column in enumerate(columns) if _max_characters(structure.column_type(column)) > MAX_KEY_CHARS]
    if not long:
        return None
    for text in texts:
        parts = split_id(text, len(columns))
        if found := [columns[at] for at in long if at < len(parts) and len(parts[at]) >= MAX_KEY_CHARS]:
            return StructureText.CUT_VALUE.render(column=found[0], table=structure.table, limit=MAX_KEY_CHARS)
    return None


def _max_characters(type_name: str) -> int:
    """Return how many characters a column of SQL Server may hold; 0 for other types, or if the type has no length."""
    name, _, rest = type_name.partition("(")
    length = rest.partition(",")[0]
    wide = {"char": 1, "varchar": 1, "nchar": 2, "nvarchar": 2}.get(name, 0)
    return int(length) // wide if wide and length.isdecimal() else 0


def read_structure(sql: Sql, table: ObjectName, state: str | None = None) -> TableStructure:
    """Read the structure from the catalog. ``state``: the column that is to be written.

    Raises ``BadInput`` if rows cannot be moved from or to this kind of table.
    """
    names = {"table": table.parts}
    columns = tuple(sql.fetch(TableColumn, "structure", names))
    if not columns:
        raise BadInput(StructureText.NOT_A_TABLE.render(table=table))
    parts = groupby(sql.fetch(_KeyColumn, "keys", names), key=lambda each: (not each.is_primary, each.name))
    keys = [(first, [each.column_name for each in some]) for first, some in parts]
    keys.sort(key=lambda each: (each[0][0], len(each[1]), each[0][1]))
    obstacles = (*sql.fetch(Obstacle, "obstacles", names, {"state": state}), *sql.fetch(Obstacle, "hidden", names))
    if elsewhere := [each.name for each in obstacles if each.kind == "elsewhere"]:
        raise BadInput(StructureText.REMOTE_PARTITIONS.render(table=table, partitions=", ".join(elsewhere)))
    return TableStructure(table, columns, obstacles, tuple(tuple(key) for _, key in keys))
