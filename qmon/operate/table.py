"""What acting must know of a table: its columns, and what its rows take along when they go."""

from __future__ import annotations

import json
from dataclasses import dataclass

from qmon.errors import BadInput
from qmon.model.layout import TableName
from qmon.operate.sql import Sql


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``generated``: the server computes it; ``lost``: its value cannot be kept (a row version)."""

    column_name: str
    type_name: str
    generated: bool
    lost: bool
    not_null: bool


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of moving rows: ``cascade``, ``refers`` or ``trigger``, and its name."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Structure:
    """A table as acting sees it."""

    table: TableName
    columns: tuple[Column, ...]
    obstacles: tuple[Obstacle, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that the trash keeps, generated ones too."""
        return tuple(each.column_name for each in self.columns if not each.lost)

    @property
    def written(self) -> tuple[str, ...]:
        """The columns that can be written back."""
        return tuple(each.column_name for each in self.columns if not each.lost and not each.generated)

    @property
    def generated(self) -> tuple[str, ...]:
        """The columns that the server computes anew."""
        return tuple(each.column_name for each in self.columns if each.generated or each.lost)

    def takes_null(self, column: str) -> bool:
        """Whether the column may be NULL."""
        return any(each.column_name == column and not each.not_null for each in self.columns)

    def named(self, kind: str) -> tuple[str, ...]:
        """The obstacles of a kind, by name."""
        return tuple(each.name for each in self.obstacles if each.kind == kind)

    def fingerprint(self, columns: tuple[str, ...]) -> str:
        """These columns with their types, as a store remembers them."""
        types = {each.column_name: each.type_name for each in self.columns}
        return json.dumps([[name, types[name]] for name in columns], ensure_ascii=False)


def read_structure(sql: Sql, table: TableName) -> Structure:
    """Read it from the catalogue. Raises ``BadInput`` where it is no table that rows can be moved out of and into."""
    names = {"table": table.parts}
    columns = tuple(sql.fetch(Column, "structure", names))
    if not columns:
        raise BadInput(f"{table} is no table: qmon acts on ordinary and partitioned tables only")
    return Structure(table, columns, tuple(sql.fetch(Obstacle, "obstacles", names)))
