"""Detects that a table was rewritten, replaced or altered since an action was planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qmon.engines.base import Value
from qmon.engines.postgres.arrays import array_literal
from qmon.errors import QmonError
from qmon.model.layout.layout import ObjectName
from qmon.operate.row_set import Mark
from qmon.operate.sql import Sql
from qmon.texts import Text


class TableChange(Text):
    """Why the table is no longer the table of the plan."""

    GONE = "{table} no longer exists; plan again"
    OTHER_TABLE = "{table} is no longer the table of the plan; plan again"
    REWRITTEN = "rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, or moved)"
    MOVED = "{table} was {why} since the plan, so its rows have moved; plan again"
    STRUCTURE = "columns, triggers, foreign keys, rules or policies"
    ALTERED = "{table} was altered since the plan ({why}); plan again"


class TableChanged(QmonError):
    """Raised when the table is no longer the table of the plan. The batch was rolled back."""


@dataclass(frozen=True, slots=True)
class _Part:
    part: str
    file: str | None
    shape: str | None


@dataclass(frozen=True, slots=True)
class TableIdentity:
    """A table and its partitions at the time of the plan."""

    table: ObjectName
    parts: dict[str, _Part]

    def check_unchanged(self, sql: Sql, marks: Iterable[Mark] = ()) -> None:
        """Raise ``TableChanged`` if the table, or a partition that contains these rows, has changed.

        Call this method in a batch after the last statement. From then on, the locks of the batch prevent changes.
        """
        parts = {key.partition("(")[0] for key, _ in marks if "(" in key}
        now = {each.part: each for each in _read_parts(sql, self.table, parts)}
        if not now:
            raise TableChanged(TableChange.GONE.render(table=self.table))
        for part, seen in now.items():
            before = self.parts.get(part)
            if before is None:
                raise TableChanged(TableChange.OTHER_TABLE.render(table=self.table))
            if before.file != seen.file:
                why = TableChange.REWRITTEN
                raise TableChanged(TableChange.MOVED.render(table=self.table, why=why))
            if before.shape != seen.shape:
                why = TableChange.STRUCTURE
                raise TableChanged(TableChange.ALTERED.render(table=self.table, why=why))


def read_table_identity(sql: Sql, table: ObjectName) -> TableIdentity:
    """Read the current identity of the table."""
    return TableIdentity(table, {each.part: each for each in _read_parts(sql, table, None)})


def _read_parts(sql: Sql, table: ObjectName, parts: Iterable[str] | None) -> list[_Part]:
    values: dict[str, Value] = {"all": parts is None, "parts": array_literal(sorted(parts or ()))}
    return sql.fetch(_Part, "place", {"table": table.parts}, values)
