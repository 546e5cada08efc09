"""An operator on a SQL Server that has one table."""

from __future__ import annotations

from qmon.engines.base import Target
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.operate.context import OperatorContext
from qmon.operate.operator import Operator
from tests.replayed import Driver, connection

ENGINE = SqlServer()
COLUMNS = (("Id", "bigint"), ("Status", "int"), ("StartedAt", "datetime2"), ("Tries", "int"), ("Body", "nvarchar"))
Rows = list[tuple[object, ...]]


class Server(Driver):
    """Answers catalog queries with one table. ``rows``: its other answers, by statement."""

    def __init__(self, **rows: Rows) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.rows: dict[str, Rows] = {
            "structure": [(name, f"{kind}(8,19,0)", False, False, name == "Id") for name, kind in COLUMNS],
            "keys": [("pk", True, 1, "Id")],
            "facts": [("2024-05-01 12:00:00.123", 1714564800.123, True, 1714000000.0, False)],
            "operations_access": [(True, True, False)],
            "place": [("1", None, "shape")],
            "held": [(1,)],
            "rate": [(None,)],
            **rows,
        }

    def answer(self, text: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        name = text.split()[2]
        self.asked.append(name)
        self.texts[name] = text
        return tuple(queries.load_query("sqlserver", name, (16, 0)).columns), self.rows.get(name.rpartition("/")[2], [])


def operator(server: Server) -> Operator:
    """An operator on this server."""
    target = Target("shop", "sqlserver", {})
    return Operator(OperatorContext(lambda purpose: connection(server, (16, 0)), ENGINE, target, "anna@app-7"))
