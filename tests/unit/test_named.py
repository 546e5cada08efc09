"""SQL Server names that are not tables qmon can watch, as reported by the server's rows."""

from __future__ import annotations

import re
from typing import Final

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout_io import layout_from_dict
from qmon.monitor.catalog.relation_kind import ADVICE, MADE_FROM, RelationText
from qmon.monitor.catalog.resolve import ResolveText, resolve_queues
from tests.contract.relations import relation_line
from tests.replayed import Driver, connection, said
from tests.wordings import has

Named = tuple[str, str, bool, str, str | None, str | None, str | None]
KINDS: Final[dict[str, tuple[list[Named], str]]] = {
    "view": (
        [("dbo", "Orders", True, "view", None, "dbo", "A")],
        relation_line(
            "dbo.Orders", "view", RelationText.NAME_BASE, base=RelationText.OF_BASE, tables="dbo.A", table="dbo.A"
        ),
    ),
    "view over a join": (
        [("dbo", "Orders", True, "view", None, "dbo", name) for name in "ABCDE"],
        relation_line(
            "dbo.Orders",
            "view",
            RelationText.NAME_ONE_OF_BASES,
            base=RelationText.OF_BASE,
            tables=RelationText.AND_MORE.render(tables="dbo.A and dbo.B and dbo.C and dbo.D"),
        ),
    ),
    "view whose tables our role may not see": (
        [("dbo", "Orders", True, "view", None, None, None)],
        relation_line("dbo.Orders", "view", RelationText.BASE_HIDDEN),
    ),
    "view of another schema, which is not found without naming it": (
        [("app", "Orders", False, "view", None, "dbo", "B"), ("dbo", "Orders", True, "view", None, "dbo", "A")],
        relation_line(
            "dbo.Orders", "view", RelationText.NAME_BASE, base=RelationText.OF_BASE, tables="dbo.A", table="dbo.A"
        ),
    ),
    "synonym": (
        [("dbo", "Orders", True, "synonym", None, "dbo", "A")],
        relation_line(
            "dbo.Orders", "synonym", RelationText.NAME_BASE, base=RelationText.FOR_BASE, tables="dbo.A", table="dbo.A"
        ),
    ),
    "synonym that names no schema": (
        [("dbo", "Orders", True, "synonym", None, None, "A")],
        relation_line(
            "dbo.Orders", "synonym", RelationText.NAME_BASE, base=RelationText.FOR_BASE, tables="A", table="A"
        ),
    ),
    "synonym that leads to another server": (
        [("dbo", "Orders", True, "synonym", "[far].[shop].[dbo].[A]", "dbo", "A")],
        relation_line("dbo.Orders", "synonym", RelationText.IN_OTHER_DATABASE, place="[far].[shop].[dbo].[A]"),
    ),
    "memory-optimized table": (
        [("dbo", "Orders", True, "memory-optimized table", None, None, None)],
        relation_line("dbo.Orders", "memory-optimized table", RelationText.MEMORY_OPTIMIZED),
    ),
    "temporal history table": (
        [("dbo", "Orders", True, "temporal history table", None, "dbo", "Now")],
        relation_line(
            "dbo.Orders",
            "temporal history table",
            RelationText.NAME_BASE,
            base=RelationText.OF_BASE,
            tables="dbo.Now",
            table="dbo.Now",
        ),
    ),
    "external table": (
        [("dbo", "Orders", True, "external table", None, None, None)],
        relation_line("dbo.Orders", "external table", RelationText.EXTERNAL),
    ),
    "queue of Service Broker": (
        [("dbo", "Orders", True, "queue of Service Broker", None, None, None)],
        relation_line("dbo.Orders", "queue of Service Broker", RelationText.NOT_A_TABLE),
    ),
}
ORDERS: Final = layout_from_dict({"name": "orders", "table": "Orders", "design": "fifo", "id": "Id"})


class Server(Driver):
    """A server without tables, on which the requested name is this object."""

    def __init__(self, rows: list[Named]) -> None:
        super().__init__()
        self.rows = rows

    def answer(self, text: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        columns, _ = super().answer(text)
        if self.asked[-1] == "catalog/named":
            assert self.values == ("Orders", "", ""), "in the order of the text: its name, its schema twice"
        rows: dict[str, list[tuple[object, ...]]] = {
            "catalog/registry": [(False, False)],
            "catalog/trust": [],
            "catalog/named": [*self.rows],
        }
        return columns, rows.get(self.asked[-1], [])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_table_is_called_what_it_is(kind: str) -> None:
    rows, words = KINDS[kind]
    server = Server(rows)
    found = resolve_queues(connection(server, (16, 0)), SqlServer(), [ORDERS])
    assert [(problem.queue, problem.reason, problem.gone) for problem in found.problems] == [("orders", words, True)]
    assert server.asked.count("catalog/named") == 1, "asked about once, however often the name is looked up"


def test_where_the_server_does_not_tell_the_table_is_missing_as_ever() -> None:
    server = Server([])
    server.broken["catalog/named"] = said("42000", "The SELECT permission was denied on the object 'objects' (229)")
    (problem,) = resolve_queues(connection(server, (16, 0)), SqlServer(), [ORDERS]).problems
    assert has(problem.reason, ResolveText.NO_TABLE, name="Orders")


@pytest.mark.parametrize("file", [each for each in queries.all_files() if each.name == "catalog/named"], ids=str)
def test_each_kind_that_a_statement_tells_has_its_words(file: queries.SqlFile) -> None:
    plain = {"sequence", "index", "type", "queue of Service Broker", "foreign table"}
    kinds = set(re.findall(r"(?:THEN|ELSE) N?'([^']+)'", queries.read_query(file).text))
    assert len(kinds) >= 5
    assert kinds <= {*ADVICE, *MADE_FROM, *plain}
