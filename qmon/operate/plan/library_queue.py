"""Describes a queue with states by conditions for actions: the layout, the group, and the statements that exist.

The statements are those of a supported library, or follow from the ``writes`` that the group declares.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from qmon.engines.base import Query
from qmon.engines.sql import queries
from qmon.engines.sql.condition_sql import GroupNames
from qmon.engines.sql.queries import Name
from qmon.libraries.library import statement_folder
from qmon.libraries.library_catalog import built_in_libraries
from qmon.libraries.recognition import find_group
from qmon.model.groups.group import Group, State
from qmon.model.groups.group_parser import group_from_dict
from qmon.model.layout.layout import Layout, ObjectName
from qmon.operate.sql import Sql
from qmon.texts import Text


class NoGate(Text):
    """Why a gate would be wrong for a library queue."""

    RETURNS_BY_INSERT = "{library} returns failed messages by INSERT, like a push: a pause would lose these messages"
    OTHER_VERSION = "qmon does not know how version {version} of {library} returns failed messages"
    NO_QUEUE_COLUMN = "no column of {table} contains the queue of a pushed message"


# `requeue` makes messages in progress ready, and `retry` makes dead messages ready. `discard` deletes messages that are
# not in progress.
Verb = Literal["requeue", "retry", "discard", "pause", "resume", "paused"]

# Kinds of states whose messages can be discarded. Messages in progress belong to a worker. The library itself deletes
# done messages.
DISCARDABLE_KINDS: Final = ("ready", "scheduled", "dead")

# The statement that deletes messages of a group that declares `purge = "delete"`.
DELETE_ROWS: Final = "library/delete"

# Some libraries put a failed message back by INSERT. This is the column and value that only pushed rows have.
_PUSH_MARKS: Final = {"pg-boss": ("state", "created"), "laravel": ("attempts", "0")}

# Libraries that put a failed message back with the same INSERT as a push.
_PUTS_BACK_LIKE_PUSH: Final = ("quartz", "quartz.net", "symfony-messenger")

# Tables and sequences that a library's triggers write when jobs change, with the privileges that the triggers need.
_TRIGGER_PRIVILEGES: Final[Mapping[str, Mapping[str, str]]] = {
    "procrastinate": {
        "procrastinate_events": "INSERT,SELECT",
        "procrastinate_events_id_seq": "UPDATE",
        "procrastinate_periodic_defers": "SELECT,UPDATE",
    }
}
_LOCKED_TABLES: Final = re.compile(r"\bFROM \{(\w+)\}[^{}]*\bFOR UPDATE\b")
_WRITTEN_TABLES: Final = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM) \{(\w+)\}([^;]*\bDO UPDATE\b)?")


@dataclass(frozen=True)
class LibraryQueue:
    """A queue of a library that qmon supports, or a queue whose group declares its writes.

    ``prefix``: prefix of the library's table names.
    """

    layout: Layout
    group: Group
    prefix: str

    @property
    def names(self) -> GroupNames:
        """The names for statements about the queue's rows."""
        return GroupNames(self.group)

    @property
    def value(self) -> str | None:
        """The queue's name in the library's column. ``None`` if only the table identifies the queue."""
        return self.layout.part.value if self.layout.part is not None else None

    @property
    def library_name(self) -> str:
        """The library's name of the queue: the value of the queue column or, without that column, the table's name."""
        return self.value or self.group.name.partition("/")[2]

    @property
    def push_mark(self) -> tuple[str | None, str | None]:
        """The column and the value by which pushed rows differ from the rows of failed messages that are put back.

        Both are ``None`` if qmon knows no such column for the library.
        """
        return _PUSH_MARKS.get(self.group.library, (None, None))

    def why_no_gate(self) -> str | None:
        """Return why a gate cannot pause only the producers of this queue, or ``None`` if a gate can."""
        if self.group.library in _PUTS_BACK_LIKE_PUSH:
            return NoGate.RETURNS_BY_INSERT.render(library=self.group.library)
        if self.group.version:
            return NoGate.OTHER_VERSION.render(version=self.group.version, library=self.group.library)
        if self.group.queue is not None and (self.value is None or not self.group.queue.is_plain):
            return NoGate.NO_QUEUE_COLUMN.render(table=self.group.table)
        return None

    def allows(self, verb: Verb) -> bool:
        """Return whether a statement exists for this verb, or the group declares what to write."""
        if (writes := self.group.writes) is not None and verb in ("requeue", "retry"):
            return bool(writes.ready)
        return self.statement_name(verb) is not None

    def statement_name(self, verb: Verb) -> str | None:
        """Return the name of the statement for this verb, or ``None`` if the library has none."""
        if (writes := self.group.writes) is not None:
            return DELETE_ROWS if verb == "discard" and writes.purge else None
        folder = f"library/{statement_folder(self.group.library, self.group.version)}"
        names = (f"{folder}/{self.prefix}{verb}", f"{folder}/{verb}")
        return next((name for name in names if name in _library_statements()), None)

    def names_for(self, sql: Sql, statement: str) -> dict[str, Name]:
        """Return the names for one of these statements.

        Objects in the library's schema have the library's own names.
        """
        if self.group.writes is not None:
            return {"table": self.group.table.parts, "key": self.group.id}
        return {name: self._qualified_name(name).parts for name in _load_query(sql, statement).names}

    def written_tables(self, sql: Sql, statement: str) -> dict[ObjectName, str]:
        """Return the tables that a statement writes, each with the required privileges."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for what, name, upsert in _WRITTEN_TABLES.findall(_load_query(sql, statement).text):
            found[name] |= {what.split()[0], "SELECT"} | ({"UPDATE"} if upsert else set())
        return {self._qualified_name(name): ",".join(sorted(needed)) for name, needed in found.items()}

    def needed_privileges(self, sql: Sql, statement: str) -> dict[ObjectName, str]:
        """Return the privileges that a statement needs on each table and sequence, separated by commas."""
        found = {table: set(how.split(",")) for table, how in self.written_tables(sql, statement).items()}
        for name in _LOCKED_TABLES.findall(_load_query(sql, statement).text):
            found.setdefault(self._qualified_name(name), set()).add("UPDATE")
        for table, how in list(found.items()):
            if "INSERT" in how:
                found[ObjectName(table.schema, f"{table.name}_id_seq")] = {"UPDATE"}
        for name, privileges in _TRIGGER_PRIVILEGES.get(self.group.library, {}).items():
            found[ObjectName(self.group.schema, name)] = set(privileges.split(","))
        return {table: ",".join(sorted(how)) for table, how in found.items()}

    def _qualified_name(self, name: str) -> ObjectName:
        return self.group.table if name == "table" else ObjectName(self.group.schema, self.prefix + name)

    def states_of(self, *kinds: str) -> tuple[State, ...]:
        """Return the queue's states of these kinds."""
        return tuple(state for state in self.group.states if state.kind in kinds)


@lru_cache(maxsize=1000)
def library_queue_for(layout: Layout) -> LibraryQueue | None:
    """Return the queue of this layout for actions.

    ``None`` if the layout does not belong to a library that qmon supports, and its group declares no writes.
    """
    if layout.part is None:
        return None
    if layout.part.declared:
        raw = json.loads(layout.part.declared)
        return LibraryQueue(layout, group_from_dict(raw, layout.table, where=layout.part.group), "")
    if layout.part.own:
        return None
    found = find_group(built_in_libraries(), layout)
    return None if found is None else LibraryQueue(layout, *found)


def _load_query(sql: Sql, statement: str) -> Query:
    return queries.load_query(sql.engine.name, statement, sql.connection.version)


@cache
def _library_statements() -> frozenset[str]:
    return frozenset(file.name for file in queries.all_files() if file.kind == "library")
