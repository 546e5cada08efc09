"""A library's queue as acting sees it: its group, and the statements that there are for its library."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from qmon.engines.base import Query
from qmon.engines.sql import queries
from qmon.engines.sql.conditions import GroupNames
from qmon.engines.sql.queries import Name
from qmon.libraries.catalogue import built_in
from qmon.libraries.recognise import group_of_queue
from qmon.model.groups.group import Group, State
from qmon.model.layout.layout import Layout, TableName
from qmon.operate.sql import Sql

# `requeue`: of messages in progress; `retry`: of dead ones; `discard`: of those that are not in progress.
Verb = Literal["requeue", "retry", "discard", "pause", "resume", "paused"]
# Kinds of states that can be discarded: what is in progress is its worker's, what is done the library's to prune.
DISCARDED: Final = ("ready", "scheduled", "dead")
# By library that puts a failed message back by INSERT: what a row has, in which column, that is pushed.
_PUSHED: Final = {"pg-boss": ("state", "created"), "laravel": ("attempts", "0")}
# Libraries that put it back by an INSERT as that of a push.
_PUT_BACK_AS_PUSHED: Final = ("symfony-messenger",)
# By library what its triggers write where its jobs change, with the privileges that this needs.
_BY_TRIGGERS: Final[Mapping[str, Mapping[str, str]]] = {
    "procrastinate": {
        "procrastinate_events": "INSERT,SELECT",
        "procrastinate_events_id_seq": "UPDATE",
        "procrastinate_periodic_defers": "SELECT,UPDATE",
    }
}
_LOCKS: Final = re.compile(r"\bFROM \{(\w+)\}[^{}]*\bFOR UPDATE\b")
_WRITES: Final = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM) \{(\w+)\}([^;]*\bDO UPDATE\b)?")


@dataclass(frozen=True)
class LibraryQueue:
    """A queue of a library that comes with qmon. ``prefix``: what the names of its tables begin with."""

    layout: Layout
    group: Group
    prefix: str

    @property
    def names(self) -> GroupNames:
        """The names for statements about its rows."""
        return GroupNames(self.group)

    @property
    def value(self) -> str | None:
        """What the library calls the queue; ``None`` where its table is all there is to name it."""
        return self.layout.part.value if self.layout.part is not None else None

    @property
    def called(self) -> str:
        """What the library calls the queue, by its column or its table."""
        return self.value or self.group.name.partition("/")[2]

    @property
    def pushed(self) -> tuple[str | None, str | None]:
        """Column and value by which a row that is pushed is told from one that is put back; ``None``: none is."""
        return _PUSHED.get(self.group.library, (None, None))

    def no_gate(self) -> str | None:
        """Why its pushers cannot be told from those of other queues; ``None`` where they can."""
        if self.group.library in _PUT_BACK_AS_PUSHED:
            return f"{self.group.library} puts back what failed by INSERT, as if it was pushed: a pause would lose it"
        if self.group.queue is not None and (self.value is None or self.group.queue.lookup is not None):
            return f"no column of {self.group.table} says of which queue a message is that is pushed"
        return None

    def statement(self, verb: Verb) -> str | None:
        """The name of the statement that does this; ``None`` where the library has none."""
        folder = f"library/{self.group.library.replace('-', '_')}"
        names = (f"{folder}/{self.prefix}{verb}", f"{folder}/{verb}")
        return next((name for name in names if name in _statements()), None)

    def names_for(self, sql: Sql, statement: str) -> dict[str, Name]:
        """The names for one of these statements: what is in the schema of the library is called as it is there."""
        return {name: self._object(name).parts for name in _query(sql, statement).names}

    def writes(self, sql: Sql, statement: str) -> dict[TableName, str]:
        """The tables that such a statement writes, each with the privileges that this needs."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for what, name, upsert in _WRITES.findall(_query(sql, statement).text):
            found[name] |= {what.split()[0], "SELECT"} | ({"UPDATE"} if upsert else set())
        return {self._object(name): ",".join(sorted(needed)) for name, needed in found.items()}

    def needs(self, sql: Sql, statement: str) -> dict[TableName, str]:
        """The privileges on each table and sequence that such a statement needs, separated by commas."""
        found = {table: set(how.split(",")) for table, how in self.writes(sql, statement).items()}
        for name in _LOCKS.findall(_query(sql, statement).text):
            found.setdefault(self._object(name), set()).add("UPDATE")
        for table, how in list(found.items()):
            if "INSERT" in how:
                found[TableName(table.schema, f"{table.name}_id_seq")] = {"UPDATE"}
        for name, privileges in _BY_TRIGGERS.get(self.group.library, {}).items():
            found[TableName(self.group.schema, name)] = set(privileges.split(","))
        return {table: ",".join(sorted(how)) for table, how in found.items()}

    def _object(self, name: str) -> TableName:
        return self.group.table if name == "table" else TableName(self.group.schema, self.prefix + name)

    def states(self, *kinds: str) -> tuple[State, ...]:
        """Its states of these kinds."""
        return tuple(state for state in self.group.states if state.kind in kinds)


@lru_cache(maxsize=1000)
def library_queue(layout: Layout) -> LibraryQueue | None:
    """The queue, if it is one of a library that comes with qmon."""
    if layout.part is None or layout.part.own:
        return None
    found = group_of_queue(built_in(), layout)
    return None if found is None else LibraryQueue(layout, *found)


def _query(sql: Sql, statement: str) -> Query:
    return queries.load(sql.engine.name, statement, sql.connection.version)


@cache
def _statements() -> frozenset[str]:
    return frozenset(file.name for file in queries.all_files() if file.kind == "library")
