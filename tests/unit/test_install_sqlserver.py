"""SQL Server's messages while a queue is installed or removed, in plain words; a scripted driver sends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyodbc
import pytest

from qmon.engines.odbc import OdbcConnection
from qmon.engines.sqlserver import sqlserver_errors
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import BadInput, QueryFailed
from qmon.model.layout.layout_io import layout_to_json
from qmon.operate.install.install_queue import InstallText, install_queue, prepare_install, uninstall_queue

ENGINE: Final = SqlServer()
SERVER: Final = "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]"
LAYOUT: Final = prepare_install(ENGINE, (16, 0), "batch_fast", schema="dbo", queue="orders").layout
Result = tuple[tuple[str, ...], list[tuple[object, ...]]]


class Driver:
    """A driver's connection and cursor: results by the name of the statement, and a fault for one of them."""

    def __init__(self, results: dict[str, Result], failing: str, fault: tuple[str, str]) -> None:
        self.results, self.failing, self.fault = results, failing, fault
        self.autocommit = True
        self.rowcount = 1
        self.said: list[str] = []
        self._now: Result = ((), [])

    def cursor(self) -> Driver:
        return self

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        name = text.split("*/", 1)[0].split()[-1]
        self.said.append(name)
        if name == self.failing:
            raise pyodbc.Error(*self.fault)
        self._now = self.results.get(name, ((), []))

    @property
    def description(self) -> Any:
        return [(column,) for column in self._now[0]]

    def fetchall(self) -> list[tuple[object, ...]]:
        return self._now[1]

    def nextset(self) -> bool:
        return False

    def commit(self) -> None:
        self.said.append("COMMIT")

    def rollback(self) -> None:
        self.said.append("ROLLBACK")

    def close(self) -> None:
        """Nothing is open."""


def connection(driver: Driver) -> OdbcConnection:
    raw: Any = driver
    made = OdbcConnection(
        raw, lambda fault, name: sqlserver_errors.statement_error(fault, name, "me"), nul_allowed=True
    )
    made.set_identity((16, 0), 51)
    return made


def driver(failing: str, number: int, words: str, state: str = "42000") -> Driver:
    registry: Result = (
        ("queue", "layout", "version"),
        [("orders", layout_to_json(LAYOUT), 1)],
    )
    there: Result = (("kind", "name"), [("schema", "qmon"), ("table", "queues")])
    fault = (state, f"[{state}] {SERVER}{words} ({number}) (SQLExecDirectW)")
    trust: Result = (("object", "problem", "advice"), [])
    return Driver({"catalog/trust": trust, "action/objects": there, "control/registry": registry}, failing, fault)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (3726, "Could not drop object 'dbo.orders' because it is referenced by a FOREIGN KEY constraint."),
        (3729, "Cannot DROP TABLE 'dbo.orders' because it is being referenced by object 'seen'."),
        (3732, "Cannot drop type 'dbo.orders_ids' because it is being referenced by object 'mine'."),
    ],
)
def test_what_depends_on_a_queue_is_named_when_it_is_uninstalled(number: int, words: str) -> None:
    server = driver("design/batch_fast/uninstall", number, words)
    with pytest.raises(BadInput) as refused:
        uninstall_queue(connection(server), ENGINE, "orders")
    problem = f"design/batch_fast/uninstall: {words}"
    assert str(refused.value) == InstallText.DEPENDENT.render(queue="orders", problem=problem)
    assert server.said[-2:] == ["design/batch_fast/uninstall", "ROLLBACK"]
    assert "COMMIT" not in server.said


def test_other_faults_stay_what_they_are() -> None:
    server = driver("design/batch_fast/uninstall", 9002, "The transaction log for database 'shop' is full.")
    with pytest.raises(QueryFailed, match="log for database") as problem:
        uninstall_queue(connection(server), ENGINE, "orders")
    assert problem.value.numbers == (9002,)
    assert server.said[-1] == "ROLLBACK"


@pytest.mark.parametrize(
    ("number", "state", "words"),
    [
        (2714, "42S01", "There is already an object named 'orders' in the database."),
        (219, "42000", "The type 'dbo.orders_ids' already exists, or you do not have permission to create it."),
        (1913, "42S11", "The operation failed because an index with name 'orders_done_index' already exists."),
    ],
)
def test_what_somebody_makes_meanwhile_is_refused(number: int, state: str, words: str) -> None:
    server = driver("design/batch_fast/05_ids", number, words, state)
    server.results["action/objects"] = (("kind", "name"), [("schema", "dbo")])
    with pytest.raises(BadInput) as refused:
        install_queue(connection(server), ENGINE, "batch_fast", schema="dbo", queue="orders")
    problem = f"design/batch_fast/05_ids: {words}"
    assert str(refused.value) == InstallText.FAILED.render(queue="orders", problem=problem)
    assert server.said[-2:] == ["design/batch_fast/05_ids", "ROLLBACK"]
