"""The tables that keep what an undo needs: ``trash_N`` for purged rows, ``kept_N`` for what requeues change.

One for each queue table and structure: when the table's columns change, the next operation gets a new one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from qmon.engines.base import Value
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import TableName
from qmon.operate.row_set import texts_for
from qmon.operate.sql import Sql
from qmon.operate.table import Structure

StoreKind = Literal["trash", "kept"]
# Columns that a store has besides those of the table.
OWN: tuple[str, ...] = ("qmon_operation", "qmon_trashed_at", "qmon_row")


@dataclass(frozen=True, slots=True)
class Store:
    """One of these tables."""

    store: int
    kind: str
    about: str
    structure: str
    schema: str

    @property
    def parts(self) -> tuple[str, ...]:
        """Its name, in parts to quote."""
        return (self.schema, f"{self.kind}_{self.store}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it keeps."""
        return tuple(name for name, _ in json.loads(self.structure))


@dataclass(frozen=True, slots=True)
class _Added:
    store: int


def lost(*structures: Structure) -> tuple[str, ...]:
    """Values that an undo of a purge would not bring back as they were."""
    out = ["row versions: each message is a new row to the server"]
    for structure in structures:
        if generated := structure.generated:
            out.append(f"computed anew by the server: {', '.join(generated)} of {structure.table}")
        if triggers := structure.named("trigger"):
            out.append(f"what triggers did, and do again: {', '.join(triggers)} on {structure.table}")
        if before := structure.named("before insert"):
            out.append(f"what these triggers write otherwise stays in the trash: {', '.join(before)}")
    return tuple(out)


def stores(sql: Sql, kind: StoreKind | None = None, table: TableName | None = None) -> list[Store]:
    """Those there are, for one table or all. Raises ``QueryFailed`` where qmon has no schema."""
    about = None if table is None else table_to_text(table)
    return sql.fetch(Store, "stores", {}, {"kind": kind, "about": about})


def find(sql: Sql, kind: StoreKind, structure: Structure, columns: tuple[str, ...]) -> Store | None:
    """The store for these columns of a table as it is now, if there is one."""
    wanted = structure.fingerprint(columns)
    return next((each for each in stores(sql, kind, structure.table) if each.structure == wanted), None)


def ensure(sql: Sql, kind: StoreKind, structure: Structure, columns: tuple[str, ...], id: str = "qmon_row") -> Store:
    """The store for these columns, made where it is missing. Raises ``PermissionMissing`` or ``QueryFailed``.

    ``id``: the column by which the rows of an operation are found: their own number, or the id of split messages.
    """
    if (found := find(sql, kind, structure, columns)) is not None:
        return found
    values: dict[str, Value] = {
        "kind": kind,
        "about": table_to_text(structure.table),
        "structure": structure.fingerprint(columns),
        "columns": texts_for(sql.engine.name, columns),
        "found_by": id,
    }
    with sql.connection.transaction():
        added = sql.fetch(_Added, "make_store", {"table": structure.table.parts}, values)[0].store
        return next(each for each in stores(sql, kind, structure.table) if each.store == added)
