"""Identifiers and values that the SQL of a queue's probes may use. ``sql/README.md`` lists them."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.formatting import has_cheap_size
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts

# The purposes of indexes. Statements of SQL Server contain the index for each purpose, such as `{head_index}`.
_SEEKS: Final = ("head", "ready", "walk", "progress", "stuck", "dead", "due", "priority", "states")

# The names of indexes in statements.
INDEX_NAMES: Final = frozenset(f"{seek}_index" for seek in _SEEKS)


def state_values_for(layout: Layout) -> dict[str, Value]:
    """Return the values that the probes of a queue may use."""
    values: dict[str, Value] = {"timeout": layout.timeout_s}
    if layout.state is not None:
        values |= {
            "ready": layout.state.ready,
            "in_progress": layout.state.in_progress,
            "done": layout.state.done,
            "dead": layout.state.dead,
            "known": f"|{'|'.join(map(str, layout.state.values))}|",
        }
    return values


def _has_cheap_payload_size(layout: Layout, facts: TableFacts) -> bool:
    """Return whether the size of a payload can be read without decompressing it (PostgreSQL)."""
    column = facts.column(layout.payload) if layout.payload is not None else None
    return column is not None and has_cheap_size(column.type)


def probe_names_for(layout: Layout, facts: TableFacts) -> dict[str, Name]:
    """Return the identifiers that the probes of a queue may use."""
    names: dict[str, Name] = {
        "table": layout.table.parts,
        "id": facts.column_or_untyped(facts.order_by or layout.id),
        "message_id": layout.id or facts.order_by,
        "called": layout.id_columns or facts.order_by,
        "state": facts.column_or_untyped(layout.state.column if layout.state else None),
        "started_at": layout.time_column(layout.started_at),
        "enqueued_at": layout.time_column(layout.enqueued_at),
        "due_at": layout.time_column(layout.due_at),
        "owner": layout.owner.column if layout.owner else None,
        "attempts": layout.attempts,
        "payload": layout.payload if facts.payload is None else facts.payload,
        "error": facts.column_or_untyped(layout.error),
        "sized": layout.payload if _has_cheap_payload_size(layout, facts) else None,
        "data_table": layout.data_table.parts if layout.data_table else None,
        "data_id": layout.data_id,
        **{f"{seek}_index": facts.index_for(seek) for seek in _SEEKS},
    }
    if layout.ring is not None:
        ring = layout.ring
        names |= {
            "slot": ring.slot,
            "turn": ring.turn,
            "size": ring.size,
            "unread": ring.unread,
            "message_id": ring.message_id,
        }
    return names
