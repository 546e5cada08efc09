"""Describe objects that are not tables qmon can watch: views, synonyms, foreign tables and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.layout.layout import TableName
from qmon.monitor.catalog.catalog import Catalog

_ELSEWHERE: Final = "make that server a separate target and name the table there"

# Advice for the kinds of objects for which the base objects do not matter.
ADVICE: Final = {
    "temporary table": "only the session that created it can read it; name a permanent table",
    "unlogged table of a standby": "it can be read only on the primary; watch it there",
    "external table": f"its rows are stored elsewhere; {_ELSEWHERE}",
    "memory-optimized table": "it lacks locks, lock hints and counters that qmon uses; name a disk-based table",
}

# Text between the kind and its base objects. The user should name a base object instead.
MADE_FROM: Final = {
    "view": "of",
    "materialized view": "with a copy (from its last REFRESH) of",
    "partition": "of",
    "temporal history table": "of",
    "synonym": "for",
}
_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A named object and one of its base objects; see ``catalog/named``."""

    named_schema: str
    named_name: str
    visible: bool
    kind: str
    place: str | None
    made_schema: str | None
    made_name: str | None

    @property
    def name(self) -> TableName:
        """Schema and name."""
        return TableName(self.named_schema, self.named_name)


def why_not_a_table(catalog: Catalog, name: TableName) -> str | None:
    """Return a line with the kind of an object that is not in ``Catalog.read_tables``, and the name to use instead.

    ``None`` if no object has this name, or if it cannot be read.
    """
    try:
        rows = catalog.read_records(NamedRow, "catalog/named", its_schema=name.schema, its_name=name.name)
    except QueryFailed:
        return None
    if not rows:
        return None
    first = max(rows, key=lambda row: (row.named_name == name.name, row.visible))
    return _describe_relation([row for row in rows if row.name == first.name])


def _describe_relation(rows: Sequence[NamedRow]) -> str:
    """Return the line for ``rows``, all of one object."""
    first = rows[0]
    article = "an" if first.kind[0] in "aeiou" else "a"
    what = f"{first.name} is {article} {first.kind}"
    if first.kind == "foreign table":
        return f"{what} of the server {first.place}; {_ELSEWHERE}"
    if first.kind in ADVICE:
        return f"{what}: {ADVICE[first.kind]}"
    if first.kind not in MADE_FROM:
        return f"{what}, not a table; to list the tables: qmon queues TARGET"
    if first.place is not None:
        return f"{what} for {first.place}: make that database a separate target and name the table there"
    made = [str(TableName(row.made_schema or "", row.made_name)) for row in rows if row.made_name is not None]
    if not made:
        return f"{what}: name the table that it reads"
    what = f"{what} {MADE_FROM[first.kind]} {' and '.join(made[:_SHOWN])}{' and more' if len(made) > _SHOWN else ''}"
    return f"{what}: name {made[0]} instead" if len(made) == 1 else f"{what}: name the table that holds the messages"
