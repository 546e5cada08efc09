"""Verifies rows that were just written against the values they should have, whatever triggers did to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.operate.row_set import marks_for
from qmon.operate.run.batches import RowRefused
from qmon.operate.sql import Names, Sql

_STILL_AT: Final = "still_at"


@dataclass(frozen=True, slots=True)
class Written:
    """A row that a statement wrote: where it lies now (PostgreSQL), and whether it is as it was to be."""

    place: str
    same: bool


def check_written(
    sql: Sql, names: Names, rows: Sequence[Written], wanted: int, columns: Sequence[str], triggers: Sequence[str]
) -> None:
    """Raise ``RowRefused`` unless ``wanted`` rows were written, stayed as written, and are still there.

    ``columns``: what was written. ``triggers``: those of the table.
    """
    if len(rows) != wanted:
        raise RowRefused("the table's triggers or policies keep it from being written")
    if not all(row.same for row in rows):
        raise RowRefused(f"a trigger changed it back: {', '.join(columns)} did not stay as written")
    if triggers and not still_at(sql, names["table"], [row.place for row in rows]):
        raise RowRefused("a trigger wrote it once more, or deleted it")


def still_at(sql: Sql, table: Name, places: Sequence[str]) -> bool:
    """Whether no trigger has touched rows since they were written, those included that wait for the commit.

    On SQL Server the statements that write read the rows once more themselves: there no trigger waits.
    """
    if not sql.exists(_STILL_AT):
        return True
    fire(sql)
    marks = [(place, "") for place in places]
    return sql.count(_STILL_AT, {"table": table}, marks_for(sql.engine.name, marks)) == len(places)


def fire(sql: Sql) -> None:
    """Have triggers that wait for the commit fire now, where there are such."""
    if sql.exists("fire"):
        sql.execute("fire", {})
