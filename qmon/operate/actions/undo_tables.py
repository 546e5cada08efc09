"""Manages the tables with the data for undo: ``trash_N`` for purged rows, ``kept_N`` for old values of requeued rows.

Each queue table has its own undo table. When the columns of the queue table change, the next operation creates a new
undo table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from qmon.engines.base import Value
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.layout_io import table_to_text
from qmon.operate.row_set import texts_for
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure
from qmon.texts import Text


class UndoLossText(Text):
    """Values that an undo of a purge does not restore unchanged."""

    ROW_VERSIONS = "row versions: each message is a new row to the server"
    RECOMPUTED = "recomputed by the server: {columns} of {table}"
    TRIGGERS = "effects of triggers, which fire again: {triggers} on {table}"
    STAY_IN_TRASH = "messages stay in the trash if these triggers change them: {triggers}"


StoreKind = Literal["trash", "kept"]

# Columns of a store in addition to the columns of the queue's table.
OWN_COLUMNS: tuple[str, ...] = ("qmon_operation", "qmon_trashed_at", "qmon_row")


@dataclass(frozen=True, slots=True)
class Store:
    """A table with data for undo."""

    store: int
    kind: str
    about: str
    structure: str
    schema: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The schema and name of the store."""
        return (self.schema, f"{self.kind}_{self.store}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the queue's table that the store contains."""
        return tuple(name for name, _ in json.loads(self.structure))


@dataclass(frozen=True, slots=True)
class _AddedStore:
    store: int


def describe_lost(*structures: TableStructure) -> tuple[str, ...]:
    """Describe values that an undo of a purge would not restore unchanged."""
    out: list[str] = [UndoLossText.ROW_VERSIONS]
    for structure in structures:
        if generated := structure.generated_columns:
            out.append(UndoLossText.RECOMPUTED.render(columns=", ".join(generated), table=structure.table))
        if triggers := structure.obstacle_names("trigger"):
            out.append(UndoLossText.TRIGGERS.render(triggers=", ".join(triggers), table=structure.table))
        if before := structure.obstacle_names("before insert"):
            out.append(UndoLossText.STAY_IN_TRASH.render(triggers=", ".join(before)))
    return tuple(out)


def read_stores(sql: Sql, kind: StoreKind | None = None, table: ObjectName | None = None) -> list[Store]:
    """Return the stores of one table or all tables. Raises ``QueryFailed`` if the database has no qmon schema."""
    about = None if table is None else table_to_text(table)
    return sql.fetch(Store, "stores", {}, {"kind": kind, "about": about})


def find_store(sql: Sql, kind: StoreKind, structure: TableStructure, columns: tuple[str, ...]) -> Store | None:
    """Return the store for these columns of a table as the table is now, or ``None``."""
    wanted = structure.fingerprint(columns)
    return next((each for each in read_stores(sql, kind, structure.table) if each.structure == wanted), None)


def ensure_store(
    sql: Sql, kind: StoreKind, structure: TableStructure, columns: tuple[str, ...], id: str = "qmon_row"
) -> Store:
    """Return the store for these columns. Create it if it is missing. Raises ``PermissionMissing`` or ``QueryFailed``.

    ``id``: the column by which the rows of an operation are found: the row's number or, if messages have rows in two
    tables, the message's id.
    """
    if (found := find_store(sql, kind, structure, columns)) is not None:
        return found
    values: dict[str, Value] = {
        "kind": kind,
        "about": table_to_text(structure.table),
        "structure": structure.fingerprint(columns),
        "columns": texts_for(sql.engine.name, columns),
        "found_by": id,
    }
    with sql.connection.transaction():
        added = sql.fetch(_AddedStore, "make_store", {"table": structure.table.parts}, values)[0].store
        return next(each for each in read_stores(sql, kind, structure.table) if each.store == added)
