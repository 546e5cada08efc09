"""Runs the statements of actions by name. Callers may pass more names and values than a statement uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from qmon.engines.base import Bound, Connection, Engine, Statement, Value
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name

Record = TypeVar("Record")
Names = Mapping[str, Name]
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Count:
    """A row with a single number."""

    done: int


class Sql:
    """Run the statements in ``actions/operate`` and ``control`` on one connection."""

    def __init__(self, connection: Connection, engine: Engine) -> None:
        self.connection, self.engine = connection, engine

    def statement(self, name: str, names: Names) -> Statement:
        """Render a statement.

        ``lock`` means ``action/operate/lock``. A name that contains a folder is used unchanged.
        """
        query = queries.load_query(self.engine.name, _full_name(name), self.connection.version)
        return queries.render(query, {slot: names[slot] for slot in query.names if slot in names}, self.engine)

    def fetch(self, record_type: type[Record], name: str, names: Names, values: Values | None = None) -> list[Record]:
        """Run a query and return its rows as records of this type."""
        return to_records(record_type, self.connection.fetch(self._bind(name, names, values or {})))

    def fetch_count(self, name: str, names: Names, values: Values | None = None) -> int:
        """Run a query that returns a single number, and return it."""
        return self.fetch(Count, name, names, values)[0].done

    def execute(self, name: str, names: Names, values: Values | None = None) -> int:
        """Run a statement for its effect and return the number of affected rows."""
        return self.connection.execute(self._bind(name, names, values or {}))

    def has_statement(self, name: str) -> bool:
        """Return whether this statement exists for this server."""
        return queries.has_query(self.engine.name, _full_name(name), self.connection.version)

    def set_up_session(self, name: str) -> None:
        """Run a statement that configures the session; see ``Connection.set_up_session``."""
        self.connection.set_up_session(Bound(self.statement(name, {})))

    def _bind(self, name: str, names: Names, values: Values) -> Bound:
        statement = self.statement(name, names)
        return Bound(statement, {each: values[each] for each in statement.parameters if each in values})


def _full_name(name: str) -> str:
    return name if "/" in name else f"action/operate/{name}"
