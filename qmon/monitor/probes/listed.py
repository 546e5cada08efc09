"""The rows that the queue screen lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts
from qmon.model.payloads import holds_bytes, readable
from qmon.model.samples.polled import MessageSample


def messages_of(
    layout: Layout, facts: TableFacts, found: Mapping[str, tuple[MessageSample, ...]]
) -> tuple[MessageSample, ...] | None:
    """The rows for the queue screen, if they were asked for; binary payloads as text where they are text."""
    for probe in found:
        if probe.startswith("messages"):
            column = facts.column(layout.payload) if layout.payload is not None else None
            if column is None or not holds_bytes(column.type):
                return found[probe]
            return tuple(replace(m, payload=readable(m.payload)) for m in found[probe])
    return None
