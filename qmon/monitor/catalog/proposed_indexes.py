"""Propose indexes for figures that currently need table scans. qmon never creates these indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Engine
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout, StateValue
from qmon.model.layout.table_facts import TableFacts
from qmon.monitor.catalog.column_names import BOOLEAN_TYPES, RANDOM_ID_TYPES, WHOLE_TYPES

_ONE_BYTE: Final = frozenset({"varchar", "char"})
_LONGEST: Final = 128


@dataclass(frozen=True, slots=True)
class ProposedIndex:
    """A proposed index, the figures that it makes exact and cheap, and the statement that creates it."""

    figures: tuple[str, ...]
    statement: str


def propose_indexes(
    layout: Layout, facts: TableFacts, engine: Engine, *, partitioned: bool = False
) -> list[ProposedIndex]:
    """Return one index for each group of figures without an index, if an index would help.

    On a partitioned table of SQL Server, a new index is partitioned like the table. An index that is not partitioned
    would prevent SWITCH. Therefore, an index is proposed only if its first column is the partitioning column.
    """
    found = []
    for figures, column, value in _missing_indexes(layout, facts):
        if facts.divided_by and column not in facts.divided_by:
            continue
        text = _create_statement(layout, facts, engine, (column, value, figures[0]))
        # PostgreSQL cannot create an index concurrently on a partitioned table.
        if partitioned and engine.name == "postgres":
            text = "CREATE INDEX " + text.removeprefix("CREATE INDEX CONCURRENTLY ")
        # Filtered indexes need this setting, but sqlcmd turns it off (error 1934).
        if value is not None and engine.name == "sqlserver":
            text = f"SET QUOTED_IDENTIFIER ON; {text}"
        found.append(ProposedIndex(figures, text))
    return found


def _missing_indexes(layout: Layout, facts: TableFacts) -> Iterator[tuple[tuple[str, ...], str, StateValue | None]]:
    """Yield for each missing index its figures, the column that orders its rows, and the state of its rows."""
    state, slow = layout.state, facts.slow
    ready = state.ready if state is not None else None
    if layout.ring is not None:
        return
    if "scheduled" in slow:
        due = facts.column(layout.due_at or "")
        if due is not None and due.not_null:
            yield ("ready", "oldest", "scheduled"), due.name, ready
    elif "ready" in slow or "oldest" in slow:
        key = facts.column(layout.id or "")
        order = key.name if key is not None and key.type not in RANDOM_ID_TYPES else layout.enqueued_at
        if order is not None:
            yield ("ready", "oldest"), order, ready
    if state is None:
        return
    if "in_progress" in slow:
        yield ("in_progress", "stuck"), layout.started_at or layout.id or state.column, state.in_progress
    if "dead" in slow:
        yield ("dead",), layout.id or state.column, state.dead


def _create_statement(
    layout: Layout, facts: TableFacts, engine: Engine, index: tuple[str, StateValue | None, str]
) -> str:
    column, value, figure = index
    version = (1 << 16, 0)  # the newest version, because the statement is the same for all versions
    names: dict[str, Name] = {
        "name": f"IX_{layout.table.name[: _LONGEST - 20]}_{figure}",
        "table": layout.table.parts,
        "columns": (column,),
        "state": layout.state.column if layout.state is not None else None,
    }
    query = queries.load_query(engine.name, "control/index_all" if value is None else "control/index_state", version)
    text = queries.render(query, {name: names[name] for name in query.names}, engine).text.partition("\n")[2].strip()
    return text if value is None else text.removesuffix("?") + _state_literal(layout, facts, engine, value)


def _state_literal(layout: Layout, facts: TableFacts, engine: Engine, value: StateValue) -> str:
    """Return a state value as a literal that the server compares without converting the column of each row."""
    column = facts.column(layout.state.column) if layout.state is not None else None
    kind = column.type if column is not None else ""
    text = str(value)
    if engine.name == "sqlserver" and kind in WHOLE_TYPES | BOOLEAN_TYPES and text.lstrip("-").isdigit():
        return text
    quoted = engine.literal(text)
    return quoted.removeprefix("N") if engine.name == "sqlserver" and kind in _ONE_BYTE else quoted
