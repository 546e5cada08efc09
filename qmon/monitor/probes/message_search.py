"""The condition of a search: the text of a message's payload or last error contains a text."""

from __future__ import annotations

from qmon.engines.sql.condition_sql import RowCondition
from qmon.model.formatting import holds_bytes
from qmon.model.groups.conditions import AnyOf, ColumnRef, Condition, Contains, Lookup, table_column
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts


def search_condition(layout: Layout, facts: TableFacts, text: str) -> RowCondition:
    """Return the condition on a row of a queue's table. The payload may be in the second table.

    ``layout``: a layout for which ``reason_without_search`` is empty.
    """
    found: list[Condition] = []
    # Lookups use the schema of the group's table.
    schema = layout.table.schema
    if layout.error is not None:
        error = facts.column(layout.error)
        found.append(Contains(ColumnRef(layout.error), text, error is not None and holds_bytes(error.type)))
    if layout.payload is not None:
        second = None
        if layout.data_table is not None and layout.data_id is not None and layout.id is not None:
            second, schema = Lookup(layout.data_table.name, layout.data_id, layout.id), layout.data_table.schema
        is_bytes = facts.payload is not None and holds_bytes(facts.payload.type)
        found.append(Contains(ColumnRef(layout.payload, lookup=second), text, is_bytes))
    rows = Group(layout.queue, ObjectName(schema, layout.table.name), layout.id or "", ())
    return RowCondition(AnyOf(tuple(found)), rows, layout.table.name)


def group_search_condition(group: Group, text: str) -> Condition:
    """Return the condition on a row of a group's table."""
    types = dict(group.types)
    return AnyOf(
        tuple(
            Contains(column, text, holds_bytes(types.get(table_column(column, group.table.name), "")))
            for column in (group.error, group.payload)
            if column is not None
        )
    )
