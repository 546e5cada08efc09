"""Whether a gate stops who pushes: tried by an insert into each place where rows may lie, and rolled back."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Final

from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, QueryFailed
from qmon.model.layout.layout import TableName
from qmon.operate.actions.pause_check import AT_MOST_S, EVERY_S, Drawer
from qmon.operate.context import Stopped
from qmon.operate.plan.text import short
from qmon.operate.sql import Sql
from qmon.operate.table import read_structure

MOST: Final = 500
"""Partitions that are tried; of more, the catalogue alone says that their triggers are on."""
_REFUSED: Final = "QM001"
_CONSTRAINT: Final = "23"
"""SQLSTATEs of constraints: they are looked at behind the gate."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it. ``refused``: places where the gate refused; ``passed``: those where it did not; ``untried``: why
    the rest could not be tried; ``places``: how many there are.
    """

    places: int
    refused: int
    passed: tuple[str, ...]
    untried: str | None

    def text(self) -> str:
        """One line for the operator."""
        if self.untried is not None:
            return f"not tried whether an INSERT is refused: {self.untried}; the trigger is there, and on"
        if not self.places:
            return "the table has no partition yet: those that come will have the gate"
        if self.places == 1:
            return "tried: an INSERT is refused"
        of = f"each of {self.places:,}" if self.refused == self.places else f"{self.refused:,} of {self.places:,}"
        return f"tried: an INSERT is refused, in {of} partitions"


@dataclass(frozen=True, slots=True)
class GateTarget:
    """A table that rows lie in."""

    place_schema: str
    place_name: str


class _RolledBackError(Exception):
    """Ends a trial that came through."""


def try_gate(sql: Sql, table: TableName, *, each_row: bool) -> Tried:
    """Insert into the table, or each of its partitions, while a pause is on. ``each_row``: how the gate is asked."""
    try:
        written = read_structure(sql, table).written
    except BadInput as problem:
        return Tried(1, 0, (), str(problem))
    places = [TableName(each.place_schema, each.place_name) for each in _places(sql, table)]
    refused, passed = 0, []
    for place in places[:MOST]:
        try:
            _insert(sql, place, written, each_row=each_row)
        except QueryFailed as problem:
            if problem.sqlstate == _REFUSED or _REFUSED in str(problem):
                refused += 1
            elif problem.sqlstate.startswith(_CONSTRAINT):
                passed.append(str(place))
            else:
                return Tried(len(places), refused, tuple(passed), f"{place}: {short(str(problem), 150)}")
        else:
            passed.append(str(place))
    return Tried(len(places), refused, tuple(passed), None)


def _places(sql: Sql, table: TableName) -> list[GateTarget]:
    return sql.fetch(GateTarget, "action/pause/places", {"table": table.parts})


def _insert(sql: Sql, place: TableName, written: tuple[str, ...], *, each_row: bool) -> None:
    """Try it. Raises what the server says where it refuses; what comes through is rolled back."""
    names: dict[str, Name] = {"table": place.parts, "columns": written, "column": written[-1]}
    with contextlib.suppress(_RolledBackError), sql.connection.transaction():
        sql.execute("action/pause/attempt", names, {"rows": int(each_row)})
        raise _RolledBackError


def still_writing(sql: Sql, table: TableName, stopped: Stopped) -> tuple[str, ...]:
    """Sessions that were writing into the table when this began and have not ended their transaction since.

    Waited for as long as ``AT_MOST_S``: what they inserted before the pause may yet be committed. PostgreSQL only.
    """
    if not queries.exists(sql.engine.name, "action/pause/drawers", sql.connection.version):
        return ()
    tables = {table, *(TableName(each.place_schema, each.place_name) for each in _places(sql, table)[:MOST])}
    begun = time.monotonic()
    writing = _writing(sql, tables)
    while writing and time.monotonic() - begun < AT_MOST_S and not stopped():
        time.sleep(EVERY_S)
        writing &= _writing(sql, tables)
    return tuple(sorted(each.text for each in writing))


def _writing(sql: Sql, tables: set[TableName]) -> frozenset[Drawer]:
    found = (sql.fetch(Drawer, "action/pause/drawers", {"sequence": each.parts}) for each in sorted(tables, key=str))
    return frozenset(one for each in found for one in each)
