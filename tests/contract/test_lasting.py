"""A real driver prepares a list once, whichever of its statements are requested. Values stay unchanged.

The SQL is PostgreSQL's, because pyodbc and drivers treat it in the same way everywhere. For SQL Server's, see
``qmon.engines.sql.batch_text``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from qmon.engines.base import Bound, Rows, Statement, Value
from qmon.engines.odbc import OdbcConnection
from qmon.errors import QueryFailed, StatementStopped
from tests.facts import connected, query, wait_until

ECHO = Statement("test/echo", "? AS asked, CAST(? AS text) AS value, 1 / CAST(? AS int) AS one", ("value", "by"), ())
PREPARED = "SELECT generic_plans + custom_plans AS runs FROM pg_prepared_statements"


def list_of(statements: Sequence[Statement]) -> str:
    (only,) = statements
    return f"SELECT {only.text}"


@pytest.fixture
def connection(database: str) -> Iterator[OdbcConnection]:
    with connected(database) as raw:
        yield OdbcConnection(
            raw,
            lambda fault, name: QueryFailed(f"{name}: {fault.text}", query=name),
            nul_allowed=False,
            most_values=2_000,
            list_of=list_of,
        )


def told(connection: OdbcConnection, value: Value, by: int = 1) -> object:
    (rows,) = connection.fetch_list([Bound(ECHO, {"value": value, "by": by})], [True])
    assert rows is not None
    ((asked, found, one),) = rows.rows
    assert (asked, one) == ("1", 1)
    return found


def runs(connection: OdbcConnection) -> list[int]:
    """Return how many times each prepared statement was run."""
    return [int(str(row[0])) for row in connection.fetch(Bound(Statement("test/runs", PREPARED, (), ()))).rows]


def test_a_list_is_prepared_once_whatever_its_values_are(connection: OdbcConnection) -> None:
    values = ("a", "", None, "ü", "x" * 4000, "x" * 4001, "\U0001f418" * 2000, "\U0001f418" * 2001, "it's ? :b")
    assert [told(connection, value) for value in values] == list(values)
    assert runs(connection) == [len(values)]


def test_one_that_failed_is_prepared_anew(connection: OdbcConnection) -> None:
    assert told(connection, "a") == "a"
    with pytest.raises(QueryFailed, match="division by zero") as failure:
        told(connection, "b", by=0)
    assert failure.type is QueryFailed  # a stored exception holds no statement
    assert [told(connection, value) for value in ("c", "d")] == ["c", "d"]
    assert runs(connection) == [2]


def test_lists_stay_prepared_beside_each_other_up_to_a_number(connection: OdbcConnection) -> None:
    lists = [
        Statement("test/echo", f"{ECHO.text}, CAST({number} AS int) AS list", ("value", "by"), ())
        for number in range(13)
    ]
    for _ in range(2):
        for each in lists[:12]:
            connection.fetch_list([Bound(each, {"value": "a", "by": 1})], [True])
    assert runs(connection) == [2] * 12
    connection.fetch_list([Bound(lists[12], {"value": "a", "by": 1})], [True])
    assert sorted(runs(connection)) == [1] + [2] * 11


def test_nothing_is_sent_where_nothing_is_asked_for(connection: OdbcConnection) -> None:
    before = connection.commits
    assert connection.fetch_list([Bound(ECHO, {"value": "a", "by": 0})], [False]) == [None]
    assert (connection.commits, runs(connection)) == (before, [])


def test_a_list_that_runs_can_be_cancelled_and_asked_for_anew(connection: OdbcConnection, database: str) -> None:
    text = f"{ECHO.text}, CAST(pg_sleep(CAST(? AS float)) AS text) AS slept"
    slow = replace(ECHO, text=text, parameters=("value", "by", "s"))

    def asked(seconds: float) -> list[Rows | None]:
        return connection.fetch_list([Bound(slow, {"value": "a", "by": 1, "s": seconds})], [True])

    def run() -> None:
        with pytest.raises(StatementStopped):
            asked(600.0)
        ended.set()

    assert asked(0.0) != [None]
    ended = threading.Event()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%'"
    running += " AND pid <> pg_backend_pid()"
    wait_until(lambda: query(database, running), what="the list runs")
    connection.cancel()
    thread.join(120)
    assert ended.is_set()
    assert asked(0.0) != [None]
