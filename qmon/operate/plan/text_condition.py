"""Builds the condition that a message's payload or last error contains a text."""

from __future__ import annotations

from qmon.engines.sql.condition_sql import RowCondition
from qmon.model.formatting import holds_bytes
from qmon.model.groups.conditions import AllOf, ColumnRef, Contains, Lookup
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableColumn, TableStructure


def text_condition_for(sql: Sql, layout: Layout, structure: TableStructure, choice: Choice) -> RowCondition:
    """Return the condition for the texts of the choice. It is true for every row if the choice contains no texts.

    The payload may be in the second table.
    """
    found: list[Contains] = []
    if choice.error is not None and layout.error is not None:
        found.append(Contains(ColumnRef(layout.error), choice.error, holds_bytes(structure.column_type(layout.error))))
    of = layout.table.schema
    if choice.payload is not None and layout.payload is not None:
        second, column = None, structure.column_type(layout.payload)
        if layout.data_table is not None and layout.data_id is not None and layout.id is not None:
            second, of = Lookup(layout.data_table.name, layout.data_id, layout.id), layout.data_table.schema
            column = read_column_type(sql, layout.data_table, layout.payload)
        found.append(Contains(ColumnRef(layout.payload, lookup=second), choice.payload, holds_bytes(column)))
    # lookups use the schema of this table
    rows = Group(layout.queue, ObjectName(of, layout.table.name), layout.id or "", ())
    return RowCondition(AllOf(tuple(found)), rows, layout.table.name)


def read_column_type(sql: Sql, table: ObjectName, column: str | None) -> str:
    """Return the type of a column as the server names it; empty if the column does not exist."""
    found = () if column is None else sql.fetch(TableColumn, "structure", {"table": table.parts})
    return next((each.type_name for each in found if each.column_name == column), "")
