"""Values of a state that its column cannot hold (SQL Server): compared with it they would be question marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.monitor.catalog.catalog import Catalog, TableDetails

_ASK: Final = "catalog/state_kept"


@dataclass(frozen=True, slots=True)
class _Kept:
    kept: bool


def check_state(layout: Layout, details: TableDetails, catalog: Catalog) -> None:
    """Raises ``BadInput`` where the value of a state has a character that its column lacks: no message is in it."""
    state = layout.state
    column = details.column(state.column) if state is not None else None
    if state is None or column is None or not queries.exists(catalog.engine.name, _ASK, catalog.connection.version):
        return
    if catalog.engine.text_type(column.type_name) != "varchar":
        return
    names: dict[str, queries.Name] = {"table": details.table.name.parts, "state": state.column}
    for value in (state.ready, state.in_progress, state.done, state.dead):
        text = str(value)
        if not text.isascii() and not catalog.ask(_Kept, _ASK, names, value=text)[0].kept:
            raise BadInput(
                f"{details.table.name}.{state.column} cannot hold the value {text!r} of a state: its collation, or that"
                " of the database, lacks one of these characters, or it is too short"
            )
