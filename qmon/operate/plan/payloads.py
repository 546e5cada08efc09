"""How plans show payloads: bytes as text where they are text, and covered as configured."""

from __future__ import annotations

from collections.abc import Callable

from qmon.model.layout.layout import TableName
from qmon.model.text import holds_bytes, readable, tells_size
from qmon.operate.context import OperatorContext
from qmon.operate.sql import Sql
from qmon.operate.table import TableColumn

Show = Callable[[str | None], str | None]


def sized(sql: Sql, table: TableName, column: str | None) -> str | None:
    """The column, where its type tells the size of a payload without unpacking it; asks for the column's type."""
    return column if tells_size(_type(sql, table, column)) else None


def shown(context: OperatorContext, sql: Sql, table: TableName, column: str | None) -> Show:
    """What makes a payload of this column, as the server writes it, fit for a screen; asks for the column's type."""
    binary = holds_bytes(_type(sql, table, column))

    def show(payload: str | None) -> str | None:
        text = readable(payload) if binary else payload
        return None if text is None else context.redact(text)

    return show


def _type(sql: Sql, table: TableName, column: str | None) -> str:
    found = () if column is None else sql.fetch(TableColumn, "structure", {"table": table.parts})
    return next((each.type_name for each in found if each.column_name == column), "")
