"""What a name stands for that is no table which can be watched: a view, a synonym, a foreign table and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.layout.layout import TableName
from qmon.monitor.catalog.catalog import Catalog

_ELSEWHERE: Final = "make that server a target of its own and name the table there"
# What to do where it does not hang on what the thing is made from.
ADVICE: Final = {
    "temporary table": "only the session that made it can read it: name a table that stays",
    "unlogged table of a standby": "it can be read on the primary alone: watch it there",
    "external table": f"its rows are kept elsewhere: {_ELSEWHERE}",
    "memory-optimized table": "it has none of the locks, lock hints and counters that qmon uses: name a table on disk",
}
# How it goes on with what the thing is made from, which is what to name instead.
MADE_FROM: Final = {
    "view": "of",
    "materialized view": "with a copy, as old as its last REFRESH, of",
    "partition": "of",
    "temporal history table": "of",
    "synonym": "for",
}
_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class NamedRow:
    """Something that has a name, and one of the things that it is made from; see ``catalog/named``."""

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


def refusal(catalog: Catalog, name: TableName) -> str | None:
    """What a name stands for that ``Catalog.tables`` does not have, and what to name instead, in one line.

    ``None`` where nothing is called so, or where the server does not tell.
    """
    try:
        rows = catalog.ask(NamedRow, "catalog/named", its_schema=name.schema, its_name=name.name)
    except QueryFailed:
        return None
    if not rows:
        return None
    first = max(rows, key=lambda row: (row.named_name == name.name, row.visible))
    return _line([row for row in rows if row.name == first.name])


def _line(rows: Sequence[NamedRow]) -> str:
    """``rows``: of one thing."""
    first = rows[0]
    article = "an" if first.kind[0] in "aeiou" else "a"
    what = f"{first.name} is {article} {first.kind}"
    if first.kind == "foreign table":
        return f"{what} of the server {first.place}: {_ELSEWHERE}"
    if first.kind in ADVICE:
        return f"{what}: {ADVICE[first.kind]}"
    if first.kind not in MADE_FROM:
        return f"{what} and no table; qmon queues lists what there is"
    if first.place is not None:
        return f"{what} for {first.place}: make that database a target of its own and name it there"
    made = [str(TableName(row.made_schema or "", row.made_name)) for row in rows if row.made_name is not None]
    if not made:
        return f"{what}: name the table that it reads"
    what = f"{what} {MADE_FROM[first.kind]} {' and '.join(made[:_SHOWN])}{' and more' if len(made) > _SHOWN else ''}"
    return f"{what}: name {made[0]} instead" if len(made) == 1 else f"{what}: name the table that holds the messages"
