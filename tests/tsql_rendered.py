"""Statements of SQL Server with a name for each slot: columns such as ``q_state``, as the rules expect them."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from qmon.engines.base import Query
from qmon.engines.sql import queries
from qmon.engines.sql.condition_sql import RowCondition
from qmon.engines.sql.list_page import ColumnTest, PagePart, PageRows
from qmon.engines.sql.queries import Name, SqlFile
from qmon.engines.sql.query_file import scan_cached
from qmon.engines.sql.query_text import Form, Placeholder
from qmon.engines.sql.whole_row import RowValues, StoredColumn
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.groups.conditions import ColumnRef, IsNull
from qmon.model.groups.group import Group
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.table_facts import Column, IndexName
from qmon.model.layout.time_zones import UTC_ZONE, TimeColumn, Zone
from qmon.model.samples.listing_samples import PagePosition

TIMES: frozenset[Form] = frozenset({"utc", "moment", "clock"})
LISTED: frozenset[Form] = frozenset({"list", "set", "text", "numbered", "on"})
FILES: Final = tuple(file for file in queries.all_files() if file.engine == "sqlserver")
PROBES: Final = tuple(file for file in FILES if file.kind == "probe")


def forms_of(query: Query) -> dict[str, set[Form]]:
    """Return the forms in which each slot is written."""
    out: defaultdict[str, set[Form]] = defaultdict(set)
    for piece in scan_cached(query.text, "sqlserver", query.path, 1):
        if isinstance(piece, Placeholder):
            out[piece.name].add(piece.form)
    return dict(out)


def _page_part(slot: str, kind: str) -> PagePart:
    """Return a part of a page in the order of a column, after some message."""
    state, at = Column("q_state", kind), Column("q_at", kind)
    rows = PageRows(at, (ColumnTest(state, "=", "x"),), (), ("q_c",), after=PagePosition("2026-01-01T00:00:00", "7"))
    return PagePart(rows, "look" if slot == "look" else "empty" if slot == "empty" else "list")


def names_for(
    query: Query, kind: str = "varchar", *, filtered: bool = False, size: int = 1, zone: Zone = UTC_ZONE
) -> dict[str, Name]:
    """Return a name for each slot.

    ``kind``: the type of text columns; ``filtered``: indexes contain only some of the rows.
    """
    out: dict[str, Name] = {}
    for slot, forms in forms_of(query).items():
        name = f"q_{slot}"
        if slot in ("look", "empty", "list"):
            out[slot] = _page_part(slot, kind)
        elif slot == "columns" and "look" in query.names:
            out[slot] = ("q_c", *(f"q_{each}" for each in sorted(query.names)))
        elif "where" in forms:
            out[slot] = RowCondition(IsNull(ColumnRef("q_c")), Group("g", ObjectName("dbo", "t"), "id", ()), "t")
        elif "values" in forms:
            out[slot] = RowValues(((StoredColumn("q_c", kind, kind), 100),))
        elif "int" in forms:
            out[slot] = size
        elif forms & LISTED:
            out[slot] = ("q_c",)
        elif "type" in forms:
            out[slot] = Column(name, kind)
        elif "recompile" in forms:
            out[slot] = IndexName(name, filtered)
        elif forms & TIMES:
            out[slot] = TimeColumn(name, zone)
        else:
            out[slot] = name
    return out


def rendered(file: SqlFile, kind: str = "varchar", *, filtered: bool = False, zone: Zone = UTC_ZONE) -> str:
    """Return the statement of a file with these names."""
    query = queries.read_query(file)
    return queries.render(query, names_for(query, kind, filtered=filtered, zone=zone), SqlServer()).text
