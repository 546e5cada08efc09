"""How plans show payloads: bytes as text where they are text, and covered as configured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.model.layout import TableName
from qmon.model.payloads import readable
from qmon.operate.acting import Desk
from qmon.operate.sql import Sql
from qmon.operate.table import Column

_BYTES: Final = ("bytea", "varbinary", "binary")
"""What the types of bytes begin with."""
Show = Callable[[str | None], str | None]


def shown(desk: Desk, sql: Sql, table: TableName, column: str | None) -> Show:
    """What makes a payload of this column, as the server writes it, fit for a screen; asks for the column's type."""
    found = () if column is None else sql.fetch(Column, "structure", {"table": table.parts})
    binary = any(each.column_name == column and each.type_name.startswith(_BYTES) for each in found)

    def show(payload: str | None) -> str | None:
        text = readable(payload) if binary else payload
        return None if text is None else desk.redact(text)

    return show
