"""A driver that answers the workload's statements for SQL Server with rows of the types that its procedures return.

The file of a procedure declares its result columns; a message has the type of the procedure's first parameter. The
driver understands no SQL and keeps no queue: it tests how values pass through the driver's seam, both ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from qmon.engines.base import Query
from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc import OdbcConnection
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import QmonError, QueryFailed
from qmon.model.layout.layout import Layout
from qmon.operate.install.install_queue import prepare_install

ENGINE: Final = SqlServer()
# The smallest whole number that a float cannot represent.
BIG: Final = 2**53 + 1
MESSAGE: Final = '{"number": 1, "from": "Ünï \U0001f600", "poison": false, "text": "xx"}'
_NAME: Final = re.compile(r"/\* qmon (\S+) \*/")
_VERBS: Final = {"take": "pop", "take_batch": "pop_batch", "pop_subscriber": "pop", "push_batch_bytes": "push_batch"}
DESIGNS: Final = tuple(queries.designs("sqlserver"))


def layout_of(design: str, major: int = 16, queue: str = "orders") -> Layout:
    """Return the layout that an install of this design records."""
    return prepare_install(ENGINE, (major, 0), design, schema="dbo", queue=queue, ring_size=64).layout


def procedure(design: str, verb: str, major: int = 16) -> Query:
    """Return the file of a design that creates a procedure."""
    (found,) = (
        query
        for query in queries.design_files("sqlserver", design, (major, 0))
        if f"CREATE PROCEDURE {{{verb}}}" in query.text
    )
    return found


def parameters(query: Query) -> dict[str, str]:
    """Return the parameters of a procedure, in order, and their types."""
    head = re.split(r"^AS$", query.text, maxsplit=1, flags=re.MULTILINE)[0]
    return dict(re.findall(r"^\s+@(\w+) ([^\s,=]+)", head, re.MULTILINE))


@dataclass
class Driver:
    """The part of pyodbc's connection and cursor that qmon uses."""

    layout: Layout
    major: int = 16
    # A pop finds no message.
    empty: bool = False
    # The name of each statement, and its values.
    sent: list[tuple[str, tuple[object, ...]]] = field(default_factory=list)
    autocommit: bool = True
    committed: int = 0
    rolled_back: int = 0
    timeout: int = 0
    rowcount: int = -1
    _columns: tuple[str, ...] = ()
    _rows: Sequence[tuple[object, ...]] = ()

    def cursor(self) -> Driver:
        return self

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        found = _NAME.match(text)
        assert found is not None, text
        name = found[1].removeprefix("action/workload/")
        query = queries.load_query("sqlserver", found[1], (self.major, 0))
        assert len(values) == len(queries.render(query, names(query), ENGINE).parameters)
        self.sent.append((name, tuple(values)))
        verb = _VERBS.get(name, name)
        routine = None if self.layout.routine_for(verb) is None else procedure(self.layout.design, verb, self.major)
        self._columns = query.columns if routine is None else routine.columns
        assert self._columns[: len(query.columns)] == query.columns
        number = 0 if self.empty and verb in ("pop", "pop_batch") else 3 if verb.endswith("_batch") else 1
        if verb == "complete_batch":
            number = 1
        self._rows = [tuple(self._value(column, row) for column in self._columns) for row in range(number)]

    def _value(self, column: str, row: int) -> object:
        if column == "payload":
            taken = next(iter(parameters(procedure(self.layout.design, "push")).values()))
            return MESSAGE.encode() if taken == "varbinary(max)" else MESSAGE
        if column == "id":
            return BIG + row
        texts = {"title": "a title", "was": "orphan", "queue_date_time": None, "application": "load-consumer"}
        numbers = {"done": 3 if row == 0 else 0, "moved": 7, "state": 1, "attempt": 2, "depth": BIG}
        return texts[column] if column in texts else numbers.get(column, row + 1)

    @property
    def description(self) -> list[tuple[str]] | None:
        return [(name,) for name in self._columns] if self._columns else None

    def fetchall(self) -> Sequence[tuple[object, ...]]:
        return self._rows

    def nextset(self) -> bool:
        return False

    def cancel(self) -> None:
        """Nothing runs."""

    def commit(self) -> None:
        self.committed += 1

    def rollback(self) -> None:
        self.rolled_back += 1

    def close(self) -> None:
        """Nothing is open."""


def names(query: Query) -> dict[str, queries.Name]:
    """Return a name for each slot."""
    return {name: 64 if name == "size" else f"q_{name}" for name in query.names}


def connection(driver: Driver) -> OdbcConnection:
    """Return qmon's own connection over this driver."""

    def explain(fault: DriverFault, name: str) -> QmonError:
        return QueryFailed(f"{name}: {fault.text}", query=name)

    opened = OdbcConnection(driver, explain, nul_allowed=True)
    opened.set_identity((driver.major, 0), 61)
    return opened
