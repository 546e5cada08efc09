"""Describe objects that are not tables qmon can watch: views, synonyms, foreign tables and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.layout.layout import ObjectName
from qmon.monitor.catalog.catalog import Catalog
from qmon.texts import Text


class RelationText(Text):
    """What an object is that has the name of a queue's table, and the name to use instead."""

    OBJECT = "{name} is {article} {kind}"
    TEMPORARY = "{object}: only the session that created it can read it; name a permanent table"
    UNLOGGED_ON_STANDBY = "{object}: it can be read only on the primary; watch it there"
    EXTERNAL = "{object}: its rows are stored elsewhere; make that server a separate target and name the table there"
    FOREIGN = "{object} of the server {server}; make that server a separate target and name the table there"
    MEMORY_OPTIMIZED = "{object}: it lacks locks, lock hints and counters that qmon uses; name a disk-based table"
    NOT_A_TABLE = "{object}, not a table; to list the tables: qmon queues TARGET"
    IN_OTHER_DATABASE = "{object} for {place}: make that database a separate target and name the table there"
    BASE_HIDDEN = "{object}: name the table that it reads"
    OF_BASE = "{object} of {tables}"
    FOR_BASE = "{object} for {tables}"
    COPY_OF_BASE = "{object} with a copy (from its last REFRESH) of {tables}"
    AND_MORE = "{tables} and more"
    NAME_BASE = "{object}: name {table} instead"
    NAME_ONE_OF_BASES = "{object}: name the table that holds the messages"


# The kinds of objects for which the base objects do not matter.
ADVICE: Final = {
    "temporary table": RelationText.TEMPORARY,
    "unlogged table of a standby": RelationText.UNLOGGED_ON_STANDBY,
    "external table": RelationText.EXTERNAL,
    "memory-optimized table": RelationText.MEMORY_OPTIMIZED,
}

# The kinds of objects that have base objects. The user should name a base object instead.
MADE_FROM: Final = {
    "view": RelationText.OF_BASE,
    "materialized view": RelationText.COPY_OF_BASE,
    "partition": RelationText.OF_BASE,
    "temporal history table": RelationText.OF_BASE,
    "synonym": RelationText.FOR_BASE,
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
    def name(self) -> ObjectName:
        """Schema and name."""
        return ObjectName(self.named_schema, self.named_name)


def why_not_a_table(catalog: Catalog, name: ObjectName) -> str | None:
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
    what = RelationText.OBJECT.render(name=first.name, article=article, kind=first.kind)
    if first.kind == "foreign table":
        return RelationText.FOREIGN.render(object=what, server=first.place)
    if first.kind in ADVICE:
        return ADVICE[first.kind].render(object=what)
    if first.kind not in MADE_FROM:
        return RelationText.NOT_A_TABLE.render(object=what)
    if first.place is not None:
        return RelationText.IN_OTHER_DATABASE.render(object=what, place=first.place)
    made = [str(ObjectName(row.made_schema or "", row.made_name)) for row in rows if row.made_name is not None]
    if not made:
        return RelationText.BASE_HIDDEN.render(object=what)
    tables = " and ".join(made[:_SHOWN])
    if len(made) > _SHOWN:
        tables = RelationText.AND_MORE.render(tables=tables)
    what = MADE_FROM[first.kind].render(object=what, tables=tables)
    if len(made) == 1:
        return RelationText.NAME_BASE.render(object=what, table=made[0])
    return RelationText.NAME_ONE_OF_BASES.render(object=what)
