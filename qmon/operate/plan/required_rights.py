"""Checks during planning whether our role has the rights for an action, so that the plan can name missing rights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.layout.layout import Layout, ObjectName
from qmon.operate.context import AccessText, OperatorContext
from qmon.operate.run.running_operation import read_audit_access
from qmon.operate.sql import Sql
from qmon.texts import Text


class RightsText(Text):
    """Texts about rights that our role lacks."""

    MISSING = "your role lacks a right; this helps: {grants}"
    COLUMN = "{column}: {why}"
    NOT_KEEPABLE = "qmon cannot move or save rows of {table} unchanged ({why}); this helps: {helps}"
    MASKED_COPIES = "{table} masks {columns}, but every operator can read the values that qmon saves"
    NO_RECORD = "your role may not record operations in this database; {advice}"


# Privileges that each action needs on the tables of the queue.
REQUEUE_PRIVILEGES: Final = "UPDATE"
PURGE_PRIVILEGES: Final = "DELETE,UPDATE"
PUT_BACK_PRIVILEGES: Final = "INSERT,SELECT"

# PostgreSQL: the system column with the place of a row. Every action reads this column.
_PLACE_COLUMN: Final = "ctid"


@dataclass(frozen=True, slots=True)
class _MissingRight:
    helps: str


@dataclass(frozen=True, slots=True)
class _UnkeptColumn:
    column_name: str
    masked: bool
    why: str
    helps: str


@dataclass(frozen=True, slots=True)
class _MaskedColumn:
    column_name: str


def why_not_permitted(context: OperatorContext, sql: Sql, needed: str = "", *tables: ObjectName | None) -> str | None:
    """Return why the action cannot be applied, or ``None`` if it can be applied. Only reads.

    The reason is that qmon is read-only here, or that our role lacks a right. ``needed``: privileges on each of the
    tables or sequences, separated by commas.
    """
    if context.read_only is not None:
        return context.read_only
    if (why := why_no_record(sql)) is not None:
        return why
    return missing_rights(sql, {table: needed for table in tables if table is not None})


def missing_rights(sql: Sql, needed: Mapping[ObjectName, str]) -> str | None:
    """Return the rights that our role lacks, with the GRANT statements; ``None`` if our role has all rights.

    ``needed``: the privileges on each table or sequence, separated by commas.
    """
    helps = [
        each.helps
        for table, privileges in needed.items()
        for each in sql.fetch(_MissingRight, "rights", {"table": table.parts}, {"needed": privileges})
    ]
    return RightsText.MISSING.render(grants="; ".join(helps)) if helps else None


def why_not_keepable(
    sql: Sql, table: ObjectName, columns: Collection[str | None], shown: Collection[str | None] = ()
) -> str | None:
    """Return why values of these columns cannot be saved unchanged, or ``None`` if they can. Only reads the catalog.

    Values cannot be saved if our role may not read a column, or if the server shows masked values to our role. On SQL
    Server, types that cannot be compared and values encrypted by clients are also reasons. ``shown``: columns that only
    the server searches or copies. For these columns, masks are the only reason.
    """
    found = [
        each
        for each in sql.fetch(_UnkeptColumn, "unkept", {"table": table.parts})
        if each.column_name in columns
        or (columns and each.column_name == _PLACE_COLUMN)
        or (each.masked and each.column_name in shown)
    ]
    if not found:
        return None
    why = "; ".join(dict.fromkeys(RightsText.COLUMN.render(column=each.column_name, why=each.why) for each in found))
    helps = "; ".join(dict.fromkeys(each.helps for each in found))
    return RightsText.NOT_KEEPABLE.render(table=table, why=why, helps=helps)


def masked_columns(sql: Sql, table: ObjectName) -> dict[str, str]:
    """Return the masked columns, each with advice on how to let our role read the column.

    For these columns, the server does not show our role the stored values.
    """
    found = sql.fetch(_UnkeptColumn, "unkept", {"table": table.parts})
    return {each.column_name: each.helps for each in found if each.masked}


def unmasked_copy_risks(sql: Sql, table: ObjectName, columns: Collection[str]) -> tuple[str, ...]:
    """Return a risk if some of these columns have a mask, because the copies in qmon's schema have no mask."""
    name = "action/operate/masked"
    found = sql.fetch(_MaskedColumn, name, {"table": table.parts}) if sql.has_statement(name) else []
    masked = [each.column_name for each in found if each.column_name in columns]
    if not masked:
        return ()
    return (RightsText.MASKED_COPIES.render(table=table, columns=", ".join(masked)),)


def why_no_record(sql: Sql) -> str | None:
    """Return why our role may not record operations; ``None`` if it may, or if this database records no operations."""
    found = read_audit_access(sql)
    if not found.recorded or found.writable:
        return None
    return RightsText.NO_RECORD.render(advice=AccessText.SETUP_ADVICE)


def queue_tables(layout: Layout) -> tuple[ObjectName, ...]:
    """Return the tables that contain a queue's messages."""
    return (layout.table,) if layout.data_table is None else (layout.table, layout.data_table)
