"""Reads the parts of a plan that all actions on messages share: payloads, first rows, estimated time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qmon.errors import QueryFailed
from qmon.model.formatting import decode_hex, has_cheap_size, holds_bytes
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.layout_io import table_to_text
from qmon.model.layout.table_facts import Column
from qmon.model.operation_records import MAX_PLAN_ROWS, OperationKind, PlanRow
from qmon.operate.context import OperatorContext
from qmon.operate.plan.required_rights import masked_columns
from qmon.operate.plan.selection import MessageQuery, Selection, column_names
from qmon.operate.plan.text_condition import read_column_type
from qmon.operate.row_set import marks_for, texts_for
from qmon.operate.run.pacing import REST_FACTOR
from qmon.operate.run.running_operation import read_audit_access
from qmon.operate.sql import Names, Sql, Values
from qmon.texts import Text


class PreviewText(Text):
    """Texts in place of values that a plan cannot show."""

    MASKED = "masked for your role"
    NO_ID = "a message without an id"


ShowPayload = Callable[[str | None], str | None]


def read_sized_column(sql: Sql, table: ObjectName, column: str | None) -> str | None:
    """Return the column if the size of a value can be read without decompressing the value, otherwise ``None``.

    Reads the column's type.
    """
    return column if has_cheap_size(read_column_type(sql, table, column)) else None


def read_typed_column(sql: Sql, table: ObjectName, column: str | None) -> Column | None:
    """Read the column's type, and return the column with its type. The type has no length."""
    return None if column is None else Column(column, read_column_type(sql, table, column).partition("(")[0])


def payload_shower(context: OperatorContext, sql: Sql, table: ObjectName, column: str | None) -> ShowPayload:
    """Return a function that decodes and redacts payloads of this column for a screen.

    The function hides masked values. Reads the column's type.
    """
    if column in masked_columns(sql, table):
        return lambda payload: None if payload is None else PreviewText.MASKED
    binary = holds_bytes(read_column_type(sql, table, column))

    def show(payload: str | None) -> str | None:
        text = decode_hex(payload) if binary else payload
        return None if text is None else context.redact(text)

    return show


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A row of the query ``first``."""

    key: str
    id: str | None
    state: str | None
    age_s: float | None
    owner: str | None
    attempts: int | None
    payload: str | None


@dataclass(frozen=True, slots=True)
class PreviewMessage(PreviewRow):
    """A row of the query ``first`` for a message that is still in its queue."""

    error: str | None


@dataclass(frozen=True, slots=True)
class _Data:
    id: str
    payload: str | None


@dataclass(frozen=True, slots=True)
class _Rate:
    rate: float | None


def read_first_rows(context: OperatorContext, query: MessageQuery, chosen: Selection) -> tuple[PlanRow, ...]:
    """Read the first rows of a plan, in the order of the plan."""
    sql, layout, structure = query.sql, query.layout, query.structure
    marks = chosen.rows.first(MAX_PLAN_ROWS)
    if not marks:
        return ()
    names = column_names(layout, structure, query.criteria.age_column)
    if layout.data_table is None and layout.payload is not None:
        names |= {
            "payload": structure.typed_column(layout.payload),
            "sized": read_sized_column(sql, layout.table, layout.payload),
        }
    names["error"] = None if layout.error is None else structure.typed_column(layout.error)
    given = marks_for(sql.engine.name, marks, structure.key)
    found = {row.key: row for row in sql.fetch(PreviewMessage, "first", names, given)}
    seen = [found[key] for key, _ in marks if key in found]
    ids = tuple(row.id for row in seen if row.id is not None)
    owners = query.owner_states_of(chosen, ids)
    payloads = _read_payloads(sql, layout, ids)
    show = payload_shower(context, sql, layout.data_table or layout.table, layout.payload)
    show_error = (
        context.redact if layout.error not in masked_columns(sql, layout.table) else lambda _: PreviewText.MASKED
    )
    states = (
        {}
        if layout.state is None
        else {
            str(value): name
            for name in ("ready", "in_progress", "done", "dead")
            if (value := getattr(layout.state, name)) is not None
        }
    )
    out = []
    for row in seen:
        payload = payloads.get(row.id or "") if payloads is not None else row.payload
        state = "ready" if row.state is None else states.get(row.state, row.state)
        owner_state = owners[row.key] if row.key in owners else next(iter(chosen.owner_states))
        error = None if row.error is None else show_error(row.error)
        out.append(PlanRow(row.id or "", state, row.age_s, row.owner, owner_state, row.attempts, show(payload), error))
    return tuple(out)


def read_message_name(sql: Sql, names: Names, values: Values) -> str:
    """Return the name of a message, or a note that the message has no id or no longer exists."""
    return next(iter(read_ids(sql, names, values)), PreviewText.NO_ID)


def read_ids(sql: Sql, names: Names, values: Values) -> list[str]:
    """Read the ids of messages without their other columns."""
    unread: Names = {**names, "payload": None, "sized": None, "error": None}
    return [row.id for row in sql.fetch(PreviewMessage, "first", unread, values) if row.id]


def _read_payloads(sql: Sql, layout: Layout, ids: tuple[str, ...]) -> dict[str, str | None] | None:
    if layout.data_table is None or layout.data_id is None or layout.payload is None:
        return None
    names = {
        "data_table": layout.data_table.parts,
        "data_id": layout.data_id,
        "payload": read_typed_column(sql, layout.data_table, layout.payload),
        "sized": read_sized_column(sql, layout.data_table, layout.payload),
    }
    found = sql.fetch(_Data, "first_data", names, {"ids": texts_for(sql.engine.name, ids)})
    return {row.id: row.payload for row in found}


def estimate_seconds(sql: Sql, kind: OperationKind, layout: Layout, count: int) -> float | None:
    """Estimate the seconds for ``count`` messages from earlier operations of this kind; ``None`` if unknown."""
    try:
        if not read_audit_access(sql).recorded:
            return None
        values = {"kind": str(kind), "about": table_to_text(layout.table)}
        rate = sql.fetch(_Rate, "rate", {}, values)[0].rate
    except QueryFailed:
        return None
    return None if not rate else count / rate * (1 + REST_FACTOR)
