"""Runs the statements of acting by name: each takes of the names and values at hand what it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from qmon.engines.base import Bound, Connection, Engine, Statement, Value
from qmon.engines.rows import records
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name

Record = TypeVar("Record")
Names = Mapping[str, Name]
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Count:
    """A row with a number."""

    done: int


class Sql:
    """The statements in ``actions/operate`` and ``control`` on one connection."""

    def __init__(self, connection: Connection, engine: Engine) -> None:
        self.connection, self.engine = connection, engine

    def statement(self, name: str, names: Names) -> Statement:
        """``name`` rendered: ``lock`` is ``action/operate/lock``; one with a folder is taken as it is."""
        query = queries.load(self.engine.name, _full(name), self.connection.version)
        return queries.render(query, {slot: names[slot] for slot in query.names if slot in names}, self.engine)

    def fetch(self, kind: type[Record], name: str, names: Names, values: Values | None = None) -> list[Record]:
        """The rows of a statement as records."""
        return records(kind, self.connection.fetch(self._bound(name, names, values or {})))

    def count(self, name: str, names: Names, values: Values | None = None) -> int:
        """The number that a statement returns."""
        return self.fetch(Count, name, names, values)[0].done

    def execute(self, name: str, names: Names, values: Values | None = None) -> int:
        """Run a statement for its effect; returns the rows affected."""
        return self.connection.execute(self._bound(name, names, values or {}))

    def exists(self, name: str) -> bool:
        """Whether there is such a statement for this server."""
        return queries.exists(self.engine.name, _full(name), self.connection.version)

    def set_up(self, name: str) -> None:
        """Run a statement that sets up the session; see ``Connection.set_up``."""
        self.connection.set_up(Bound(self.statement(name, {})))

    def _bound(self, name: str, names: Names, values: Values) -> Bound:
        statement = self.statement(name, names)
        return Bound(statement, {each: values[each] for each in statement.parameters if each in values})


def _full(name: str) -> str:
    return name if "/" in name else f"action/operate/{name}"
